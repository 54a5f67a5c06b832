"""Train one model on a stream until it has read its budget of tokens.

    plan = Plan(tokens=50_000_000, seed=0)
    model = train_model(new_decoder(Shape(coder.rows), plan.seed), plan, stream, "cuda").model

As in nanoGPT: AdamW, a warm-up and a cosine, clipped gradients, weight decay on matrices. On a GPU:
bfloat16, compiled blocks, fused attention. With a folder, a stopped run resumes from its last
checkpoint and ends with the same model.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ...common.progress import Progress
from .loss import mean_loss
from .model import Decoder
from .parts import Sharing
from .precision import autocast_on, compute_type
from .stream import Stream, prefetched

CHECKPOINT = "checkpoint.pt"
REVISION = 1  # raise it when a change to models, training or measures changes figures
_BETAS = (0.9, 0.95)  # nanoGPT
_CLIP = 1.0
_CURVE_POINTS = 100


@dataclass(frozen=True)
class Plan:
    """How to train. Figures of tokenizers compare only under the same plan."""

    tokens: int  # the budget: training stops there
    batch: int = 32  # windows in a step
    at_once: int | None = None  # windows on the device at a time; None: the whole batch
    rate: float = 1e-3
    # Share of the steps. Choice: long, since budgets are short: with 5% a model of 16 M tokens took
    # 10% more bits, because attention formed late (docs/log.md).
    warm_up: float = 0.3
    last_rate: float = 0.1  # at the end of the cosine, as a share of `rate`
    decay: float = 0.1
    seed: int = 0
    # Multiply in bfloat16 on a processor too, as a GPU always does: 2.4 times as fast where the
    # processor knows the type. Figures are measured in float32 there all the same.
    bfloat16: bool = False

    def __post_init__(self) -> None:
        if min(self.tokens, self.batch, self.at_once or 1) < 1 or self.rate <= 0:
            raise ValueError(f"{self}: tokens, batch, at_once and rate must be above 0")
        if self.batch % (self.at_once or self.batch):
            raise ValueError(f"at_once={self.at_once}: must divide batch={self.batch}")

    def steps(self, context: int) -> int:
        return max(1, self.tokens // (self.batch * context))

    def rate_at(self, step: int, steps: int) -> float:
        """A straight line up, then half a cosine down."""
        warm = max(1, round(self.warm_up * steps))
        if step < warm:
            return self.rate * (step + 1) / warm
        done = (step - warm) / max(1, steps - warm)
        share = self.last_rate + (1 - self.last_rate) * (1 + math.cos(math.pi * done)) / 2
        return self.rate * share


@dataclass
class TrainedModel:
    """A model, and the figures of its training. A point of the curve: the tokens read, and the mean
    nats of a token since the point before."""

    model: Decoder
    curve: list[tuple[int, float]]
    tokens: int
    seconds: float  # steps only


def train_model(
    model: Decoder,
    plan: Plan,
    stream: Stream,
    device: torch.device | str = "cpu",
    *,
    sharing: Sharing | None = None,
    folder: Path | None = None,
    every: float = 300.0,
    progress: Progress | None = None,
    watch: Callable[[int, float], None] | None = None,
) -> TrainedModel:
    """`folder`: where to write a checkpoint, `every` so many seconds. `watch` gets the tokens and
    the loss at each point of the curve, and may stop the run by an exception."""
    run = _Run(model.to(device), plan, torch.device(device), sharing)
    if folder is not None:
        run.resume(folder / CHECKPOINT)
    context, steps = model.shape.context, plan.steps(model.shape.context)
    batches = prefetched(stream.batches(plan.batch, context + 1, skip=run.step))
    watching = progress or Progress()
    watching.start("model", unit="tokens")
    saved = began = time.monotonic()
    while run.step < steps:
        run.learn(torch.from_numpy(next(batches)), steps)
        if run.step * _CURVE_POINTS // steps > (run.step - 1) * _CURVE_POINTS // steps:
            tokens, loss = run.add_curve_point()
            watching.at(tokens, steps * plan.batch * context)
            if watch is not None:
                watch(tokens, loss)
        if folder is not None and time.monotonic() - saved > every:
            run.save(folder / CHECKPOINT)
            saved = time.monotonic()
    if run.device.type == "cuda":
        torch.cuda.synchronize()
    seconds = run.seconds + time.monotonic() - began
    if folder is not None:
        run.seconds = seconds
        run.save(folder / CHECKPOINT)
    watching.end()
    run.fold()
    return TrainedModel(model, run.curve, run.step * plan.batch * context, seconds)


@dataclass
class _Run:
    """The state of a run: everything that a checkpoint holds."""

    model: Decoder
    plan: Plan
    device: torch.device
    sharing: Sharing | None
    step: int = 0
    seconds: float = 0.0
    curve: list[tuple[int, float]] = field(default_factory=list)
    _sum: Tensor | None = None  # the losses since the last point of the curve, added up
    _count: int = 0

    def __post_init__(self) -> None:
        weights, shared = list(self.model.parameters()), list(self._sharing_parameters())
        groups = [
            {"params": [one for one in weights if one.dim() > 1], "weight_decay": self.plan.decay},
            {"params": [*(one for one in weights if one.dim() < 2), *shared], "weight_decay": 0.0},
        ]
        on_card = self.device.type == "cuda"
        self._optimiser = torch.optim.AdamW(
            groups, lr=self.plan.rate, betas=_BETAS, fused=True if on_card else None
        )
        if on_card:  # block by block: one compiled program serves all blocks and vocabularies
            torch.set_float32_matmul_precision("high")
            for block in self.model.blocks:
                block.compile()

    def _sharing_parameters(self) -> Iterator[nn.Parameter]:
        """Parameters that `fold` merges into the model at the end."""
        return self.sharing.parameters() if self.sharing is not None else iter(())

    def learn(self, batch: Tensor, steps: int) -> None:
        """One step of the optimiser."""
        for group in self._optimiser.param_groups:
            group["lr"] = self.plan.rate_at(self.step, steps)
        parts = batch.split(self.plan.at_once or len(batch))
        for part in parts:
            loss = self._loss(part.to(self.device, non_blocking=True), steps) / len(parts)
            loss.backward()
            self._sum = loss.detach() + (0.0 if self._sum is None else self._sum)
        nn.utils.clip_grad_norm_([*self.model.parameters(), *self._sharing_parameters()], _CLIP)
        self._optimiser.step()
        self._optimiser.zero_grad(set_to_none=True)
        self.step += 1
        self._count += 1

    def _loss(self, ids: Tensor, steps: int) -> Tensor:
        table: Tensor = self.model.table
        if self.sharing is not None:
            table = self.sharing.full(table, own=self.step >= self.sharing.late * steps)
        narrow = self.plan.bfloat16
        with autocast_on(self.device, narrow):
            hidden = self.model(ids[:, :-1], table)
        return mean_loss(hidden.to(compute_type(self.device, narrow)), table, ids[:, 1:])

    def add_curve_point(self) -> tuple[int, float]:
        """Close the mean of the losses since the last point."""
        tokens = self.step * self.plan.batch * self.model.shape.context
        point = (tokens, float(self._sum if self._sum is not None else 0.0) / max(1, self._count))
        self.curve.append(point)
        self._sum, self._count = None, 0
        return point

    def fold(self) -> None:
        """Write the shared embeddings into the table: the model is a plain one."""
        if self.sharing is not None:
            with torch.no_grad():
                self.model.table.copy_(self.sharing.full(self.model.table))

    # --- Checkpoints

    def _asked(self) -> dict[str, Any]:
        sharing = None if self.sharing is None else list(self.sharing.state_dict())
        if self.sharing is not None and self.sharing.late:
            sharing = [*self.sharing.state_dict(), f"late {self.sharing.late}"]
        return {
            "plan": asdict(self.plan), "shape": asdict(self.model.shape), "sharing": sharing,
        }  # fmt: skip

    def save(self, path: Path) -> None:
        """Write to another file first, so that a checkpoint is never half written."""
        path.parent.mkdir(parents=True, exist_ok=True)
        state = {
            "asked": self._asked(), "step": self.step, "seconds": self.seconds,
            "curve": self.curve, "sum": self._sum, "count": self._count,
            "model": self.model.state_dict(), "optimiser": self._optimiser.state_dict(),
            "sharing": self.sharing.state_dict() if self.sharing is not None else None,
        }  # fmt: skip
        torch.save(state, path.with_suffix(".part"))
        path.with_suffix(".part").replace(path)

    def resume(self, path: Path) -> None:
        """Load the checkpoint, if there is one."""
        if not path.exists():
            return
        state = torch.load(path, map_location=self.device, weights_only=True)
        if state["asked"] != self._asked():
            raise ValueError(
                f"{path}: a run of another plan, shape or training aid ({state['asked']}); remove"
                " it, or choose another folder"
            )
        self.model.load_state_dict(state["model"])
        if self.sharing is not None:
            self.sharing.load_state_dict(state["sharing"])
        self._optimiser.load_state_dict(state["optimiser"])
        self.step, self.seconds, self.curve = state["step"], state["seconds"], state["curve"]
        self._sum, self._count = state["sum"], state["count"]
