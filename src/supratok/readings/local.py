"""Readings in this process, on all its cores.

The first reading keeps the documents as numbers of words (core/store.hpp), in memory or, beyond a
limit, on disk. Later readings run over these numbers: the text is not unpacked, parsed and cut into
words again. With a work folder, what is finished is kept there, and the same run goes on after a
crash.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..common import _core
from ..common.progress import Progress
from ..corpus import Corpus
from ..corpus.split import HOLD_OUT, Split
from ..recipe import Curation, Recipe
from .first import FirstReading
from .reading import Reading, Room, Table
from .text import TrainingText, Words
from .work import Work

# Choice: seconds between two moments from which a killed run can go on.
COMMIT = 30.0


@dataclass(frozen=True)
class Keeping:
    """How much memory documents and tables take: what has no room goes to temporary files, or to
    the work folder. With `reread` the documents are not kept: every reading reads the text."""

    documents: int = 256 << 20
    tables: Room = field(default_factory=Room)
    reread: bool = False


class LocalText(TrainingText):
    """The documents of a corpus."""

    def __init__(
        self,
        corpus: Corpus,
        curation: Curation | None,
        threads: int,
        progress: Progress,
        *,
        hold_out: float = HOLD_OUT,
        is_part: bool = False,
        keeping: Keeping | None = None,
        work: Work | None = None,
    ) -> None:
        super().__init__()
        self._threads, self._progress, self._work = threads, progress, work
        self._keeping, self._share = keeping or Keeping(), hold_out
        self._split = Split(corpus, curation, threads, progress, hold_out=hold_out, is_part=is_part)
        self._store: _core.Store | None = None

    # --- The first reading ---------------------------------------------------------------------

    def words(self, recipe: Recipe) -> Words:
        first = self.count_first(recipe)
        self.share(first)
        return first.table, first.by_language

    def count_first(self, recipe: Recipe) -> FirstReading:
        """The first reading; goes on where the work folder says."""
        split, keeping, work = self._split, self._keeping, self._work
        first = FirstReading(recipe, split.curator, keeping.tables, self._share)
        split.share(first)
        reached = None
        if work is not None:
            self._store, reached = self._resume(first, work)
        elif not keeping.reread:
            self._store = _core.Store(memory=keeping.documents)
        if not split.ended:
            split.begin("words", by_document=first.by_document, reached=reached)
        while not split.ended:
            first.count(split.some(COMMIT if work else math.inf), self._threads, self._store)
            first.count(split.late(), self._threads, self._store)
            if work is not None and self._store is not None and not split.has_failed:
                work.save_first(first, split, self._store.flush())
        self._progress.end(words=len(first.table), documents=first.totals.documents)
        return first

    def _resume(self, first: FirstReading, work: Work) -> tuple[_core.Store, dict[int, int] | None]:
        """The store in the work folder, and how far the first reading came."""
        saved = work.first()
        if saved is None:
            return _core.Store(str(work.folder), memory=0), None
        size, split = saved.about.facts["documents_size"], self._split
        store = _core.Store.open(str(work.folder), size)
        self._progress.start("words", store.bytes, "B")
        first.table.count(store, self._threads, progress=self._progress.at)
        first.add_state(saved)
        split.ended = saved.about.facts["ended"]
        return store, {int(part): line for part, line in saved.about.facts["reached"].items()}

    # --- Later readings ------------------------------------------------------------------------

    def read(self, reading: Reading[Table]) -> Table:
        table, work = reading.table(self._keeping.tables), self._work
        about = work.about(reading) if work else None  # once: it hashes all that decides it
        finished = work.finished(about) if work and about else None
        if finished is not None:
            self._progress.start(reading.phase)
            reading.add(table, finished)
        else:
            documents = self._documents(reading.phase)
            reading.count(table, documents, self._threads, self._progress.at)
            if work and about:
                work.save(about, reading.members(table))
        self._progress.end(**reading.facts(table))
        return table

    def again(self, phase: str) -> Iterable[str]:
        return self._documents(phase)

    def _documents(self, phase: str) -> Iterable[str]:
        """The training documents, with progress: a store, or a new reading of the text."""
        if self._store is None:
            return self._split.texts(phase)
        self._progress.start(phase, self._store.bytes, "B")
        return self._store
