"""Bits per character: how well a model predicts a text, comparable between tokenizers.

    found = bits_per_character(model, coder, texts, "cuda")
    found.per_character, found.perplexity
    token_nats(model, coder, texts, "cuda")     # for each text, the nats of every token

Perplexity counts by token, and tokens differ: a token of more text is harder to predict. Bits per
character divide the same nats by the length of the text.

A text longer than the context is read in windows that overlap by half. So each scored token has at
least half a context before it, except at the start of the text.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from .coder import Coder, Ids
from .loss import token_losses
from .model import Decoder
from .precision import compute_type, hidden_states

_AT_ONCE = 16  # windows


@dataclass(frozen=True)
class Bits:
    """Nats, tokens and characters of each text."""

    nats: tuple[float, ...]
    tokens: tuple[int, ...]
    characters: tuple[int, ...]

    @property
    def per_character(self) -> float:
        return sum(self.nats) / math.log(2) / max(1, sum(self.characters))

    @property
    def perplexity(self) -> float:
        """By token."""
        return math.exp(sum(self.nats) / max(1, sum(self.tokens)))

    @property
    def tokens_per_text(self) -> float:
        return sum(self.tokens) / max(1, len(self.tokens))


def bits_per_character(
    model: Decoder, coder: Coder, texts: Sequence[str], device: torch.device | str
) -> Bits:
    """Each text is read by itself, after the token that ends documents."""
    found = token_nats(model, coder, texts, device)
    nats = tuple(float(one.sum()) for one in found)
    return Bits(nats, tuple(map(len, found)), tuple(map(len, texts)))


def token_nats(
    model: Decoder, coder: Coder, texts: Sequence[str], device: torch.device | str
) -> list[NDArray[np.float64]]:
    """The nats of each token of each text."""
    losses = functools.partial(_losses, model)
    return nats_of(losses, coder.encode_all(texts), coder.end, model.shape.context, device)


def nats_of(
    losses: Callable[[torch.Tensor], torch.Tensor],
    coded: Sequence[Ids],
    end: int,
    context: int,
    device: torch.device | str,
) -> list[NDArray[np.float64]]:
    """The same by any model: `losses` takes texts of ids, and gives the nats of every id but the
    first."""
    nats = [np.zeros(len(ids)) for ids in coded]
    for batch in _batches(coded, end, context):
        length = max(len(window.ids) for window in batch)
        ids = np.zeros((len(batch), length), dtype=np.int64)
        for row, window in enumerate(batch):
            ids[row, : len(window.ids)] = window.ids
        with torch.no_grad():
            found = losses(torch.from_numpy(ids).to(device)).cpu().double().numpy()
        for row, (text, start, tokens, known) in enumerate(batch):
            last = len(tokens) - 1
            nats[text][start + known : start + last] = found[row, known:last]
    return nats


def _losses(model: Decoder, ids: torch.Tensor) -> torch.Tensor:
    """The nats of every token but the first."""
    hidden = hidden_states(model, ids[:, :-1])
    return token_losses(hidden.to(compute_type(ids.device)), model.table, ids[:, 1:])


class Window(NamedTuple):
    """A stretch of a text and the token before it. An earlier window scores the first `known`."""

    text: int
    start: int
    ids: Ids
    known: int


def _windows(coded: Sequence[Ids], end: int, context: int) -> Iterator[Window]:
    half = max(1, context // 2)
    for text, ids in enumerate(coded):
        tokens = np.concatenate([np.array([end], dtype=np.int32), ids])
        done = 0
        for start in range(0, max(1, len(tokens) - 1), half):
            window = tokens[start : start + context + 1]
            if start + len(window) - 1 > done:
                yield Window(text, start, window, done - start if start else 0)
                done = start + len(window) - 1


def _batches(coded: Sequence[Ids], end: int, context: int) -> Iterator[list[Window]]:
    """Windows of similar length together."""
    windows = sorted(_windows(coded, end, context), key=lambda window: -len(window.ids))
    for start in range(0, len(windows), _AT_ONCE):
        yield windows[start : start + _AT_ONCE]
