"""The first reading: it decides which documents to train on, counts their words, and keeps samples
of those that are held out. Its counts files add up like those of every reading."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..common import _core
from ..corpus.curate import Curator
from ..corpus.languages import language_of
from ..corpus.reading import Document
from ..corpus.split import HOLD_OUT, Found
from ..corpus.stream import as_counted
from ..counts import About, CountsFile, Member, Sample
from ..recipe import Recipe
from .reading import SKETCH_BITS, Room
from .text import LanguageWords

_PORTION = 4_000_000  # characters of a language that are counted at once
_LANGUAGE = "words-"  # begins the names of members with the words of one language


class FirstReading(Found):
    """What the first reading counts."""

    phase = "words"

    def __init__(
        self, recipe: Recipe, curator: Curator | None, room: Room, hold_out: float = HOLD_OUT
    ) -> None:
        """`curator` has the curation of the recipe."""
        _refuse_what_no_encoder_holds(recipe)
        super().__init__()
        self.curator = curator
        self.by_document = recipe.scripts is not None and recipe.scripts.weighs_suffixes
        # All that decides the counts, except the text.
        facts = {
            "words_by_class": recipe.scripts is not None,
            "languages_apart": self.by_document,
            "curation": curator and dataclasses.asdict(curator.curation),
            "hold_out": hold_out,
        }
        self.facts: dict[str, Any] = json.loads(json.dumps(facts))  # as files have them
        self.table = _core.WordTable(SKETCH_BITS, recipe.scripts is not None)
        room.limit(self.table)
        self.by_language: dict[str, LanguageWords] = {}

    # --- Counting ------------------------------------------------------------------------------

    def count(
        self,
        items: Iterable[_core.Lines | Document],
        threads: int,
        store: _core.Store | None = None,
    ) -> None:
        """Count what a split gives; `store` keeps it."""
        if self.by_document:
            items = self._by_language(items, threads)
        self.table.count(map(as_counted, items), threads, store)

    def _by_language(
        self, items: Iterable[_core.Lines | Document], threads: int
    ) -> Iterator[_core.Lines | Document]:
        """All documents; counts the words of those in languages with rules of their own."""
        waiting: dict[str, list[str]] = {}
        sizes: Counter[str] = Counter()
        for document in items:
            assert isinstance(document, Document)
            language = language_of(document.lang, document.text)
            if language is not None:
                words = self.by_language.setdefault(language, LanguageWords())
                words.documents += 1
                waiting.setdefault(language, []).append(document.text)
                sizes[language] += len(document.text)
                if sizes[language] >= _PORTION:
                    words.table.count(waiting.pop(language), threads)
                    sizes[language] = 0
            yield document
        for language, texts in waiting.items():
            self.by_language[language].table.count(texts, threads)

    # --- Counts files --------------------------------------------------------------------------

    def about(self, sources: Mapping[str, str], facts: Mapping[str, Any] | None = None) -> About:
        """`sources`: see `About`. `facts`: more of them."""
        totals = dataclasses.asdict(self.totals)
        del totals["curation"]
        totals["languages"] = {name: one.documents for name, one in self.by_language.items()}
        if self.curator is not None:
            totals["curation"] = self.curator.sums()
        code = hashlib.sha256(json.dumps(self.facts, sort_keys=True).encode()).hexdigest()
        return About(self.phase, code, dict(sources), totals, {**self.facts, **(facts or {})})

    def samples(self) -> dict[str, Member]:
        """The held-out documents, as members."""
        return {
            f"{name}.docs": Sample(held_out.capacity, held_out.limit, held_out.rows())
            for name, held_out in (("deciding", self.deciding), ("measuring", self.measuring))
        }

    def language_rows(self) -> dict[str, Member]:
        """The words of documents in some languages, as members."""
        return {
            f"{_LANGUAGE}{name}.rows": one.table.rows_blocks()
            for name, one in self.by_language.items()
        }

    def members(self) -> dict[str, Member]:
        words: dict[str, Member] = {
            "words.rows": self.table.rows_blocks(),
            "pairs.npy.zst": self.table.pairs.counters(),
        }
        return words | self.language_rows() | self.samples()

    def add(self, counted: CountsFile) -> None:
        """Add a counts file of this reading, with its words."""
        for name, fact in self.facts.items():
            found = counted.about.facts.get(name, fact)  # words that others counted have none
            if found != fact:
                raise ValueError(
                    f"{counted.path} was counted with {name}={found!r}, and this recipe needs"
                    f" {fact!r}; count the text again, for this recipe"
                )
        for block in counted.rows("words"):
            self.table.add_rows(block)
        if "pairs.npy.zst" in counted.sizes:  # words that others counted have none
            self.table.pairs.add(counted.array("pairs"))
        self.add_state(counted)

    def add_state(self, counted: CountsFile) -> None:
        """Add all but the words of all documents: totals, samples, and words by language."""
        sums: dict[str, Any] = dict(counted.about.totals)
        totals = self.totals
        sums.setdefault("training_documents", sums.get("documents", 0))
        for name in ("documents", "training_documents", "held_out_documents", "characters"):
            setattr(totals, name, getattr(totals, name) + sums.get(name, 0))
        skipped = Counter(totals.skipped) + Counter(sums.get("skipped", {}))
        totals.skipped = dict(sorted(skipped.items()))
        for member in counted.sizes:
            if member.startswith(_LANGUAGE):
                name = member.removeprefix(_LANGUAGE).removesuffix(".rows")
                words = self.by_language.setdefault(name, LanguageWords())
                words.documents += sums["languages"][name]
                for block in counted.rows(f"{_LANGUAGE}{name}"):
                    words.table.add_rows(block)
        if self.curator is not None and "curation" in sums:
            self.curator.add(sums["curation"])
            totals.curation = self.curator.report()
        for name, held_out in (("deciding", self.deciding), ("measuring", self.measuring)):
            if f"{name}.docs" in counted.sizes:
                sample = counted.sample(name)
                held_out.add_all(sample.limit, sample.documents)

    def check(self) -> None:
        """Refuse counts of no document to train on."""
        if not self.totals.documents:
            raise ValueError("the counts are empty: no documents were found; check what was passed")
        if not self.totals.training_documents:
            raise ValueError(
                f"{self.totals.documents} documents are too few: none is left to train on; count"
                " them with --hold-out 0 / hold_out=0, and without curation"
            )


def _refuse_what_no_encoder_holds(recipe: Recipe) -> None:
    if recipe.learnt_size > _core.MOST_TOKENS:
        raise ValueError(
            f"vocab_size={recipe.vocab_size} is too large: training would learn"
            f" {recipe.learnt_size:,} tokens, but a vocabulary holds at most"
            f" {_core.MOST_TOKENS:,}; ask for fewer"
        )
