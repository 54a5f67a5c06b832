"""How likely a model finds the end of a text, also where a token spans the place it begins at.

    for scores in endings(model, coder, [("in New", [" York", " Jersey"])], "cuda"):
        best = max(scores, key=lambda score: score.nats)

A tokenizer that joins words may read "in New" + " York" as `in| New York`: no token begins where
the ending begins. To encode context and ending apart would show the model tokens that it never
meets in text. So the joined text is encoded, and every token is scored that reaches into the
ending: here ` New York`, given `in`.

Several endings of one context must be scored from the same place, or one would pay for a part of
the context that another has for nothing. If " Jersey" is read as `in| New| Jersey`, then ` New` is
scored as well, and both stand for the same text behind `in`. The place is where the encodings part,
at the latest the end of the context. So a score is

    log P(tokens of the joined text) - log P(the first tokens: those that all endings have in
    common, and that lie in the context as a whole)

Where no token spans the end of the context, this is the usual rule: the ending given the context.
Where one does, all endings also pay for the same few characters before it. That does not change
which is likeliest; divided by the length of the ending, it weighs a little less on long ones.
Every text is read behind the token that ends documents, as in training.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..measure.bootstrap import Floats
from .bits import narrow
from .coder import Coder, Ids
from .loss import token_losses
from .model import Decoder

_AT_ONCE = {True: 1 << 17, False: 1 << 13}  # tokens of a batch, on a GPU or not
_WAVER = 3  # characters that some decoders make of bytes until these are a whole character

Question = tuple[str, Sequence[str]]  # a context and its endings


@dataclass(frozen=True)
class Score:
    """What was found of an ending. `nats` is the logarithm of a probability: 0 at most."""

    nats: float
    tokens: int  # that were scored
    characters: int  # of the ending without spaces before it, to divide long endings' scores by
    bytes: int  # likewise
    inside: bool  # whether a token spans the end of the context
    cut: int  # tokens at the beginning of the context that the model has no room for


@dataclass(frozen=True)
class Cut:
    """An ending that is ready to be scored."""

    ids: Ids  # of the joined text
    start: int  # the first that is scored
    inside: bool


def continuations(
    model: Decoder, coder: Coder, pairs: Sequence[tuple[str, str]], device: torch.device | str
) -> list[Score]:
    """Of one ending each: pairs of a context and its continuation, spaces included."""
    found = endings(model, coder, [(context, [ending]) for context, ending in pairs], device)
    return [scores[0] for scores in found]


def endings(
    model: Decoder, coder: Coder, questions: Sequence[Question], device: torch.device | str
) -> list[list[Score]]:
    """Of several endings of each context, which may then be compared."""
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
    """The share of pairs of a context and an ending in which a token spans the place between."""
    cuts = cut_questions(coder, [(context, [ending]) for context, ending in pairs])
    return sum(some[0].inside for some in cuts) / max(1, len(pairs))


# --- Where endings begin


def cut_questions(coder: Coder, questions: Sequence[Question]) -> list[list[Cut]]:
    """Every joined text as tokens, and the first of them that counts."""
    contexts = coder.encode_all(context for context, _ in questions)
    joined = iter(
        coder.encode_all(context + ending for context, given in questions for ending in given)
    )
    return [
        _cut(coder, ids, [next(joined) for _ in given])
        for ids, (_, given) in zip(contexts, questions, strict=True)
    ]


def _cut(coder: Coder, context: Ids, joined: list[Ids]) -> list[Cut]:
    """The endings of one context, all from the same token on."""
    places = [_tokens_before(coder, context, ids) for ids in joined]
    start = min(place for place, _ in places)
    start = min([start, *(_alike(joined[0], ids) for ids in joined[1:])])
    return [Cut(ids, start, inside) for ids, (_, inside) in zip(joined, places, strict=True)]


def _tokens_before(coder: Coder, context: Ids, joined: Ids) -> tuple[int, bool]:
    """How many tokens of the joined text lie in the context as a whole, and whether the next one
    begins there too."""
    alike = _alike(context, joined)
    if alike == len(context):
        return alike, False
    length = len(coder.peer.decode(context[alike:].tolist()))
    reach = [0]  # of each token behind those in common
    while reach[-1] <= length + _WAVER and alike + len(reach) <= len(joined):
        reach.append(len(coder.peer.decode(joined[alike : alike + len(reach)].tolist())))
    last = max(place for place, end in enumerate(reach) if end <= length)
    return alike + last, reach[last] < length


def _alike(one: Ids, other: Ids) -> int:
    """How many tokens they have in common at the beginning."""
    shorter = min(len(one), len(other))
    different = np.flatnonzero(one[:shorter] != other[:shorter])
    return int(different[0]) if len(different) else shorter


# --- On the device


@dataclass(frozen=True)
class _Reading:
    """What a model reads once: endings that differ in their last token only share it."""

    ids: Ids
    asked: list[tuple[int, Ids]]  # an ending, and its last tokens


def _nats(model: Decoder, end: int, cuts: Sequence[Cut], device: torch.device) -> list[float]:
    found = np.zeros(len(cuts))
    for batch in _batches(
        _readings(cuts, end, model.shape.context), _AT_ONCE[device.type == "cuda"]
    ):
        owners = [np.full(len(ids), owner) for row in batch for owner, ids in row.asked]
        np.add.at(found, np.concatenate(owners), -_losses(model, batch, end, device))
    return [float(nats) for nats in found]


def _readings(cuts: Sequence[Cut], end: int, context: int) -> list[_Reading]:
    """The longest first."""
    found: dict[bytes, _Reading] = {}
    for owner, cut in enumerate(cuts):
        wanted = cut.ids[cut.start :]
        if len(wanted) > context:
            raise ValueError(
                f"an ending of {len(wanted)} tokens: the model has {context} positions; shorten"
                " it, or train a model with a longer context"
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
    """Nats of every token asked for. Lengths differ from batch to batch, so nothing is compiled,
    even if the model was."""
    length = len(batch[0].ids)
    ids = np.full((len(batch), length), end, dtype=np.int64)
    places, targets = [], []
    for number, row in enumerate(batch):
        ids[number, : len(row.ids)] = row.ids
        for _, wanted in row.asked:
            last = number * length + len(row.ids)
            places.append(np.arange(last - len(wanted), last))
            targets.append(wanted.astype(np.int64))
    with narrow(device), torch.compiler.set_stance("force_eager"):
        hidden = model(torch.from_numpy(ids).to(device)).flatten(0, 1)
    chosen = hidden[torch.from_numpy(np.concatenate(places)).to(device)].float()
    wanted_ids: Tensor = torch.from_numpy(np.concatenate(targets)).to(device)
    losses: Floats = token_losses(chosen, model.table, wanted_ids).double().cpu().numpy()
    return losses
