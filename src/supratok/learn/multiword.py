"""The multiword pass: BPE over runs of words, from the crossover on.

The recipe need not say how long each pass runs. The traditional pass was learnt to the full size;
this pass takes over where a phrase saves more than the next traditional merge, so both end at the
same count. All traditional merges rank before all multiword ones: words complete before phrases
form.

A pair joins if its words are complete, and it is a seed or passes the screen of the recipe. In
scripts without spaces there are no words to complete: there the pieces of a stretch of text, as the
traditional pass cuts it, join like words.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..common.progress import Progress
from ..readings import UNSPACED, TrainingText, Units
from ..recipe import Recipe
from ..tokenizer import BYTES, Token, encoder_of
from .choose import Chooser
from .crossover import (
    expected_crossover,
    find_parity,
    guess_floor,
    keep_saving,
    wanted_crossover,
    worths_of,
)
from .merging import SLICE, Learnt, PhraseMerges, lower_floor_until_exact, run_merges
from .runs import count_runs
from .screen import pair_bits
from .scripts import ScriptRules
from .seeds import seeds_with_chains
from .traditional import Words
from .words import are_words, script_of

# Choice: words join in pieces if scripts without spaces make up this share of the text.
_UNSPACED_SHARE = 0.01


def learn_multiword(
    words: Words,
    table: _core.WordTable,
    rules: ScriptRules,
    text: TrainingText,
    recipe: Recipe,
    threads: int,
    progress: Progress,
) -> Learnt:
    """The tokens of the traditional pass up to the crossover, then phrases. `table` counts the
    words of the training text; `rules` are those by which the traditional pass changed the counts.
    """
    if recipe.crossover == 1.0 or not words.room:
        phrases = _Phrases(len(words.texts))
    else:
        phrases = _PhrasePass(words, table, text, recipe, threads, progress).learn()
    crossover = phrases.crossover
    next_count = words.counts[crossover : crossover + 1].tolist() or [0]
    facts = {
        "traditional": {"words": len(table), "merges": crossover, "next_count": next_count[0]},
        "multiword": phrases.facts(),
    }
    return Learnt(
        words.tokens(crossover) + phrases.tokens,
        np.concatenate([_uses_of_words(words, phrases, rules, threads), phrases.uses]),
        round(crossover / recipe.learnt_size, 5),
        facts | ({"scripts": rules.report} if rules.report else {}),
    )


@dataclass
class _Phrases:
    """The phrases, and the number of traditional merges before them."""

    crossover: int
    tokens: list[Token] = field(default_factory=list)
    uses: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    word_uses: dict[str, int] = field(default_factory=dict)  # how joining changed them
    runs: int = 0
    details: dict[str, Any] = field(default_factory=dict)

    def facts(self) -> dict[str, Any]:
        last_count = self.tokens[-1].count if self.tokens else 0
        return {
            "runs": self.runs, "accepted": len(self.tokens), "last_count": last_count,
            **self.details,
        }  # fmt: skip


def _uses_of_words(
    words: Words, phrases: _Phrases, rules: ScriptRules, threads: int
) -> NDArray[np.int64]:
    """How often the training text, encoded by merges, uses the alphabet and each word token: in
    words, less those that phrases took."""
    uses, entries = words.uses_after(phrases.crossover), words.base(phrases.crossover)
    if rules.changes:  # the traditional pass counted words otherwise than the text does
        changes = np.fromiter(rules.changes.values(), dtype=np.int64)
        encoder = encoder_of(entries, fewest=False)
        uses -= encoder.usage(list(rules.changes), threads, changes)[BYTES:]
    place = {text: i for i, text in enumerate(entries)}
    for text, change in phrases.word_uses.items():
        uses[place[text]] += change
    return uses


class _PhrasePass:
    """Counts runs, and joins them until phrases and words are worth the same, or from the crossover
    of the recipe on."""

    def __init__(
        self,
        words: Words,
        table: _core.WordTable,
        text: TrainingText,
        recipe: Recipe,
        threads: int,
        progress: Progress,
    ) -> None:
        self._words, self._table, self._text = words, table, text
        self._recipe, self._threads, self._progress = recipe, threads, progress
        self._wanted = wanted_crossover(recipe, words)
        # The words that are complete after so many merges join; the others may in pieces.
        self._latest = len(words.texts) if self._wanted is None else self._wanted
        in_pieces = joins_pieces(table, recipe)
        if in_pieces and self._wanted is None:
            self._latest = expected_crossover(table, words.counts, words.room, recipe)
        base = words.base(self._latest)
        self._known = list(itertools.compress(base, are_words(base, recipe)))
        self._units = Units(recipe, self._known, base if in_pieces else None)
        # No rarer pair joins.
        self._least = max(recipe.min_count, recipe.screen.min_count if recipe.screen else 1)

    def learn(self) -> _Phrases:
        recipe, least = self._recipe, self._least
        floor = guess_floor(self._table, self._words, self._wanted, least, recipe)
        if recipe.screen and recipe.seeds:  # Invariant: seeds are counted in full
            floor = max(least, min(floor, recipe.seeds.min_count))
        return lower_floor_until_exact(self._attempt, floor, least)

    def _attempt(self, floor: int) -> _Phrases | None:
        """The phrases, from the pairs seen `floor` times; None if these are too few."""
        words, progress = self._words, self._progress
        runs, counts = count_runs(self._text, self._table, self._units, floor)
        progress.start("multiword", words.room, "tokens")
        seeds, facts = seeds_with_chains(runs, self._known, self._table, self._recipe)
        number = len(runs)
        merges = self._merges_over(runs, counts, seeds, floor)  # takes the runs out of their table
        before = merges.merger.usage()
        del runs, counts
        crossover = self._wanted
        if crossover is None:
            crossover = self._run_to_parity(merges, floor)
            if self._recipe.fixed_price is None:
                facts["saving"] = self._recipe.saving
        if crossover is None:
            return None
        crossover = min(crossover, self._latest)
        run_merges(merges.merger, words.room - crossover, progress)
        chooser = Chooser(words, merges, self._text, self._recipe, self._threads, progress, facts)
        chosen, crossover, enough = chooser.choose(crossover)
        if not enough and floor > self._least:
            return None
        progress.end(crossover=crossover, phrases=len(chosen))
        return _phrases(merges, chosen, crossover, before, number, facts)

    def _merges_over(
        self, runs: _core.RunTable, counts: NDArray[np.int64], seeds: list[str], floor: int
    ) -> PhraseMerges:
        """No merges yet, over these runs; `counts` are those of the known words."""
        recipe, rules = self._recipe, self._recipe.boundaries
        limits = _core.Limits(
            bytes=rules.max_bytes,
            words=rules.max_words,
            one_script=rules.one_script,
            digits_in_row=rules.max_digits,
            names=sorted(recipe.names),
        )
        bits, least = pair_bits(self._table, counts, recipe.screen)
        sequences, by_class = _core.Sequences.of_runs(runs), recipe.scripts is not None
        merger = _core.Merger.over_words(
            sequences, self._known, limits, floor, by_class, bits, least, seeds, self._threads
        )
        return PhraseMerges(merger, self._known)

    def _run_to_parity(self, merges: PhraseMerges, floor: int) -> int | None:
        """Merge until phrases are worth no more than words; the crossover is there, or later if the
        recipe asks for a share of the saving. None if the pairs above the floor do not reach that
        far."""
        words, merger, recipe = self._words, merges.merger, self._recipe
        worths, counts = worths_of(words.counts, recipe), merger.counts()
        reached = 0
        while reached < words.room and merger.run(SLICE):
            counts = merger.counts()
            reached = len(counts) + int((worths > counts[-1]).sum())
            self._progress.at(reached)
        if reached >= words.room:
            floor = int(counts[-1]) + 1
        elif floor == self._least:
            floor = 1  # no rarer pair may join
        crossover = find_parity(worths, counts, words.room, floor)
        if crossover is None:
            return None
        crossover = min(crossover, len(words.texts))
        if recipe.fixed_price is not None:
            return crossover
        return keep_saving(words.counts, counts, words.room, crossover, recipe.saving)


def joins_pieces(table: _core.WordTable, recipe: Recipe) -> bool:
    """Whether pieces of words may join: if the recipe allows it, or for scripts without spaces."""
    if not recipe.boundaries.whole_words:
        return True
    if recipe.scripts is None:
        return False
    characters = table.characters()
    seen = np.flatnonzero(characters).tolist()
    unspaced = [code for code in seen if script_of(chr(code)) in UNSPACED]
    return bool(characters[unspaced].sum() >= _UNSPACED_SHARE * characters.sum())


def _phrases(
    merges: PhraseMerges,
    chosen: list[int],
    crossover: int,
    before: NDArray[np.int64],
    runs: int,
    facts: dict[str, Any],
) -> _Phrases:
    """The chosen merges; the uses of the others go to their parts. `before`: the uses of the words
    before the first merge."""
    merger, units = merges.merger, len(merges.units)
    texts, counts, uses = merger.texts(), merger.counts(), merges.uses_of(chosen)
    change = (uses[:units] - before).tolist()
    facts |= {"candidates": merger.candidates(), "screened": merger.screened()}
    return _Phrases(
        crossover,
        [Token(texts[place], int(counts[place]), "multiword") for place in chosen],
        uses[units:],
        {word: by for word, by in zip(merges.units, change, strict=True) if by},
        runs,
        facts,
    )
