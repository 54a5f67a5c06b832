"""Train and measure models of `transformers`, for extend_model.py: any causal model, tied or not.

    model = new_model(coder, (4, 256, 256), untied=False, seed=0)
    teach(model, Plan(tokens=5_000_000), Stream(documents, coder.end), 256, "cpu")
    bits(model, coder, texts, 256, "cpu").per_character

bfloat16 multiplies on a GPU, and on processors that have such instructions; weights and losses are
in float32.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.nn import functional

from supratok.lab.lm.bits import Bits, nats_of
from supratok.lab.lm.coder import Coder
from supratok.lab.lm.stream import Stream, prefetched
from supratok.lab.lm.training import Plan

_BETAS = (0.9, 0.95)  # as in lab.lm.training
_CLIP = 1.0


def new_model(coder: Coder, shape: Sequence[int], untied: bool, seed: int) -> Any:
    """An untrained GPT-2 of these layers, width and context. Untied: the output has a table of its
    own."""
    import transformers

    layers, width, context = shape
    torch.manual_seed(seed)
    config = transformers.GPT2Config(
        vocab_size=coder.rows, n_layer=layers, n_embd=width, n_head=max(1, width // 64),
        n_positions=context, tie_word_embeddings=not untied, bos_token_id=coder.end,
        eos_token_id=coder.end, attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0,
    )  # fmt: skip
    return transformers.GPT2LMHeadModel(config)


# --- Training


def teach(
    model: Any,
    plan: Plan,
    stream: Stream,
    context: int,
    device: str,
    rungs: Mapping[int, Callable[[], object]] | None = None,
) -> None:
    """Train for the plan's tokens. `rungs`: what to call after so many steps."""
    model.to(device).train()
    optimiser = _optimiser(model, plan)
    batches = prefetched(stream.batches(plan.batch, context + 1))
    steps = plan.steps(context)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = plan.rate_at(step, steps)
        ids = torch.from_numpy(next(batches))
        for part in ids.split(plan.at_once or len(ids)):
            nats = losses(model, part.to(device)).mean()
            (nats * len(part) / len(ids)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), _CLIP)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        if rungs and step + 1 in rungs:
            rungs[step + 1]()
            model.train()


def _optimiser(model: Any, plan: Plan) -> Any:
    weights = list(model.parameters())  # a tied table is one of them
    groups = [
        {"params": [one for one in weights if one.dim() > 1], "weight_decay": plan.decay},
        {"params": [one for one in weights if one.dim() < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=plan.rate, betas=_BETAS, fused=True)


def losses(model: Any, ids: Any) -> Any:
    """The nats of every token but the first."""
    with torch.autocast(ids.device.type, torch.bfloat16, enabled=_is_fast(ids.device.type)):
        logits = model(input_ids=ids[:, :-1], use_cache=False).logits
    found = functional.cross_entropy(
        logits.float().flatten(0, 1), ids[:, 1:].flatten(), reduction="none"
    )
    return found.view(len(ids), -1)


@functools.cache
def _is_fast(kind: str) -> bool:
    """Whether bfloat16 is multiplied by instructions of its own."""
    return kind == "cuda" or bool(torch.cpu._is_avx512_bf16_supported())


# --- Measuring


def bits(model: Any, coder: Coder, texts: Sequence[str], context: int, device: str) -> Bits:
    """Bits per character of texts, each read by itself (see lab.lm.bits)."""
    model.to(device).eval()
    one = functools.partial(losses, model)
    found = nats_of(one, coder.encode_all(texts), coder.end, context, device)
    nats = tuple(float(one.sum()) for one in found)
    return Bits(nats, tuple(map(len, found)), tuple(map(len, texts)))
