"""Which phrases become tokens: BPE over runs of words, as in the multiword pass (multiword.py), but
the words are those that are one token of the base.

The documents are split as in training. Words and then runs of them are counted, and the most
frequent pair of neighbours joins, again and again, if its phrase keeps to the boundaries and is
spread over documents. Each phrase is made of two tokens, of the base or learnt before.

Choice: a word that is several tokens of the base is in no phrase. " clim|ate| change" would need a
token for " climate" first, which is no phrase, or "ate change", which is no one's. Of the words of
running English text 97% are one token in a vocabulary of 200,000, and 86% in one of 32,000.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..common import _core
from ..common.progress import Progress
from ..corpus import Corpus, Document
from ..formats.huggingface.document import bare, encode_spelled
from ..learn.count import SKETCH_BITS, Counted, joints, split, training_texts
from ..learn.screen import documents_wanted
from ..recipe import Recipe
from ..tokenizer import encoder_of
from . import glue
from .base import Base

_SLICE = 1000  # merges between two looks at the clock


@dataclass
class Learnt:
    """Merges in their order, how often each was made, and what was read."""

    merges: list[tuple[str, str]]
    counts: list[int]
    counted: Counted
    report: dict[str, Any] = field(default_factory=dict)

    @property
    def texts(self) -> list[str]:
        """What they make, each once: a text may be made in two ways."""
        return list(dict.fromkeys(left + right for left, right in self.merges))


def learn(
    base: Base, corpus: Corpus, add: int, recipe: Recipe, threads: int, progress: Progress
) -> Learnt:
    """Merges that make `add` new tokens, or as many as the corpus has."""
    counted = _count_words(base, corpus, recipe, threads, progress)
    least = recipe.min_count
    units = base.units(counted.words.rows(least)[0])
    floor = _guess_floor(counted.words, add, least)
    while True:
        table = _core.RunTable(units, counted.words, joints(recipe), floor)
        table.count(_texts(base, corpus, counted, "runs", progress), threads)
        progress.end(runs=len(table))
        report = {"words": len(units), "runs": len(table), "floor": floor}
        pool = _Pool(base, units, _merger(table, units, floor, recipe), corpus, counted)
        pool.spread = documents_wanted(recipe, sum(counted.trained_on))
        learnt = pool.choose(add, threads, progress)
        if floor == least or len(learnt.texts) == add:
            learnt.report = report
            return learnt
        floor = max(least, floor // 4)


def _count_words(
    base: Base, corpus: Corpus, recipe: Recipe, threads: int, progress: Progress
) -> Counted:
    counted = Counted(words=_core.WordTable(SKETCH_BITS))

    def count(documents: Iterable[Document]) -> None:
        texts = (glue.as_counted(base.run, document.text) for document in documents)
        counted.words.count(texts, threads)

    split(corpus, recipe, counted, count, threads, progress, "words")
    progress.end(words=len(counted.words), documents=counted.documents)
    return counted


def _texts(
    base: Base, corpus: Corpus, counted: Counted, phase: str, progress: Progress
) -> Iterator[str]:
    """The documents that are trained on, as they are counted."""
    for text in training_texts(corpus, counted, phase, progress):
        yield glue.as_counted(base.run, text)


def _guess_floor(words: _core.WordTable, add: int, least: int) -> int:
    """A count that the last phrase will surely have. Choice: of the pairs of words seen so often a
    third become phrases (crossover.py), and some are not spread well."""
    low, high = least, 2 * least
    while words.pairs_at_least(high) >= 4 * add:
        low, high = high, 2 * high
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if words.pairs_at_least(middle) >= 4 * add else (low, middle)
    return low


def _merger(table: _core.RunTable, units: list[str], floor: int, recipe: Recipe) -> _core.Merger:
    rules = recipe.boundaries
    limits = _core.Limits(bytes=rules.max_bytes, words=rules.max_words, one_script=rules.one_script)
    return _core.Merger.over_words(_core.Sequences.of_runs(table), units, limits, floor)


@dataclass
class _Pool:
    """The merges of one run over the table, and which of them are good tokens."""

    base: Base
    units: list[str]
    merger: _core.Merger
    corpus: Corpus
    counted: Counted
    spread: int = 1

    def choose(self, add: int, threads: int, progress: Progress) -> Learnt:
        """The first merges that make `add` good tokens; all good ones, if there are fewer. More are
        made until there are enough."""
        wanted = add + add // 10
        while True:
            more = self._run(wanted, progress)
            good = self._reachable(self._well_spread(threads, progress))
            chosen = self._reachable(self._first(good, add))
            learnt = Learnt(
                self._pairs(chosen), self.merger.counts()[chosen].tolist(), self.counted
            )
            if not more or len(learnt.texts) == add:
                return learnt
            wanted += add

    def _run(self, wanted: int, progress: Progress) -> bool:
        """Join until there are so many merges, or no pair is left."""
        progress.start("phrases", wanted, "tokens")
        made, more = len(self.merger.counts()), True
        while made < wanted and more:
            more = self.merger.run(min(_SLICE, wanted - made)) > 0
            made = len(self.merger.counts())
            progress.at(made)
        progress.end(phrases=made)
        return more

    def _first(self, places: list[int], add: int) -> list[int]:
        """Up to the last that make `add` different texts."""
        texts = self.merger.texts()
        seen: set[str] = set()
        chosen = []
        for place in places:
            if texts[place] not in seen and len(seen) == add:
                break
            seen.add(texts[place])
            chosen.append(place)
        return chosen

    def _well_spread(self, threads: int, progress: Progress) -> list[int]:
        """Phrases used in enough documents, where a text is cut into as few of all these words and
        phrases as can be; and what they are made of."""
        texts = self.merger.texts()
        if self.spread <= 1 or not texts:
            return list(range(len(texts)))
        characters = sorted(set("".join(self.units)))
        entries = list(dict.fromkeys([*characters, *self.units, *texts]))
        survey = _core.Survey(encoder_of(entries, fewest=True), 0)
        texts_read = _texts(self.base, self.corpus, self.counted, "documents", progress)
        survey.count(texts_read, threads)
        seen = dict(zip(entries, survey.documents().tolist(), strict=True))
        kept = self._with_parts(
            place for place, text in enumerate(texts) if seen[text] >= self.spread
        )
        progress.end(dropped=len(texts) - len(kept))
        return kept

    def _with_parts(self, places: Iterable[int]) -> list[int]:
        stays = set(places)
        lefts, rights = (part.tolist() for part in self.merger.parts())
        for place in reversed(range(len(lefts))):
            if place in stays:
                stays.update(part - len(self.units) for part in (lefts[place], rights[place]))
        return sorted(place for place in stays if place >= 0)

    def _without_wholes(self, places: list[int], bad: set[int]) -> list[int]:
        """Those that are not made of a bad one."""
        lefts, rights = (part.tolist() for part in self.merger.parts())
        gone = set(bad)
        for place in places:
            if {lefts[place] - len(self.units), rights[place] - len(self.units)} & gone:
                gone.add(place)
        return [place for place in places if place not in gone]

    def _reachable(self, places: list[int]) -> list[int]:
        """Those that encode to themselves. To leave one out changes what others meet, so it is done
        until none is left out."""
        while places:
            texts = self.merger.texts()
            document = self.base.with_merges(self._pairs(places))
            vocab = document["model"]["vocab"]
            spelled = [self.base.spell(texts[place]) for place in places]
            found = encode_spelled(bare(document), spelled)
            bad = {
                place
                for place, name, ids in zip(places, spelled, found, strict=True)
                if ids != [vocab[name]] or vocab[name] < self.base.first_new_id
            }
            if not bad:
                break
            places = self._without_wholes(places, bad)
        return places

    def _pairs(self, places: list[int]) -> list[tuple[str, str]]:
        everything = [*self.units, *self.merger.texts()]
        lefts, rights = (part.tolist() for part in self.merger.parts())
        return [(everything[lefts[place]], everything[rights[place]]) for place in places]
