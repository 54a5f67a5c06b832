"""The screen: the conditions for a phrase to become a token.

Two neighbours join if their PMI is high enough. Once all phrases are known, each must be used in
enough documents, and must end at boundaries.

The boundary entropy of a phrase is the lesser of two entropies, in bits: of its neighbours before
it, and of those after it. A phrase that nearly always continues in the same way ends at no
boundary:

    " in order"      " to" 980 times, " that" 20 times      0.1 bits
    " New York"      " City", ",", ".", " Times", ...       7 bits

Neighbours are tokens: " to" and " to the" are two. A phrase with n uses has at most log2(n) bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..readings import Neighbours, Reading, Usage
from ..recipe import Recipe, Screen
from .words import Kind

Counts = NDArray[np.int64]
Pairs = tuple[NDArray[np.uint32], NDArray[np.uint32], Counts]  # left, right, how often
Read = Callable[[Reading[Any]], Any]  # counts a reading

# Choice: a neighbour that is one of 2**(wanted bits + 6) is not counted for itself. There are far
# more pairs than phrases; this keeps most of them out of memory if there is much text.
_FINE = 6


def pair_bits(
    words: _core.WordTable, counts: Counts, screen: Screen | None
) -> tuple[list[float], float]:
    """Eq. 2 for a pair of neighbours, PMI >= threshold, in bits, as a sum that the core can check:

    log2(count) + sum of -log2(p(word))  >=  threshold + log2(N)

    Returns -log2(p(word)) for words with these counts, and the right side."""
    if screen is None:
        return [], 0.0
    totals = words.totals()
    total = max(1, int(totals[[Kind.LETTER, Kind.PUNCTUATION, Kind.NUMBER]].sum()))
    bits = np.log2(total / np.maximum(counts, 1))
    return bits.tolist(), float(screen.min_pmi + np.log2(total))


@dataclass(frozen=True)
class Wanted:
    """In how many documents a phrase must be used, and how many bits its boundaries must have."""

    documents: int
    bits: float

    @classmethod
    def of(cls, recipe: Recipe, documents: int) -> Wanted:
        bits = recipe.screen.min_boundary_entropy if recipe.screen else 0.0
        return cls(documents_wanted(recipe, documents), bits)

    def __bool__(self) -> bool:
        """Whether there is any condition."""
        return self.documents > 1 or self.bits > 0

    def judge(
        self, entries: list[str], first: int, fewest: bool, read: Read
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Of each entry from `first` on: whether it is used in enough documents, and whether it
        ends at boundaries. Only boundaries need a second reading."""
        usage = Usage(entries, fewest, pairs=self.bits > 0, phase="documents")
        survey = read(usage)
        spread = survey.documents()[first:] >= self.documents
        if not self.bits > 0:
            return spread, np.ones(len(spread), dtype=np.bool_)
        uses = survey.uses()
        floor = floor_for(uses[first:], self.bits)
        pairs = read(Neighbours(usage, survey, floor)).rows()
        edges = np.array([breaks_line(text) for text in entries], dtype=np.bool_)
        bits = boundary_entropy(pairs, uses, edges, floor)
        return spread, bits[first:] >= self.bits


def documents_wanted(recipe: Recipe, documents: int) -> int:
    """In how many documents a phrase must be used. Choice: at most a hundredth of them, so that a
    corpus of few documents has phrases too."""
    least = recipe.screen.min_documents if recipe.screen else 1
    return min(least, max(1, documents // 100))


def floor_for(uses: Counts, bits: float) -> int:
    """The least count of a pair that matters: to a phrase of median use a rarer neighbour is one of
    very many. 2, which is exact, if phrases are rare."""
    if not len(uses):
        return 2
    return max(2, 1 + int(np.median(uses) / 2.0 ** min(bits + _FINE, 64)))


def breaks_line(text: str) -> bool:
    """Whether a token ends a line; no token mixes newlines with text."""
    return "\n" in text or "\r" in text


def boundary_entropy(
    pairs: Pairs, uses: Counts, edges: NDArray[np.bool_], floor: int
) -> NDArray[np.float64]:
    """Of each entry: the entropy of its neighbours before it or after it, the lesser, in bits.

    `pairs` are the neighbours seen `floor` times or more. The rest of an entry's uses is divided as
    if each other neighbour had been seen `floor - 1` times, the most possible: the result is never
    too high, and exact for a floor of 2.

    Choice: the end of a line or a document is the clearest boundary, so each such edge counts as a
    neighbour of its own, seen once (`edges` marks the entries that end a line). So does a byte. An
    entry that is not used has 0 bits."""
    lefts, rights, counts = pairs
    before = _entropy(rights, np.where(edges[lefts], 0, counts), uses, floor)
    after = _entropy(lefts, np.where(edges[rights], 0, counts), uses, floor)
    return np.minimum(before, after)


def _entropy(
    entries: NDArray[np.uint32], counts: Counts, uses: Counts, floor: int
) -> NDArray[np.float64]:
    """log2(n) less the mean of log2(count) over the n uses. Rounded, so that equal entropies are
    equal numbers."""
    lot = max(1, floor - 1)
    seen = np.bincount(entries, counts, len(uses)).astype(np.int64)
    lots, last = np.divmod(uses - seen, lot)
    known = np.bincount(entries, _weighed(counts), len(uses))
    total = known + lots * _weighed(np.array([lot])) + _weighed(last)
    used = np.maximum(uses, 1)
    return np.maximum(np.round(np.log2(used) - total / used, 9), 0.0)


def _weighed(counts: Counts) -> NDArray[np.float64]:
    exact = counts.astype(np.float64)
    return exact * np.log2(np.maximum(exact, 1.0))
