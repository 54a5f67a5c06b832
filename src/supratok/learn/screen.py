"""What the screen asks of a phrase once all are known: to be used in many documents, and to end at
boundaries.

The boundary entropy of a phrase is the lesser of two entropies, in bits: of what stands before it,
and of what stands after it. A phrase that nearly always goes on in the same way ends at no
boundary:

    " in order"      " to" 980 times, " that" 20 times      0.1 bits
    " New York"      " City", ",", ".", " Times", ...       7 bits

Neighbours are tokens: " to" and " to the" are two. A phrase that is used n times has log2(n) bits
at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..recipe import Recipe
from .count import SKETCH_BITS

Counts = NDArray[np.int64]
Pairs = tuple[NDArray[np.uint32], NDArray[np.uint32], Counts]  # left, right, how often

# Choice: a neighbour that is one of 2**(bits asked for + 6) is not counted for itself. There are
# far more pairs than phrases; this keeps most of them out of memory where there is much text.
_FINE = 6


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
        """Whether anything is asked for."""
        return self.documents > 1 or self.bits > 0

    def judge(
        self,
        entries: list[str],
        first: int,
        encoder: _core.Encoder,
        read: Callable[[str], Iterable[str]],
        threads: int,
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Of each entry from `first` on: whether it is used in enough documents, and whether it
        ends at boundaries. `read` begins a reading of the text, for a phase of this name; the
        second is for boundaries alone."""
        survey = _core.Survey(encoder, SKETCH_BITS if self.bits > 0 else 0)
        survey.count(read("documents"), threads)
        spread = survey.documents()[first:] >= self.documents
        if not self.bits > 0:
            return spread, np.ones(len(spread), dtype=np.bool_)
        uses = survey.uses()
        floor = floor_for(uses[first:], self.bits)
        neighbours = _core.Neighbours(survey, floor)
        neighbours.count(read("neighbours"), threads)
        edges = np.array([breaks_line(text) for text in entries], dtype=np.bool_)
        bits = boundary_entropy(neighbours.rows(), uses, edges, floor)
        return spread, bits[first:] >= self.bits


def documents_wanted(recipe: Recipe, documents: int) -> int:
    """In how many documents a phrase must be used. Choice: never more than a hundredth of them, so
    that a corpus of few documents has phrases too."""
    least = recipe.screen.min_documents if recipe.screen else 1
    return min(least, max(1, documents // 100))


def floor_for(uses: Counts, bits: float) -> int:
    """Pairs seen less often need not be counted: to a phrase of middling use such a neighbour is
    one of very many. 2, which leaves nothing to guess, where phrases are rare."""
    if not len(uses):
        return 2
    return max(2, 1 + int(np.median(uses) / 2.0 ** min(bits + _FINE, 64)))


def breaks_line(text: str) -> bool:
    """Whether a token is an edge of a line; no token mixes those with text."""
    return "\n" in text or "\r" in text


def boundary_entropy(
    pairs: Pairs, uses: Counts, edges: NDArray[np.bool_], floor: int
) -> NDArray[np.float64]:
    """Of each entry: the entropy of what stands before it or after it, the lesser, in bits.

    `pairs` are the neighbours seen `floor` times or more. What else stands beside an entry is
    shared out as if each such neighbour had been seen `floor - 1` times, the most it can have been:
    the result is never too high, and exact for a floor of 2.

    Choice: a line or a document that ends is the clearest of boundaries, so each such edge counts
    as a neighbour of its own, seen once (`edges` are the entries that break a line). So does a
    byte. An entry that is not used has 0 bits."""
    lefts, rights, counts = pairs
    before = _entropy(rights, np.where(edges[lefts], 0, counts), uses, floor)
    after = _entropy(lefts, np.where(edges[rights], 0, counts), uses, floor)
    return np.minimum(before, after)


def _entropy(
    entries: NDArray[np.uint32], counts: Counts, uses: Counts, floor: int
) -> NDArray[np.float64]:
    """log2(n) less the mean of log2(count) over the n uses. Rounded, so that what is equal on paper
    is equal here."""
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
