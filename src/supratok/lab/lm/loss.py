"""Cross-entropy of the next tokens, without holding all logits.

    loss = mean_loss(hidden, table, targets)     # to train with
    nats = token_losses(hidden, table, targets)  # one figure a token, to measure with

With a vocabulary of 256,000 the logits of 32 texts of 1,024 tokens take 34 GB in float32, and their
gradient as much again. These functions take a few thousand positions at a time, compute logits,
losses and gradients together, and keep only the losses and gradients.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

_ROOM = 1 << 29  # logits at a time: 1 GB in bfloat16
_NEAR = 1 << 20  # on a processor: what stays in its cache takes half the time


def mean_loss(hidden: Tensor, table: Tensor, targets: Tensor) -> Tensor:
    """The mean nats of a token; differentiable by `hidden` and `table`."""
    flat = hidden.reshape(-1, hidden.shape[-1])
    loss: Tensor = _Loss.apply(flat, table, targets.reshape(-1))
    return loss


@torch.no_grad()
def token_losses(hidden: Tensor, table: Tensor, targets: Tensor) -> Tensor:
    """The nats of every target, in the shape of `targets`."""
    flat, wanted = hidden.reshape(-1, hidden.shape[-1]), targets.reshape(-1)
    table = table.to(flat.dtype)
    found = [
        torch.nn.functional.cross_entropy((part @ table.T).float(), some, reduction="none")
        for part, some in _parts(flat, wanted, len(table))
    ]
    return torch.cat(found).view(targets.shape)


def _parts(flat: Tensor, targets: Tensor, rows: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Halves of halves: equal sizes, so that one compiled program serves all."""
    size, room = len(flat), _ROOM if flat.is_cuda else min(_ROOM, _NEAR)
    while size > 1 and size * rows > room:
        size = -(-size // 2)
    return zip(flat.split(max(1, size)), targets.split(max(1, size)), strict=True)


def _surprise(logits: Tensor, targets: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """The sum of the losses, and the gradient by the logits: the prediction less the target."""
    wide = logits.float()
    total = wide.logsumexp(dim=1, keepdim=True)
    right = wide.gather(1, targets[:, None])
    places = torch.arange(logits.shape[1], device=logits.device)
    gradient = (wide - total).exp() - (places[None] == targets[:, None]).float()
    return (total - right).sum(), (gradient * scale).to(logits.dtype)


@functools.cache
def _compiled() -> Any:
    """Compiled at the first use on a GPU, because that takes seconds."""
    return torch.compile(_surprise, dynamic=False)


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, table: Tensor, targets: Tensor) -> Tensor:
        narrow = table.to(hidden.dtype)
        surprise = _compiled() if hidden.is_cuda else _surprise
        by_hidden, by_table = torch.empty_like(hidden), torch.zeros_like(table, dtype=torch.float32)
        loss = torch.zeros((), device=hidden.device)
        done, scale = 0, 1.0 / max(1, len(hidden))
        for part, some in _parts(hidden, targets, len(table)):
            nats, gradient = surprise(part @ narrow.T, some, scale)
            loss += nats
            by_hidden[done : done + len(part)] = gradient @ narrow
            by_table += (gradient.T @ part).float()
            done += len(part)
        ctx.save_for_backward(by_hidden, by_table)
        return loss * scale

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        by_hidden, by_table = ctx.saved_tensors
        return by_hidden * gradients[0], by_table * gradients[0], None
