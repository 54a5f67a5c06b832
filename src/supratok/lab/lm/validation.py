"""The paper's validation model: a small model whose perplexity scores a tokenizer.

    lesson = Lesson(texts, held_out, tokens=2_000_000, width=256)
    lesson.perplexity(peer)

Paper 3.5 and Appendix B: three layers, and nothing more. Choice: a context of 256 tokens, and about
250 steps of the optimiser for any budget.

The paper's score uses the perplexity of a token. BPE-Standard, the reference, discards blanks and
line ends. So its model has less to predict than ours, and the blanks still count as characters of
its tokens: it looks better than it is in both. All trials of a size have the same reference, so
this hardly changes their order; it changes their distance from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from ...formats.peer import Peer
from .bits import bits_per_character
from .coder import Coder
from .model import Shape, new_decoder
from .stream import Stream
from .training import Plan, train_model

LAYERS = 3  # Paper 3.5
_CONTEXT = 256
_STEPS = 250
_RATE = 0.64  # Choice: the learning rate times the width; 0.0025 for 256
_BATCH = 32  # at most
RUNGS = (0.25, 0.5, 1.0)  # shares of the budget at which perplexity is measured

OnRung = Callable[[int, float], None]


@dataclass(frozen=True)
class Lesson:
    """The text that a model learns from and the text it is tested on, for every tokenizer."""

    texts: Sequence[str]
    held_out: Sequence[str]
    tokens: int
    width: int
    device: str = "cpu"
    seed: int = 0

    def perplexity(self, peer: Peer, on_rung: OnRung | None = None) -> float:
        """The perplexity of held-out text after the whole budget. `on_rung` gets the number of each
        rung, from 0, and the perplexity there; it may end the lesson by an exception."""
        coder = Coder(peer)
        plan = self._plan()
        model = new_decoder(Shape(coder.rows, LAYERS, self.width, _CONTEXT), self.seed)
        stream = Stream(coder.encode_all(self.texts), coder.end, self.seed)
        rungs = _Rungs(plan.steps(_CONTEXT) * plan.batch * _CONTEXT)

        def measure() -> float:
            bits = bits_per_character(model, coder, self.held_out, self.device)
            found: float = bits.perplexity
            if on_rung is not None:
                on_rung(rungs.reached, found)
            rungs.reached += 1
            return found

        def watch(tokens: int, _: float) -> None:
            while rungs.reached < len(RUNGS) - 1 and rungs.is_at(tokens):
                measure()

        train_model(model, plan, stream, self.device, watch=watch)
        return measure()

    def _plan(self) -> Plan:
        batch = max(1, min(_BATCH, self.tokens // (_CONTEXT * _STEPS)))
        return Plan(tokens=self.tokens, batch=batch, rate=_RATE / self.width, seed=self.seed)


@dataclass
class _Rungs:
    """The number of rungs that a lesson has passed."""

    tokens: int
    reached: int = 0

    def is_at(self, tokens: int) -> bool:
        return tokens >= RUNGS[self.reached] * self.tokens


def device_of(name: str) -> str:
    """`auto`: cuda where there is a GPU, otherwise cpu."""
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        return str(torch.device(name))
    except RuntimeError as error:
        raise ValueError(f"device={name!r}: say cpu, cuda or auto ({error})") from error


@contextmanager
def with_threads(count: int) -> Iterator[None]:
    """Limit torch to this many threads inside the `with` block."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
