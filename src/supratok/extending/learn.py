"""Which phrases become tokens: BPE over runs of words, as in learn/multiword.py, but over the words
that are one token of the base.

The documents are split as in training. The most frequent pair of neighbours joins, again and again,
if its phrase keeps to the boundaries and is spread over documents. Each phrase is made of two
tokens, of the base or learnt before.

Choice: a word that is several tokens of the base is in no phrase. " clim|ate| change" would need a
token for " climate" first, which is no phrase, or one for "ate change", which nobody wants. Of the
words of running English text 97% are one token in a vocabulary of 200,000, 86% in one of 32,000.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..common import _core
from ..common.progress import Progress
from ..corpus import Corpus
from ..corpus.split import Split
from ..formats.huggingface.document import bare, encode_spelled
from ..learn.crossover import count_that_fills
from ..learn.merging import PhraseMerges, lower_floor_until_exact, run_merges
from ..learn.screen import Wanted
from ..readings import SKETCH_BITS, Reading, Room, joints
from ..recipe import Recipe
from . import glue
from .base import Base


@dataclass
class Learnt:
    """Merges in their order, how often each was made, and the documents."""

    merges: list[tuple[str, str]]
    counts: list[int]
    split: Split
    report: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        """The texts that the merges make, each once: two merges may make the same."""
        return list(dict.fromkeys(left + right for left, right in self.merges))


def learn(
    base: Base, corpus: Corpus, add: int, recipe: Recipe, threads: int, progress: Progress
) -> Learnt:
    """Merges that make `add` new tokens, or as many as the corpus has."""
    split = Split(corpus, recipe.curation, threads, progress)
    words = _core.WordTable(SKETCH_BITS)
    decided = split.decide("words")
    words.count((glue.as_counted(base.run, document.text) for document in decided), threads)
    progress.end(words=len(words), documents=split.totals.documents)
    least = recipe.min_count
    units = base.units(words.rows(least)[0])

    def attempt(floor: int) -> Learnt | None:
        table = _core.RunTable(_core.Units(units, joints(recipe)), words.pairs, floor)
        table.count(_texts(base, split, "runs"), threads)
        progress.end(runs=len(table))
        report = {"words": len(units), "runs": len(table), "floor": floor}
        merges = PhraseMerges(_merger(table, units, floor, recipe, threads), units)
        chooser = _Chooser(base, split, merges, recipe, threads, progress)
        places = chooser.choose(add)
        counts = merges.merger.counts()[places].tolist()
        learnt = Learnt(merges.pairs(places), counts, split, report)
        return learnt if floor == least or len(learnt.texts) == add else None

    # Choice: a third of the pairs of words seen often enough become phrases (learn/crossover.py),
    # and some of these are in too few documents.
    floor = count_that_fills(add, words, 4, least)
    return lower_floor_until_exact(attempt, floor, least)


def _texts(base: Base, split: Split, phase: str) -> Iterator[str]:
    """The training documents as they are counted."""
    for text in split.texts(phase):
        yield glue.as_counted(base.run, text)


def _merger(
    table: _core.RunTable, units: list[str], floor: int, recipe: Recipe, threads: int
) -> _core.Merger:
    rules = recipe.boundaries
    limits = _core.Limits(bytes=rules.max_bytes, words=rules.max_words, one_script=rules.one_script)
    sequences = _core.Sequences.of_runs(table)
    return _core.Merger.over_words(sequences, units, limits, floor, threads=threads)


@dataclass
class _Chooser:
    """Chooses the merges that become tokens."""

    base: Base
    split: Split
    merges: PhraseMerges
    recipe: Recipe
    threads: int
    progress: Progress

    def choose(self, add: int) -> list[int]:
        """The first merges that make `add` good tokens; all good ones, if there are fewer. Merges
        more until there are enough."""
        wanted = add + add // 10
        while True:
            self.progress.start("phrases", wanted, "tokens")
            more = run_merges(self.merges.merger, wanted, self.progress)
            self.progress.end(phrases=len(self.merges))
            good = self._reachable(self._well_spread())
            chosen = self._reachable(self._first(good, add))
            texts = self.merges.merger.texts()
            if not more or len({texts[place] for place in chosen}) == add:
                return chosen
            wanted += add

    def _first(self, places: list[int], add: int) -> list[int]:
        """The places up to the last that make `add` different texts."""
        texts = self.merges.merger.texts()
        seen: set[str] = set()
        chosen = []
        for place in places:
            if texts[place] not in seen and len(seen) == add:
                break
            seen.add(texts[place])
            chosen.append(place)
        return chosen

    def _well_spread(self) -> list[int]:
        """The phrases that are used in enough documents, if these words and phrases encode a text
        with the fewest tokens; and their parts."""
        texts = self.merges.merger.texts()
        wanted = Wanted.of(self.recipe, self.split.totals.training_documents)
        if not wanted or not texts:
            return list(range(len(texts)))
        characters = sorted(set("".join(self.merges.units)))
        entries = list(dict.fromkeys([*characters, *self.merges.units, *texts]))
        spread, _ = wanted.judge(entries, 0, True, self._read)
        good = {text for text, is_good in zip(entries, spread.tolist(), strict=True) if is_good}
        kept = self.merges.with_parts(place for place, text in enumerate(texts) if text in good)
        self.progress.end(dropped=len(texts) - len(kept))
        return sorted(kept)

    def _read(self, reading: Reading[Any]) -> Any:
        """The table of a reading, over the texts as they are counted."""
        table = reading.table(Room())
        texts = _texts(self.base, self.split, reading.phase)
        reading.count(table, texts, self.threads, self.progress.at)
        return table

    def _reachable(self, places: list[int]) -> list[int]:
        """Those that encode to themselves. Dropping one changes the encoding of others, so repeat
        until none is dropped."""
        while places:
            texts = self.merges.merger.texts()
            document = self.base.with_merges(self.merges.pairs(places))
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
            places = self.merges.without_wholes(places, bad)
        return places
