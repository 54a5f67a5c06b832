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
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from ..common.progress import Progress
from ..corpus.split import HOLD_OUT
from ..counts import CountsFile, merged_about, read_counts
from ..recipe import Recipe
from .first import FirstReading
from .plans import SplitRule, fingerprint
from .reading import Reading, Room, Table
from .text import TrainingText, Words


class NotCounted(ValueError):
    """Training needs a reading that no counts file holds."""

    def __init__(self, reading: Reading[Any], split: SplitRule) -> None:
        super().__init__(f"no counts file holds the reading '{reading.phase}' that comes next")
        self.reading, self.split = reading, split


class CountedText(TrainingText):
    """`paths` are counts files of any readings; those of one reading add up."""

    def __init__(self, paths: Iterable[Path], progress: Progress, room: Room) -> None:
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

    def words(self, recipe: Recipe) -> Words:
        share = self._words[0].about.facts.get("hold_out", HOLD_OUT)
        self._rule = SplitRule(recipe.curation, share)
        first = FirstReading(recipe, recipe.curation, self._room, share)
        _refuse_what_does_not_add_up(self._words)
        self._progress.start("words")
        for file in self._words:
            first.add(file)
        self.totals = first.totals
        self.deciding, self.measuring = first.deciding, first.measuring
        if not self.totals.training_documents:
            raise ValueError(
                f"{self.totals.documents} documents are too few: all of them are held out; count"
                " them with `supratok tally --hold-out 0`"
            )
        self._progress.end(words=len(first.table), documents=self.totals.documents)
        return first.table, first.by_language

    def read(self, reading: Reading[Table]) -> Table:
        files = self._files.get(fingerprint(reading))
        if not files:
            raise NotCounted(reading, self._rule)
        _refuse_what_does_not_add_up(files)
        self._progress.start(reading.phase)
        table = reading.table(self._room)
        for file in files:
            reading.add(table, file)
        self._progress.end(**reading.facts(table))
        return table

    def again(self, phase: str) -> NoReturn:
        raise ValueError(
            f"the pass '{phase}' reads the text itself: train on the text, or without this pass"
        )


def _refuse_what_does_not_add_up(files: list[CountsFile]) -> None:
    """Files that count the same text, say: it would count twice."""
    merged_about([(file.path, file.about) for file in files])
