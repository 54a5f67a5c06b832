"""The multiword pass: BPE over runs of words, from the crossover on.

How long each pass runs is not set by hand. The traditional pass was learnt to the full size; this
one takes over where its merges are worth more than the traditional ones that would remain, so both
end at the same count. All traditional merges rank before all multiword ones: words complete before
phrases form.

A pair joins if its words are complete, and it is seeded or passes the screen of the recipe. In
scripts without spaces there are no words to complete: there the pieces of a stretch of text, as the
traditional pass cuts it, join like words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..common.progress import Progress
from ..corpus import Corpus
from ..recipe import Recipe
from ..tokenizer import encoder_of
from .count import Counted, count_runs, training_texts
from .crossover import expected_crossover, find_parity, guess_floor, wanted_crossover
from .screen import Wanted
from .scripts import UNSPACED
from .seeds import mine, total_words
from .traditional import SLICE, Words, run_merges

# Choice: text in scripts without spaces is looked at in pieces if it is this share of all.
_UNSPACED_SHARE = 0.01


@dataclass
class Job:
    """What every later step of training needs at hand."""

    corpus: Corpus
    counted: Counted
    recipe: Recipe
    threads: int
    progress: Progress


@dataclass
class Phrases:
    """What the multiword pass learnt, and the traditional merges it left in place."""

    crossover: int  # traditional merges kept
    texts: list[str]
    counts: NDArray[np.int64]
    # How the runs changed the uses of the complete words; and how often each phrase stands in them.
    word_uses: dict[str, int]
    uses: NDArray[np.int64]
    runs: int
    report: dict[str, Any] = field(default_factory=dict)


def learn_multiword(job: Job, words: Words) -> Phrases:
    """Phrases of complete words; and where pieces of words may join as well, of the pieces that the
    words have at the crossover: at the one the recipe sets, or where it is expected."""
    wanted = wanted_crossover(job.recipe, len(words.texts), words.room)
    if job.recipe.crossover == 1.0:
        nothing = np.zeros(0, dtype=np.int64)
        return Phrases(len(words.texts), [], nothing, {}, nothing, 0)
    cut = None
    if joins_pieces(job.counted, job.recipe):
        expected = expected_crossover(job.counted.words, words.counts, words.room, job.recipe)
        cut = expected if wanted is None else wanted
    return _look(job, words, wanted, cut)


def joins_pieces(counted: Counted, recipe: Recipe) -> bool:
    """Whether pieces of words may join: if the recipe says so, or for scripts without spaces."""
    if not recipe.boundaries.whole_words:
        return True
    if recipe.scripts is None:
        return False
    characters = counted.words.characters()
    seen = np.flatnonzero(characters)
    unspaced = [code for code in seen.tolist() if _script(code) in UNSPACED]
    return bool(characters[unspaced].sum() >= _UNSPACED_SHARE * characters.sum())


def _script(code: int) -> int:
    return 0 if 0xD800 <= code < 0xE000 else _core.char_class(chr(code))[1]


def _look(job: Job, words: Words, wanted: int | None, cut: int | None) -> Phrases:
    """Count runs, and join them until phrases and words are worth the same (or up to `wanted`).

    Words behind `cut` stand in pieces. Pairs below `floor` are left out of the runs. It is a guess
    that saves memory; if it turns out too high for the result to be exact, the runs are counted
    again with a lower one."""
    recipe, progress = job.recipe, job.progress
    base = [chr(code) for code in words.alphabet] + words.texts
    base = base[: len(words.alphabet) + _first(wanted, cut, len(words.texts))]
    pieces = None
    if cut is not None:
        pieces = encoder_of(base, fewest=False)
    known = complete_words(base, recipe)
    least = max(recipe.min_count, recipe.screen.min_count if recipe.screen else 1)
    floor = guess_floor(job.counted.words, words, wanted, least, recipe)
    if recipe.screen and recipe.seeds:  # Invariant: seeds are counted in full
        floor = max(least, min(floor, recipe.seeds.min_count))
    while True:
        table, seen = count_runs(
            job.corpus, job.counted, known, recipe, floor, job.threads, progress, pieces
        )
        look = _Look(words, known, recipe, floor, least, len(table))
        progress.start("multiword", words.room, "tokens")
        look.start(table, seen, job.counted)
        del table
        crossover = wanted if wanted is not None else look.run_to_parity(progress)
        if crossover is not None:
            crossover = min(crossover, len(base) - len(words.alphabet))
            run_merges(look.merger, words.room - crossover - look.made, progress)
            chosen, crossover, enough = look.choose(crossover, job)
            if enough or floor == least:
                progress.end(crossover=crossover, phrases=len(chosen))
                return look.phrases(crossover, chosen)
        floor = max(least, floor // 4)


def _first(*values: int | None) -> int:
    return next(value for value in values if value is not None)


def complete_words(texts: list[str], recipe: Recipe) -> list[str]:
    """Those that are one word."""
    by_class = recipe.scripts is not None
    return [text for text in texts if len(_core.split_words(text, by_class)) == 1]


@dataclass
class _Look:
    """One run of the merge loop over runs of words, and what is chosen from it."""

    words: Words
    known: list[str]
    recipe: Recipe
    floor: int
    least: int
    runs: int
    merger: _core.Merger = field(init=False)
    before: NDArray[np.int64] = field(init=False)  # uses of the known words in the runs
    report: dict[str, Any] = field(default_factory=dict)

    def start(self, table: _core.RunTable, seen: NDArray[np.int64], counted: Counted) -> None:
        rules = self.recipe.boundaries
        seeds = self._seeds(table, counted)
        bits, least = self._screen(seen, counted)
        self.merger = _core.Merger.over_words(
            _core.Sequences.of_runs(table),
            self.known,
            _core.Limits(
                bytes=rules.max_bytes,
                words=rules.max_words,
                one_script=rules.one_script,
                digits_in_row=rules.max_digits,
                names=sorted(self.recipe.names),
            ),
            self.floor,
            self.recipe.scripts is not None,
            bits,
            least,
            seeds,
        )
        self.before = self.merger.usage()

    def _seeds(self, table: _core.RunTable, counted: Counted) -> list[str]:
        """The seeds and the shorter phrases that lead to them, word by word from the left. Without
        a screen every pair is welcome, and nothing need be mined."""
        recipe = self.recipe
        if recipe.seeds is None or recipe.screen is None:
            return []
        seeds = recipe.seeds.up_to(recipe.boundaries.max_words)
        counts = counted.words.counts_of(self.known)
        phrases, report = mine(table, self.known, counts, total_words(counted.words), seeds)
        self.report["seeds"] = report
        return with_chains([phrase.text for phrase in phrases], recipe)

    def _screen(self, seen: NDArray[np.int64], counted: Counted) -> tuple[list[float], float]:
        """Eq. 2 for a pair of neighbours, PMI >= threshold, in bits:

        log2(count) + sum of -log2(p(word))  >=  threshold + log2(N)
        """
        if self.recipe.screen is None:
            return [], 0.0
        total = int(counted.words.totals()[:3].sum())  # letters, punctuation, numbers
        bits = np.log2(total / np.maximum(seen, 1))
        return bits.tolist(), float(self.recipe.screen.min_pmi + np.log2(total))

    @property
    def made(self) -> int:
        return len(self.merger.counts())

    def run_to_parity(self, progress: Progress) -> int | None:
        """Learn phrases until they are worth no more than words; the crossover is where that is.

        None if the pairs above the floor do not reach that far."""
        words, counts = self.words, self.merger.counts()
        reached, floor, price = 0, self.floor, self.recipe.phrase_price
        while reached < words.room and self.merger.run(SLICE):
            counts = self.merger.counts()
            reached = len(counts) + int((words.counts * price > counts[-1]).sum())
            progress.at(reached)
        if reached >= words.room:
            floor = int(counts[-1]) + 1
        elif floor == self.least:
            floor = 1  # nothing rarer is wanted
        crossover = find_parity(words.counts.astype(np.float64) * price, counts, words.room, floor)
        return None if crossover is None else min(crossover, len(words.texts))

    def choose(self, crossover: int, job: Job) -> tuple[list[int], int, bool]:
        """The places, among the merges, of the phrases that fill the room behind the crossover; the
        crossover, which moves back where there are too few of them; and whether there were enough
        to choose from.

        Where some may be dropped, a twentieth more are looked at. What that does not make good is
        left to words: phrases further down are rarer than those words."""
        wanted = Wanted.of(self.recipe, sum(job.counted.trained_on))
        needed = self.words.room - crossover
        looked_at = needed + needed // 20 if wanted else needed
        pool = self._usable(crossover, looked_at)[:looked_at]
        enough = len(pool) >= looked_at
        if not wanted:
            return pool, crossover, enough
        chosen = self._screened(crossover, pool, wanted, job)[:needed]
        return *self._filled(crossover, chosen), enough

    def _filled(self, crossover: int, chosen: list[int]) -> tuple[list[int], int]:
        """The phrases that are left when words take the places that are free, and the crossover
        then. A word may stand in the way of a phrase, which frees one more place."""
        while True:
            chosen = self._reachable(crossover, chosen)
            missing = self.words.room - crossover - len(chosen)
            if not missing or crossover == len(self.words.texts):
                return chosen, crossover
            crossover = min(crossover + missing, len(self.words.texts))
            usable = set(self._usable(crossover, 0))
            chosen = [place for place in chosen if place in usable]

    def _reachable(self, crossover: int, chosen: list[int]) -> list[int]:
        """Those that encode to themselves, under the merges rule, without those that were dropped.
        It is asked again until none goes, as each that goes may have been needed."""
        if self.recipe.segmentation != "merges":
            return chosen
        base, texts = self._base(crossover), self.merger.texts()
        while len(good := encodable(base, [texts[place] for place in chosen])) < len(chosen):
            chosen = [chosen[i] for i in good]
        return chosen

    def _usable(self, crossover: int, needed: int) -> list[int]:
        """The phrases that can be tokens, at least so many if there are. Left out are those with a
        word that is complete only behind the crossover, those whose text is a token already, and,
        under the merges rule, those that do not encode to themselves."""
        base = self._base(crossover)
        complete = len(complete_words(base, self.recipe))
        while True:
            rarest = _rarest_words(self.merger, len(self.known))
            texts = self.merger.texts()
            first = {text: place for place, text in reversed(list(enumerate(texts)))}
            new = sorted(first[text] for text in first.keys() - set(base))
            chosen = [place for place in new if rarest[place] < complete]
            if self.recipe.segmentation == "merges":
                good = encodable(base, [texts[place] for place in chosen])
                chosen = [chosen[i] for i in good]
            if len(chosen) >= needed or self.merger.run(needed - len(chosen)) == 0:
                return chosen

    def _base(self, crossover: int) -> list[str]:
        return [chr(code) for code in self.words.alphabet] + self.words.texts[:crossover]

    def _screened(self, crossover: int, pool: list[int], wanted: Wanted, job: Job) -> list[int]:
        """Those of the pool that are used as it is wanted, and what they are made of. All are
        judged by the same encoding, with the whole pool in it."""
        base, texts = self._base(crossover), self.merger.texts()
        entries = base + [texts[place] for place in pool]
        spread, bounded = wanted.judge(
            entries,
            len(base),
            encoder_of(entries, self.recipe.segmentation == "fewest"),
            lambda phase: training_texts(job.corpus, job.counted, phase, job.progress),
            job.threads,
        )
        stays = self._with_parts(pool[i] for i in np.flatnonzero(spread & bounded))
        gone = np.array([place not in stays for place in pool], dtype=np.bool_)
        if wanted.documents > 1:
            self.report["too_few_documents"] = int((gone & ~spread).sum())
        if wanted.bits > 0:
            self.report["blurred_boundaries"] = int((gone & spread).sum())
        job.progress.end(dropped=int(gone.sum()))
        return [place for place in pool if place in stays]

    def _with_parts(self, places: Iterable[int]) -> set[int]:
        """These merges, and the ones they are made of."""
        stays = set(places)
        lefts, rights = (part.tolist() for part in self.merger.parts())
        for place in reversed(range(len(lefts))):
            if place in stays:
                stays.update(part - len(self.known) for part in (lefts[place], rights[place]))
        return stays

    def phrases(self, crossover: int, chosen: list[int]) -> Phrases:
        """The chosen phrases with their uses; those of the others go back to their parts."""
        known, merger = self.known, self.merger
        uses = merger.usage()
        lefts, rights = (part.tolist() for part in merger.parts())
        stays = set(chosen)
        for place in reversed(range(len(lefts))):
            if place not in stays:
                use = uses[len(known) + place]
                uses[lefts[place]] += use
                uses[rights[place]] += use
        change = (uses[: len(known)] - self.before).tolist()
        texts = merger.texts()
        screened = merger.screened()
        self.report |= {"candidates": merger.candidates(), "screened": screened}
        return Phrases(
            crossover,
            [texts[place] for place in chosen],
            merger.counts()[chosen],
            {word: by for word, by in zip(known, change, strict=True) if by},
            uses[len(known) :][chosen],
            self.runs,
            self.report,
        )


def with_chains(seeds: list[str], recipe: Recipe) -> list[str]:
    """The seeds and their beginnings of two words or more: " in spite of" needs " in spite"."""
    chains: set[str] = set()
    for text in seeds:
        words = _core.split_words(text, recipe.scripts is not None)
        chains.update("".join(words[:end]) for end in range(2, len(words) + 1))
    return sorted(chains)


def _rarest_words(merger: _core.Merger, known: int) -> list[int]:
    """Of each merge, the last of its words in the list of complete ones, which is by rank."""
    lefts, rights = (part.tolist() for part in merger.parts())
    rarest = list(range(known))
    for left, right in zip(lefts, rights, strict=True):
        rarest.append(max(rarest[left], rarest[right]))
    return rarest[known:]


def encodable(base: list[str], texts: list[str]) -> list[int]:
    """The places of the texts that encode to themselves after `base`."""
    states = encoder_of(base + texts, fewest=False).states()
    if states[: len(base)].any():
        bad = base[int(np.flatnonzero(states)[0])]
        raise AssertionError(f"the traditional token {bad!r} does not encode to itself")
    return np.flatnonzero(states[len(base) :] == 0).tolist()
