"""Where words give way to phrases, and how rare the last phrase will be.

The worth of each merge inside words is known before the multiword pass starts. The crossover is
where a further merge inside words would save no more than the last phrase that takes its place:

    traditional  90 60 40 20 10     5 places: keep 3 words (90 60 40) and 2 phrases (70 30);
    multiword    70 30 15           a fourth word would save 20, less than the last phrase's 30
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..recipe import Recipe
from .traditional import Words


def wanted_crossover(recipe: Recipe, words: Words) -> int | None:
    """The number of traditional merges to keep, if the recipe sets their share."""
    if recipe.crossover is None:
        return None
    return min(int(recipe.crossover * recipe.learnt_size), len(words.texts), words.room)


def expected_crossover(
    table: _core.WordTable, counts: NDArray[np.int64], room: int, recipe: Recipe
) -> int:
    """About where words will give way to phrases, if half of the pairs of words become phrases (as
    measured; see `guess_floor`)."""
    count = count_that_fills(room, table, 2, recipe.min_count, counts * recipe.phrase_price)
    return int((counts * recipe.phrase_price >= count).sum())


def guess_floor(
    table: _core.WordTable, words: Words, wanted: int | None, least: int, recipe: Recipe
) -> int:
    """A count that the last phrase will surely have: the highest for which the tokens seen that
    often fill the room.

    Choice: of the pairs of words seen so often, about half become phrases (measured 0.51 at 100k
    and 0.52 at 200k); a third is assumed. A screen leaves fewer: half as many for each bit."""
    among = 3 * 2 ** max(0.0, recipe.screen.min_pmi if recipe.screen else 0.0)
    if wanted is not None:
        return count_that_fills(words.room - wanted, table, among, least)
    return count_that_fills(words.room, table, among, least, words.counts * recipe.phrase_price)


def count_that_fills(
    room: int,
    table: _core.WordTable,
    among: float,
    least: int,
    worths: NDArray[np.floating[Any]] | None = None,
) -> int:
    """The highest count at which one in `among` pairs of words, and the merges inside words whose
    worth reaches it, fill the room; or `least`."""

    def fills(count: int) -> bool:
        kept = 0 if worths is None else int((worths >= count).sum())
        return kept + table.pairs.at_least(count) // among >= room

    low, high = least, 2 * least
    while high < 1 << 31 and fills(high):  # few steps, for each reads all bounds
        low, high = high, min(2 * high, 1 << 31)
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if fills(middle) else (low, middle)
    return low


def find_parity(
    traditional: NDArray[np.floating[Any]],
    multiword: NDArray[np.int64],
    room: int,
    floor: int,
) -> int | None:
    """How many traditional merges to keep: one more would save no more than the last phrase.

        traditional  90 60 40 20 10     keep 3: phrases take the other 2 places;
        multiword    70 30 15           the next traditional merge saves 20, the last phrase 30

    `multiword` lists phrases with a count of at least `floor`; None if that is too few to decide.
    """
    most = min(room, len(traditional))  # of words; the room may be far larger than the corpus fills
    places = room - np.arange(most + 1) - 1
    next_word = np.append(traditional, 0)[: most + 1]
    last_phrase = np.full(most + 1, floor - 1, dtype=np.int64)  # where it is unknown: at most
    last_phrase[places < 0] = np.iinfo(np.int64).max  # no phrases
    inside = (places >= 0) & (places < len(multiword))
    last_phrase[inside] = multiword[places[inside]]
    crossover = int(np.argmax(next_word <= last_phrase))
    if crossover < room and places[crossover] >= len(multiword) and floor > 1:
        return None
    return crossover
