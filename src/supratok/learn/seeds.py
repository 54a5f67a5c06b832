"""Seeds, paper 3.3: phrases that hold together, by pointwise mutual information.

    PMI(w1 ... wn)  = log2( p(w1 ... wn) / (p(w1) · ... · p(wn)) )         Eq. 2, in bits
    NPMI(w1 ... wn) = PMI / -log2 p(w1 ... wn), at most n - 1              Appendix A

with p(w1 ... wn) = count / N. " New York" in 80 of 1,000 words, where " New" occurs 100 times and
" York" 80 times: PMI = log2(0.08 / (0.1 · 0.08)) = 3.32 bits, NPMI = 3.32 / 3.64 = 0.91.

Choice: N is the number of words in the text, for every n. Appendix A divides by N_n, the n-grams of
length n; a text has as many as words, less n - 1 for each stretch, and windows with a rare pair are
never counted.

Choice: a word is a unit of letters or of digits, as `core/text.hpp` cuts them. Punctuation is free
inside a phrase: it is no word of the n and no factor of the product, so " well, and" must occur
more often than chance alone would put " and" after " well". A phrase begins and ends with a word,
the first with its space; in a script without spaces, also without.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..readings import UNSPACED
from ..recipe import Recipe, Seeds
from .words import Kind, kind_of, script_of


class Phrase(NamedTuple):
    text: str
    words: int
    count: int  # type: ignore[assignment]  # hides the method of tuples
    pmi: float  # in bits
    npmi: float

    @property
    def gain(self) -> int:
        """The tokens saved if each of its words is one token: " New York" saves one a use."""
        return self.count * (self.words - 1)


def mine_runs(
    table: _core.RunTable,
    known: list[str],
    counts: NDArray[np.int64],
    total: int,
    seeds: Seeds,
) -> tuple[list[Phrase], dict[str, Any]]:
    """The seeds, most frequent first (then the shorter, then by code points), and a report.

    `table` has the runs of the words `known`, which occur `counts` times in a text of `total`
    words; it keeps its runs. Its floor must be at most `seeds.min_count`, or counts are too low.
    Finds only phrases of known words, up to 2 * max_words - 1 units long.
    """
    if len(known) != len(counts):
        raise ValueError(f"{len(known)} known words, but {len(counts)} counts; pass one for each")
    spoken, opens = _kinds(known)
    grams = _count(table, counts, spoken, total, seeds)
    good, rejected = _screen(grams, spoken, opens, seeds)
    chosen = _without_overlap(grams, good, known, seeds.overlap)
    rejected["overlap"] = int(good.sum() - chosen.sum())
    phrases = [
        Phrase(grams.text(gram, known), words, count, pmi, npmi)
        for gram, words, count, pmi, npmi in zip(
            *(column.tolist() for column in grams.rows(chosen)), strict=True
        )
    ]
    phrases.sort(key=lambda phrase: (-phrase.count, len(phrase.text), phrase.text))
    report = {
        "candidates": _by_words(grams.words[good]),
        "rejected": rejected,
        "chosen": _by_words(grams.words[chosen]),
    }
    return phrases, report


def total_words(words: _core.WordTable) -> int:
    """The number of words of letters or digits in the text: N."""
    totals = words.totals()
    return int(totals[Kind.LETTER] + totals[Kind.NUMBER])


def seeds_with_chains(
    table: _core.RunTable, known: list[str], words: _core.WordTable, recipe: Recipe
) -> tuple[list[str], dict[str, Any]]:
    """The seeds of the recipe and the shorter phrases that lead to them, and a report under
    "seeds". Without a screen every pair may join, and seeds change nothing."""
    if recipe.seeds is None or recipe.screen is None:
        return [], {}
    seeds = recipe.seeds.up_to(recipe.boundaries.max_words)
    phrases, report = mine_runs(table, known, words.counts_of(known), total_words(words), seeds)
    return with_chains([phrase.text for phrase in phrases], recipe), {"seeds": report}


def with_chains(seeds: list[str], recipe: Recipe) -> list[str]:
    """The seeds and their beginnings of two words or more: " in spite of" needs " in spite"."""
    chains: set[str] = set()
    for text in seeds:
        words = _core.split_words(text, recipe.scripts is not None)
        chains.update("".join(words[:end]) for end in range(2, len(words) + 1))
    return sorted(chains)


def _kinds(known: list[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Of each unit, whether it is a word, and whether a phrase may begin with it."""
    spoken = [kind_of(text) in (Kind.LETTER, Kind.NUMBER) for text in known]
    opens = [
        is_word and (text[0] == " " or script_of(text) in UNSPACED)
        for text, is_word in zip(known, spoken, strict=True)
    ]
    return np.array(spoken, dtype=np.bool_), np.array(opens, dtype=np.bool_)


# --- Counting ----------------------------------------------------------------------------------


@dataclass
class _Grams:
    """The known units and, after them, the n-grams of units, in columns. An n-gram consists of two
    (n-1)-grams, its first n - 1 units and its last: " a b c" is (" a b", " b c")."""

    levels: list[slice]  # the rows of n = 2, 3, ...
    lefts: NDArray[np.intp]
    rights: NDArray[np.intp]
    counts: NDArray[np.int64]
    first: NDArray[np.intp]  # its first unit
    last: NDArray[np.intp]
    words: NDArray[np.int64]
    pmi: NDArray[np.float64]
    npmi: NDArray[np.float64]
    too_rare: int  # n-grams that were counted, but not often enough

    def rows(self, chosen: NDArray[np.bool_]) -> tuple[NDArray[Any], ...]:
        columns = (np.arange(len(chosen)), self.words, self.counts, self.pmi, self.npmi)
        return tuple(column[chosen] for column in columns)

    def text(self, gram: int, known: list[str]) -> str:
        units = []
        while gram >= len(known):
            units.append(known[self.last[gram]])
            gram = int(self.lefts[gram])
        return known[gram] + "".join(reversed(units))


def _count(
    table: _core.RunTable,
    counts: NDArray[np.int64],
    spoken: NDArray[np.bool_],
    total: int,
    seeds: Seeds,
) -> _Grams:
    """All n-grams that are frequent enough, with their PMI; words come first, as 1-grams."""
    total = max(1, total)  # a text may have no words at all
    lefts, rights, found, tried, frequent = table.ngrams(2 * seeds.max_words - 1, seeds.min_count)
    known = np.arange(len(counts))
    ends = len(known) + np.cumsum(frequent)
    levels = [slice(a, b) for a, b in zip((ends - frequent).tolist(), ends.tolist(), strict=True)]
    left, right = (np.concatenate([known, part.astype(np.intp)]) for part in (lefts, rights))
    every = np.concatenate([counts, found])
    first, last = np.arange(len(every)), np.arange(len(every))
    words = np.zeros(len(every), dtype=np.int64)
    chance = np.zeros(len(every))  # log2 of the product
    words[known] = spoken
    chance[known] = np.where(spoken, np.log2(np.maximum(counts, 1) / total), 0.0)
    for rows in levels:
        first[rows], last[rows] = first[left[rows]], last[right[rows]]
        words[rows] = words[left[rows]] + words[last[rows]]
        chance[rows] = chance[left[rows]] + chance[last[rows]]
    seen = np.log2(np.maximum(every, 1) / total)
    pmi = seen - chance
    npmi = np.divide(pmi, -seen, out=np.ones_like(pmi), where=seen < 0)
    too_rare = int(tried.sum() - frequent.sum())
    return _Grams(levels, left, right, every, first, last, words, pmi, npmi, too_rare)


def _screen(
    grams: _Grams, spoken: NDArray[np.bool_], opens: NDArray[np.bool_], seeds: Seeds
) -> tuple[NDArray[np.bool_], dict[str, int]]:
    """The n-grams that pass every threshold, and how many fail which; the first to fail counts."""
    tests = {
        "surface": opens[grams.first] & spoken[grams.last],
        "words": (grams.words >= seeds.min_words) & (grams.words <= seeds.max_words),
        "pmi": grams.pmi >= seeds.min_pmi,
        "npmi": grams.npmi >= seeds.min_npmi,
    }
    good = np.arange(len(grams.counts)) >= len(spoken)
    rejected = {"count": grams.too_rare}
    for reason, passed in tests.items():
        rejected[reason] = int((good & ~passed).sum())
        good &= passed
    return good, rejected


def _by_words(words: NDArray[np.int64]) -> dict[str, int]:
    return {str(n): int(count) for n, count in enumerate(np.bincount(words)) if count}


# --- Overlap control ---------------------------------------------------------------------------


def _without_overlap(
    grams: _Grams, good: NDArray[np.bool_], known: list[str], overlap: float
) -> NDArray[np.bool_]:
    """Of phrases that overlap, one. "Almost always" is a share of `overlap`. From the longest to
    the shortest, drop a phrase if

    (a) it occurs almost always inside one longer phrase that is chosen, or was dropped by (b):
        " as well" 100 times, " as well as" 95 times: only " as well as" is chosen;
    (b) its end is the beginning of a chosen phrase, or the other way round, and that part occurs
        almost always in both: they are windows of one longer text. Of " b c d" and " c d e", both
        95 times, and " c d" 100 times, one is chosen.

    Among phrases of one length (b) goes by falling count, then the shorter text, then code points.
    """
    chosen = good.copy()
    around = np.zeros(len(good), dtype=np.int64)  # the count of the most frequent one it is in
    shifted = _Shifted(grams, known, overlap)
    for rows in reversed(grams.levels):
        chosen[rows] &= around[rows] < overlap * grams.counts[rows]
        around[rows] = np.maximum(around[rows], np.where(chosen[rows], grams.counts[rows], 0))
        for parts in (grams.lefts[rows], grams.rights[rows]):
            np.maximum.at(around, parts, around[rows])
        shifted.leave_out(chosen, rows)
    return chosen


class _Shifted:
    """Rule (b): remembers how the chosen phrases begin and end."""

    def __init__(self, grams: _Grams, known: list[str], overlap: float) -> None:
        self._grams, self._known, self._overlap = grams, known, overlap
        self._beginnings: set[int] = set()
        self._endings: set[int] = set()

    def leave_out(self, chosen: NDArray[np.bool_], rows: slice) -> None:
        counts, lefts, rights = self._grams.counts, self._grams.lefts, self._grams.rights
        part = np.minimum(counts[lefts[rows]], counts[rights[rows]])
        fixed = chosen[rows] & (counts[rows] >= self._overlap * part)
        places = (rows.start + np.flatnonzero(fixed)).tolist()
        for gram in sorted(places, key=self._order):
            beginnings, endings = self._parts(gram, lefts), self._parts(gram, rights)
            if self._endings.isdisjoint(beginnings) and self._beginnings.isdisjoint(endings):
                self._beginnings.update(beginnings)
                self._endings.update(endings)
            else:
                chosen[gram] = False

    def _order(self, gram: int) -> tuple[int, int, str]:
        text = self._grams.text(gram, self._known)
        return -int(self._grams.counts[gram]), len(text), text

    def _parts(self, gram: int, shorter: NDArray[np.intp]) -> list[int]:
        """The beginnings (or the ends) of a phrase that occur almost always inside it."""
        parts: list[int] = []
        least, part = self._grams.counts[gram], gram
        while part >= len(self._known):
            part = int(shorter[part])
            if least < self._overlap * self._grams.counts[part]:
                break
            parts.append(part)
        return parts
