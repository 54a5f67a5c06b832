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

import numpy as np
from numpy.typing import NDArray

from .spans import LONGEST, Integers, Spans

ONE = 1 << 20  # a weight of 1, in the integers of the bound
ROUNDS = 1000

Weights = NDArray[np.float64]


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
    over = np.maximum(before[spans.ends] - before[spans.starts] - ONE, 0)
    subsidies = np.zeros(spans.number, np.int64)
    np.add.at(subsidies, spans.string, over * spans.copies)
    margin = max(spans.least * ONE, _largest(subsidies, tokens))
    found = int((weights * spans.text.copies).sum()) - tokens * margin
    found -= int(np.maximum(subsidies - margin, 0).sum()) + _once(spans, before, margin)
    return Bound(max(0, math.ceil(found / ONE)), margin / ONE, weights)


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

    mean: Weights
    square: Weights
    number: int = 0

    def step(self, gradient: Weights, rate: float) -> Weights:
        self.number += 1
        self.mean += 0.1 * (gradient - self.mean)
        self.square += 0.01 * (gradient * gradient - self.square)
        mean = self.mean / (1 - 0.9**self.number)
        square = self.square / (1 - 0.99**self.number)
        return np.asarray(rate * mean / (np.sqrt(square) + 1e-3))


def _search(spans: Spans, tokens: int, rounds: int) -> Weights:
    """Weights for a good bound, by ascent. The bound has corners, so a smooth one takes its place,
    with less and less smoothing. Choice: the schedule that did best on 200 kB of English."""
    used = spans.text.copies > 0
    weights = np.where(used, 0.3, 0.0)
    steps = _Steps(np.zeros(len(weights)), np.zeros(len(weights)))
    spans = near = _with_longest(spans)
    for round in range(rounds):
        share = round / rounds
        inner, outer = _between(0.3, 0.003, share), _between(0.6, 0.003, share)
        if round >= rounds * _LOOK_AWAY and round % _LOOK_AGAIN == 0:
            near = _near(spans, tokens, weights)
        gradient = _gradient(near, tokens, weights, inner, outer)
        weights += steps.step(np.where(used, gradient, 0.0), _between(0.06, 0.0005, share))
        np.clip(weights, -1.0, 1.0, out=weights)
    return weights


def _with_longest(spans: Spans) -> Spans:
    """Also the longest string at each place, as if it occurred nowhere else: where it is not worth
    its place in the vocabulary, no string that occurs once is."""
    text, here = spans.text, np.arange(len(spans.text.reach))
    long = (text.copies == 1) & (text.reach - here > spans.least + 1)
    places = np.flatnonzero(long) if spans.times > 1 else here[:0]
    return replace(
        spans,
        starts=np.concatenate([spans.starts, places]),
        ends=np.concatenate([spans.ends, text.reach[places]]),
        string=np.concatenate([spans.string, spans.number + np.arange(len(places))]),
        copies=np.concatenate([spans.copies, np.ones(len(places), np.int64)]),
    )


# Choice: from this share of the rounds on, strings that are far from the vocabulary are left out of
# the search for so many rounds.
_LOOK_AWAY, _LOOK_AGAIN, _FAR = 0.1, 20, 0.6


def _near(spans: Spans, tokens: int, weights: Weights) -> Spans:
    """The strings whose subsidy is not far below that of the last one in the vocabulary."""
    before = np.concatenate([[0.0], np.cumsum(weights)])
    over = np.maximum(before[spans.ends] - before[spans.starts] - 1.0, 0.0)
    subsidies = np.bincount(spans.string, over * spans.copies, spans.number)
    last = _largest((subsidies * ONE).astype(np.int64), tokens) / ONE
    close = subsidies > _FAR * max(float(spans.least), last)
    number = np.cumsum(close) - 1
    kept = np.flatnonzero(close[spans.string])
    return replace(
        spans, starts=spans.starts[kept], ends=spans.ends[kept],
        string=number[spans.string[kept]], copies=spans.copies[kept],
    )  # fmt: skip


def _between(first: float, last: float, share: float) -> float:
    return float(first * (last / first) ** share)


def _gradient(spans: Spans, tokens: int, weights: Weights, inner: float, outer: float) -> Weights:
    """By how much the bound grows with each weight: 1, less the share in which tokens of the
    vocabulary cover the character. `inner` smooths what is over, `outer` which strings are in."""
    before = np.concatenate([[0.0], np.cumsum(weights)])
    over = before[spans.ends] - before[spans.starts] - 1.0
    on = np.flatnonzero(over > 0)
    over, string, copies = over[on], spans.string[on], spans.copies[on]
    slope = np.minimum(over / inner, 1.0)
    smooth = slope * (over - slope * inner / 2) * copies
    subsidies = np.bincount(string, smooth, spans.number).astype(np.float64)
    flow = _shares(subsidies, tokens, spans.least, outer)[string] * slope
    on, flow = on[flow > 0], flow[flow > 0]
    size = len(weights) + 1
    edges = np.bincount(spans.starts[on], flow, size) - np.bincount(spans.ends[on], flow, size)
    return np.asarray(1.0 - np.cumsum(edges)[:-1])


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
