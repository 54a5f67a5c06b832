"""How likely a model finds an ending of a context, also if a token spans the boundary between them.

    for scores in endings(model, coder, [("in New", [" York", " Jersey"])], "cuda"):
        best = max(scores, key=lambda score: score.nats)

A tokenizer that joins words may encode "in New" + " York" as `in| New York`: no token begins where
the ending begins. Encoding context and ending apart would show the model tokens that it never meets
in text. So we encode the joined text and score every token that reaches into the ending: here
` New York`, given `in`.

All endings of a context must be scored from the same place, or one would pay for a part of the
context that another gets for nothing. If " Jersey" gives `in| New| Jersey`, we score ` New` too, so
that both scores are of the text after `in`. The place is where the encodings differ first, at the
latest the end of the context. So a score is

    log P(tokens of the joined text) - log P(the first tokens, which all endings share and which
    lie wholly in the context)

Where no token spans the boundary, this is the usual rule: the ending given the context. Where one
does, all endings pay for the same few characters before the boundary too. That does not change
which is likeliest; divided by the length of the ending, it counts a little less for long ones.
The model reads every text after the token that ends documents, as in training.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..measure.bootstrap import Floats
from .coder import Coder, Ids
from .loss import token_losses
from .model import Decoder
from .precision import hidden_states

_AT_ONCE = {True: 1 << 17, False: 1 << 13}  # tokens of a batch, on a GPU or not
_WAVER = 3  # characters that a decoder may write for the bytes of an unfinished character

Question = tuple[str, Sequence[str]]  # a context and its endings


@dataclass(frozen=True)
class Score:
    """The score of an ending. `nats` is the logarithm of a probability: 0 at most."""

    nats: float
    tokens: int  # scored tokens
    characters: int  # of the ending, without leading spaces; to divide the scores of long endings
    bytes: int  # the same in bytes
    inside: bool  # whether a token spans the end of the context
    cut: int  # tokens at the start of the context that do not fit into the model's context


@dataclass(frozen=True)
class Cut:
    """An ending, encoded with its context."""

    ids: Ids  # of the joined text
    start: int  # the first scored token
    inside: bool


def continuations(
    model: Decoder, coder: Coder, pairs: Sequence[tuple[str, str]], device: torch.device | str
) -> list[Score]:
    """Scores of pairs of a context and its one continuation, spaces included."""
    found = endings(model, coder, [(context, [ending]) for context, ending in pairs], device)
    return [scores[0] for scores in found]


def endings(
    model: Decoder, coder: Coder, questions: Sequence[Question], device: torch.device | str
) -> list[list[Score]]:
    """Scores of several endings of each context, comparable with each other."""
    cuts = cut_questions(coder, questions)
    flat = [cut for some in cuts for cut in some]
    nats = iter(_nats(model, coder.end, flat, torch.device(device)))
    room = model.shape.context
    return [
        [
            _score(ending.lstrip(), cut, next(nats), room)
            for ending, cut in zip(given, some, strict=True)
        ]
        for (_, given), some in zip(questions, cuts, strict=True)
    ]


def _score(ending: str, cut: Cut, nats: float, room: int) -> Score:
    tokens, too_long = len(cut.ids) - cut.start, max(0, len(cut.ids) - room)
    return Score(nats, tokens, len(ending), len(ending.encode()), cut.inside, too_long)


def boundary_share(coder: Coder, pairs: Sequence[tuple[str, str]]) -> float:
    """The share of pairs of a context and an ending with a token that spans the boundary."""
    cuts = cut_questions(coder, [(context, [ending]) for context, ending in pairs])
    return sum(some[0].inside for some in cuts) / max(1, len(pairs))


# --- Where endings begin


def cut_questions(coder: Coder, questions: Sequence[Question]) -> list[list[Cut]]:
    """Encode every joined text, and find the first token to score."""
    contexts = coder.encode_all(context for context, _ in questions)
    joined = iter(
        coder.encode_all(context + ending for context, given in questions for ending in given)
    )
    return [
        _cut(coder, ids, [next(joined) for _ in given])
        for ids, (_, given) in zip(contexts, questions, strict=True)
    ]


def _cut(coder: Coder, context: Ids, joined: list[Ids]) -> list[Cut]:
    """The endings of one context, all scored from the same token."""
    places = [_tokens_before(coder, context, ids) for ids in joined]
    start = min(place for place, _ in places)
    start = min([start, *(_alike(joined[0], ids) for ids in joined[1:])])
    return [Cut(ids, start, inside) for ids, (_, inside) in zip(joined, places, strict=True)]


def _tokens_before(coder: Coder, context: Ids, joined: Ids) -> tuple[int, bool]:
    """How many tokens of the joined text lie wholly in the context, and whether the next token
    begins in it too."""
    alike = _alike(context, joined)
    if alike == len(context):
        return alike, False
    length = len(coder.peer.decode(context[alike:].tolist()))
    reach = [0]  # characters up to the end of each token after the common ones
    while reach[-1] <= length + _WAVER and alike + len(reach) <= len(joined):
        reach.append(len(coder.peer.decode(joined[alike : alike + len(reach)].tolist())))
    last = max(place for place, end in enumerate(reach) if end <= length)
    return alike + last, reach[last] < length


def _alike(one: Ids, other: Ids) -> int:
    """The length of their common beginning."""
    shorter = min(len(one), len(other))
    different = np.flatnonzero(one[:shorter] != other[:shorter])
    return int(different[0]) if len(different) else shorter


# --- On the device


@dataclass(frozen=True)
class _Reading:
    """Ids that the model reads once: endings that differ only in their last token share them."""

    ids: Ids
    asked: list[tuple[int, Ids]]  # the number of an ending, and its tokens to score


def _nats(model: Decoder, end: int, cuts: Sequence[Cut], device: torch.device) -> list[float]:
    found = np.zeros(len(cuts))
    for batch in _batches(
        _readings(cuts, end, model.shape.context), _AT_ONCE[device.type == "cuda"]
    ):
        owners = [np.full(len(ids), owner) for row in batch for owner, ids in row.asked]
        np.add.at(found, np.concatenate(owners), -_losses(model, batch, end, device))
    return [float(nats) for nats in found]


def _readings(cuts: Sequence[Cut], end: int, context: int) -> list[_Reading]:
    """Longest first."""
    found: dict[bytes, _Reading] = {}
    for owner, cut in enumerate(cuts):
        wanted = cut.ids[cut.start :]
        if len(wanted) > context:
            raise ValueError(
                f"an ending of {len(wanted)} tokens: the model has {context} positions; shorten"
                " the ending, or train a model with a longer context"
            )
        ids = np.append(np.int32(end), cut.ids)[-context - 1 : -1]
        found.setdefault(ids.tobytes(), _Reading(ids, [])).asked.append((owner, wanted))
    asked = [row for row in found.values() if any(len(ids) for _, ids in row.asked)]
    return sorted(asked, key=lambda row: -len(row.ids))


def _batches(readings: list[_Reading], tokens: int) -> Iterator[list[_Reading]]:
    start = 0
    while start < len(readings):
        size = max(1, tokens // len(readings[start].ids))
        yield readings[start : start + size]
        start += size


@torch.no_grad()
def _losses(model: Decoder, batch: list[_Reading], end: int, device: torch.device) -> Floats:
    """The nats of every token to score."""
    length = len(batch[0].ids)
    ids = np.full((len(batch), length), end, dtype=np.int64)
    places, targets = [], []
    for number, row in enumerate(batch):
        ids[number, : len(row.ids)] = row.ids
        for _, wanted in row.asked:
            last = number * length + len(row.ids)
            places.append(np.arange(last - len(wanted), last))
            targets.append(wanted.astype(np.int64))
    hidden = hidden_states(model, torch.from_numpy(ids).to(device)).flatten(0, 1)
    chosen = hidden[torch.from_numpy(np.concatenate(places)).to(device)].float()
    wanted_ids: Tensor = torch.from_numpy(np.concatenate(targets)).to(device)
    losses: Floats = token_losses(chosen, model.table, wanted_ids).double().cpu().numpy()
    return losses
