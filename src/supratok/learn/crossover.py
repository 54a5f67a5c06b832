"""Where words give way to phrases, and how rare the last phrase will be.

The worth of each merge inside words is known before the multiword pass starts. The crossover is
where a further merge inside words would save no more than the last phrase that takes its place:

    traditional  90 60 40 20 10     5 places: keep 3 words (90 60 40) and 2 phrases (70 30);
    multiword    70 30 15           a fourth word would save 20, less than the last phrase's 30

There, at parity, phrases save the most. A recipe may ask for a share of that, `saving`: the rarest
phrases then leave their places to words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..recipe import Recipe
from .traditional import Words

_MOST = 1 << 31  # no count of a pair is compared with more


def wanted_crossover(recipe: Recipe, words: Words) -> int | None:
    """The number of traditional merges to keep, if the recipe sets their share."""
    if recipe.crossover is None:
        return None
    return min(int(recipe.crossover * recipe.learnt_size), len(words.texts), words.room)


def worths_of(counts: NDArray[np.int64], recipe: Recipe) -> NDArray[np.floating[Any]]:
    """What merges inside words are worth beside phrases: the tokens they save, times the price of a
    phrase. A share of the saving is a share of that at price 1."""
    return counts * (recipe.fixed_price or 1.0)


def expected_crossover(
    table: _core.WordTable, counts: NDArray[np.int64], room: int, recipe: Recipe
) -> int:
    """About where words will give way to phrases, if half of the pairs of words become phrases (as
    measured; see `guess_floor`)."""
    worths = worths_of(counts, recipe)
    count = count_that_fills(room, table, 2, recipe.min_count, worths)
    parity = int((worths >= count).sum())
    if recipe.fixed_price is not None:
        return parity
    kept = keep_saving(counts, _expected_phrases(table, count), room, parity, recipe.saving)
    # Choice: a quarter later than expected. So the saving decides, not this guess; words that are
    # complete too late for it are rare.
    return min(len(counts), kept + (room - kept) // 4)


def _expected_phrases(table: _core.WordTable, least: int) -> NDArray[np.int64]:
    """About the counts of the phrases seen `least` times, in falling order. `least` is doubled step
    by step, and phrases of one step have 1.4 times its lower count."""
    steps, numbers = [least], [table.pairs.at_least(least) // 2]
    while numbers[-1]:
        steps.append(2 * steps[-1])
        numbers.append(table.pairs.at_least(steps[-1]) // 2 if steps[-1] <= _MOST else 0)
    each = np.array(steps[:-1], dtype=np.int64) * 7 // 5
    return np.repeat(each, -np.diff(numbers))[::-1]


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
    return count_that_fills(words.room, table, among, least, worths_of(words.counts, recipe))


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
    while high < _MOST and fills(high):  # few steps, for each reads all bounds
        low, high = high, min(2 * high, _MOST)
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


def keep_saving(
    traditional: NDArray[np.int64],
    multiword: NDArray[np.int64],
    room: int,
    parity: int,
    share: float,
) -> int:
    """How many traditional merges to keep, if phrases are to save this share of the tokens that
    they save at parity: of those that take a place there, the rarest leave it to words.

        traditional  90 60 40 20 10     at parity, 2 phrases (100) instead of 2 words (30) save 70;
        multiword    70 30              1 phrase (70) instead of 1 word (10) saves 60, or 86%
    """
    kept = np.arange(parity, max(parity, min(room, len(traditional))) + 1)
    words, phrases = _sums(traditional), _sums(multiword)
    saved = phrases[np.minimum(room - kept, len(multiword))] + words[kept] - words[kept[-1]]
    return int(kept[np.flatnonzero(saved >= share * saved[0])[-1]])


def _sums(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)])
