"""How few tokens a text could have at best: a bound for every vocabulary of so many strings.

    spans = find_spans(Text.within(documents, Boundaries()), least=20)
    found = lower_bound(spans, tokens=1_000)
    found.tokens                             # no vocabulary of 1,000 such strings takes fewer

The proof. Give each character of the text a weight of at most 1. A string is *over* where the
weights of an occurrence add up to more than 1, and its *subsidy* is the sum of these overweights
over all its occurrences. Cut the text into tokens in any way, by any vocabulary. A token of one
character weighs at most 1, and every other weighs at most 1 and its overweight. So

    weight of the text  <=  number of tokens  +  subsidies of the strings in the vocabulary

and if the vocabulary has K strings, their subsidies are at most the K largest. Therefore

    number of tokens  >=  weight of the text  -  the K largest subsidies

for *any* weights. (This is the dual of the linear relaxation, in which a vocabulary may have halves
of strings; so the best weights give exactly its optimum.) The search for good weights uses floating
point; the bound itself is computed with integers, and holds however the search went.

Strings that are left out (`find_spans`) cannot help. With weights of at most 1, a string that has n
characters and occurs c times has a subsidy of c * (n - 1) or less. The K largest subsidies are at
most K * m + the sum of what each has beyond m, for any m; so with m >= `least` those left out add
nothing, but for long strings that occur once. Those are counted apart (`_once`), or, in a short
text, like all others (`times=1`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .spans import LONGEST, Integers, Spans

ONE = 1 << 20  # a weight of 1, in the integers of the bound
ROUNDS = 1000

Weights = NDArray[np.float64]
_Number = TypeVar("_Number", np.int64, np.float64)


@dataclass(frozen=True)
class Bound:
    """A bound, and the weights (in units of 1 / ONE) that prove it."""

    tokens: int  # no vocabulary takes fewer
    margin: float  # what the last string is worth: the fall of the bound for one string more
    weights: Integers


def lower_bound(spans: Spans, tokens: int, rounds: int = ROUNDS) -> Bound:
    """The bound for vocabularies of so many `tokens` beside the single characters."""
    weights = _search(spans, tokens, rounds)
    return evaluated(spans, tokens, np.round(weights * ONE).astype(np.int64))


def evaluated(spans: Spans, tokens: int, weights: Integers) -> Bound:
    """The bound that these weights prove, in whole numbers throughout."""
    weights = np.where(spans.text.copies > 0, np.clip(weights, -ONE, ONE), 0)
    before = np.concatenate([[0], np.cumsum(weights)])
    subsidies = np.zeros(spans.number, np.int64)
    for block in spans.blocks():
        over = np.maximum(_weighs(spans, block, before) - ONE, 0)
        np.add.at(subsidies, spans.string[block], over * spans.text.copies[spans.starts[block]])
    margin = max(spans.least * ONE, _largest(subsidies, tokens))
    found = int((weights * spans.text.copies).sum()) - tokens * margin
    found -= int(np.maximum(subsidies - margin, 0).sum()) + _once(spans, before, margin)
    return Bound(max(0, math.ceil(found / ONE)), margin / ONE, weights)


def _weighs(spans: Spans, block: slice, before: NDArray[_Number]) -> NDArray[_Number]:
    """The weight of occurrences; `before` has that of the text before each place."""
    starts = spans.starts[block]
    return np.asarray(before[starts + spans.lengths[block]] - before[starts])


def _largest(values: Integers, place: int) -> int:
    """The value that so many reach. If there are fewer, 0; if none is asked for, what none exceeds,
    be it a string that occurs once."""
    if place == 0:
        return max(LONGEST * ONE, int(values.max(initial=0)))
    if place > len(values):
        return 0
    return int(np.partition(values, len(values) - place)[len(values) - place])


def _once(spans: Spans, before: Integers, margin: int) -> int:
    """What strings that occur once have beyond the margin. Such a string has more than margin + 1
    characters; all of that length are counted, so the sum is rather too large, never too small."""
    text, found = spans.text, 0
    single = np.flatnonzero(text.copies == 1) if spans.times > 1 else np.zeros(0, np.int64)
    for length in range(margin // ONE + 2, LONGEST + 1):
        single = single[text.reach[single] >= single + length]
        over = before[single + length] - before[single] - ONE - margin
        found += int(np.maximum(over, 0).sum())
    return found


# --- The search


@dataclass
class _Steps:
    """Adam: steps of a size that each coordinate's own gradients decide."""

    mean: NDArray[np.float32]
    square: NDArray[np.float32]
    number: int = 0

    def step(self, gradient: Weights, rate: float) -> NDArray[np.float32]:
        self.number += 1
        self.mean += np.float32(0.1) * (gradient - self.mean)
        self.square += np.float32(0.01) * (gradient * gradient - self.square)
        found = np.sqrt(self.square / np.float32(1 - 0.99**self.number))
        found += np.float32(1e-3)
        np.divide(self.mean, found, out=found)
        return np.asarray(found * np.float32(rate / (1 - 0.9**self.number)))


def _search(spans: Spans, tokens: int, rounds: int) -> Weights:
    """Weights for a good bound, by ascent. The bound has corners, so a smooth one takes its place,
    with less and less smoothing. Choice: the schedule that did best on 250 kB of English."""
    used = spans.text.copies > 0
    weights = np.where(used, 0.3, 0.0)
    steps = _Steps(*np.zeros((2, len(weights)), np.float32))
    spans = near = _with_longest(spans)
    for round in range(rounds):
        share = round / rounds
        inner, outer = _between(0.3, 0.003, share), _between(0.6, 0.003, share)
        if round >= rounds * _LOOK_AWAY and round % _LOOK_AGAIN == 0:
            near = _near(spans, tokens, weights)
        gradient = _gradient(near, tokens, weights, inner, outer)
        gradient[~used] = 0.0
        weights += steps.step(gradient, _between(0.2, 0.001, share))
        np.clip(weights, -1.0, 1.0, out=weights)
    return weights


def _with_longest(spans: Spans) -> Spans:
    """Also the longest string at each place, as if it occurred nowhere else: where it is not worth
    its place in the vocabulary, no string that occurs once is."""
    text, here = spans.text, np.arange(len(spans.text.reach))
    long = (text.copies == 1) & (text.reach - here > spans.least + 1)
    places = np.flatnonzero(long) if spans.times > 1 else here[:0]
    if not len(places):
        return spans
    number = spans.number + len(places)
    starts = np.concatenate([spans.starts, places.astype(np.int32)])
    lengths = np.concatenate([spans.lengths, (text.reach[places] - places).astype(np.uint8)])
    string = np.concatenate([spans.string, np.arange(spans.number, number, dtype=np.int32)])
    order = np.argsort(starts, kind="stable")
    return replace(
        spans, number=number, starts=starts[order], lengths=lengths[order], string=string[order]
    )


# Choice: from this share of the rounds on, strings that are far from the vocabulary are left out of
# the search for so many rounds.
_LOOK_AWAY, _LOOK_AGAIN, _FAR = 0.1, 20, 0.6


def _near(spans: Spans, tokens: int, weights: Weights) -> Spans:
    """The strings whose subsidy is not far below that of the last one in the vocabulary."""
    subsidies, _ = _subsidies(spans, weights, 1e-9)
    last = _largest((subsidies * ONE).astype(np.int64), tokens) / ONE
    return spans.kept(subsidies > _FAR * max(float(spans.least), last))


def _between(first: float, last: float, share: float) -> float:
    return float(first * (last / first) ** share)


def _gradient(spans: Spans, tokens: int, weights: Weights, inner: float, outer: float) -> Weights:
    """By how much the bound grows with each weight: 1, less the share in which tokens of the
    vocabulary cover the character. `inner` smooths what is over, `outer` which strings are in."""
    subsidies, slope = _subsidies(spans, weights, inner)
    shares = _shares(subsidies, tokens, spans.least, outer)
    size = len(weights) + 1
    edges = np.zeros(size)
    for block in spans.blocks():
        starts, flow = spans.starts[block], shares[spans.string[block]] * slope[block]
        # The block is a stretch of the text: no need to touch the rest of it.
        first, last = int(starts[0]), int(starts[-1]) + 1
        edges[first:last] += np.bincount(starts - first, flow)
        ends = starts + spans.lengths[block] - first
        edges[first : first + int(ends.max()) + 1] -= np.bincount(ends, flow)
    return np.asarray(1.0 - np.cumsum(edges)[:-1])


def _subsidies(spans: Spans, weights: Weights, inner: float) -> tuple[Weights, NDArray[np.float32]]:
    """The smoothed subsidy of each string, and how steeply that of each occurrence rises."""
    before = np.concatenate([[0.0], np.cumsum(weights)])
    subsidies, slopes = np.zeros(spans.number), np.empty(len(spans.starts), np.float32)
    for block in spans.blocks():
        over = _weighs(spans, block, before)
        over -= 1.0
        np.maximum(over, 0.0, out=over)
        slope = np.minimum(over * (1 / inner), 1.0)
        slopes[block] = slope
        over -= slope * (inner / 2)
        over *= slope
        over *= spans.text.copies[spans.starts[block]]
        subsidies += np.bincount(spans.string[block], over, spans.number)
    return subsidies, slopes


def _shares(subsidies: Weights, tokens: int, least: int, outer: float) -> Weights:
    """How far each string is in the vocabulary, 0 to 1, by its subsidy; `tokens` in all."""

    def shares(values: Weights, margin: float) -> Weights:
        return np.clip((values - margin) / (outer * margin + 1e-9) + 0.5, 0.0, 1.0)

    near = subsidies[subsidies > (1 - outer / 2) * least]  # others have no share
    low, high = float(least), max(float(least), float(subsidies.max(initial=0.0)))
    for _ in range(25):
        middle = (low + high) / 2
        low, high = (middle, high) if shares(near, middle).sum() > tokens else (low, middle)
    return shares(subsidies, high)
