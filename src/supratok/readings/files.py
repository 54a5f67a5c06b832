"""Training text that was counted elsewhere: the tables come from counts files.

Each round of counting needs what the round before it decided. So training goes as far as its files
lead; then it asks for the next reading, as a plan:

    supratok tally a.jsonl --out a.counts          on each machine, for its part of the text
    supratok merge *.counts --out words.counts
    supratok train --counts words.counts --out my.json
        -> needs the reading "runs": my.json.plan
    supratok tally a.jsonl --plan my.json.plan --out a-runs.counts       and so on
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from ..common.progress import Progress
from ..corpus.curate import curator_of
from ..corpus.split import HOLD_OUT
from ..counts import CountsFile, merged_about, read_counts
from ..recipe import Recipe
from .first import FirstReading
from .plans import SplitRule, fingerprint
from .reading import Reading, Room, Table
from .text import TrainingText, Words, refuse_rereading


class NotCounted(ValueError):
    """Training needs a reading that no counts file holds."""

    def __init__(self, reading: Reading[Any], split: SplitRule) -> None:
        super().__init__(f"no counts file holds the reading '{reading.phase}' that comes next")
        self.reading, self.split = reading, split


class CountedText(TrainingText):
    """`paths` are counts files of any readings; those of one reading add up."""

    def __init__(self, paths: Iterable[Path], progress: Progress, room: Room) -> None:
        super().__init__()
        self._progress, self._room = progress, room
        self._files: dict[str, list[CountsFile]] = defaultdict(list)
        self._words: list[CountsFile] = []
        for path in paths:
            file = read_counts(path)
            if file.about.kind == FirstReading.phase:
                self._words.append(file)
            else:
                self._files[file.about.fingerprint].append(file)
        if not self._words:
            raise ValueError(
                "no counts file holds words: make one with `supratok tally TEXT --out x.counts`,"
                " and pass it to train --counts"
            )
        self._sources = _sources_of(self._words)

    def words(self, recipe: Recipe) -> Words:
        refuse_rereading(recipe)
        share = self._words[0].about.facts.get("hold_out", HOLD_OUT)
        self._rule = SplitRule(recipe.curation, share)
        first = FirstReading(recipe, curator_of(recipe.curation), self._room, share)
        self._progress.start("words")
        for file in self._words:
            first.add(file)
        self.share(first)
        first.check()
        self._progress.end(words=len(first.table), documents=self.totals.documents)
        return first.table, first.by_language

    def read(self, reading: Reading[Table]) -> Table:
        files = self._files.get(fingerprint(reading))
        if not files:
            raise NotCounted(reading, self._rule)
        _refuse_other_text(self._sources, _sources_of(files), reading.phase)
        self._progress.start(reading.phase)
        table = reading.table(self._room)
        for file in files:
            reading.add(table, file)
        self._progress.end(**reading.facts(table))
        return table

    def again(self, phase: str) -> NoReturn:
        raise AssertionError(phase)  # refused at the start


def _sources_of(files: list[CountsFile]) -> Mapping[str, str]:
    """What these files count together; refused if two count the same."""
    return merged_about([(file.path, file.about) for file in files]).sources


def _refuse_other_text(words: Mapping[str, str], others: Mapping[str, str], phase: str) -> None:
    """All readings must count the same text."""
    one, other = "words", phase
    differing = sorted(words.keys() - others.keys())
    if not differing:
        one, other = phase, "words"
        differing = sorted(others.keys() - words.keys())
    if differing:
        name = {**words, **others}[differing[0]]
        raise ValueError(
            f"{name}: counted in the reading '{one}' but not in '{other}'; count it there too,"
            " under the same name, and add that file to --counts"
        )
