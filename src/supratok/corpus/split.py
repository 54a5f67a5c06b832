"""Which documents training reads, and which it holds out.

    split = Split(corpus, recipe.curation, threads, progress)
    for document in split.decide("words"): ...   # the first reading decides, document by document
    table.count(split.portions("words"), 8)      # or, faster, the core does
    for text in split.texts("runs"): ...         # later readings: the same training documents
    split.measuring_texts()                      # held-out text that decided nothing

The choice depends on the texts alone: not on the run, the order or the number of threads.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..common import _core
from ..common.progress import Progress
from ..recipe import Curation
from .curate import Curator, find_thresholds
from .curate import digest as digest  # for users of this module, beside `is_held_out`
from .faults import CorpusError
from .lines import Sifter
from .reading import Document
from .stream import Corpus, T, as_counted, shown_reading

HOLD_OUT = 0.05  # the share of documents that training holds out


def is_held_out(digest: int, share: float = HOLD_OUT) -> bool:
    """Whether training holds out the document with this digest; it does so with `share` of all."""
    return digest < share * 2**64


def is_for_measuring(digest: int) -> bool:
    """Half of the held-out documents decide (which tokens to prune), half measure the result."""
    return digest % 2 == 1


@dataclass
class Totals:
    """What the first reading found."""

    documents: int = 0
    training_documents: int = 0
    held_out_documents: int = 0
    characters: int = 0  # of the training documents
    skipped: dict[str, int] = field(default_factory=dict)  # records that could not be read
    curation: dict[str, Any] | None = None  # its report


class HeldOut:
    """A bounded sample of documents that does not depend on their order.

    Of all that are added, identical ones once, sorted by digest: those from the start whose UTF-8
    sizes together fit into `capacity` bytes, up to the first that does not fit. The very first is
    always kept.
    """

    def __init__(self, capacity: int = 32 << 20) -> None:
        self.capacity = self._room = capacity
        self._kept: dict[int, bytes] = {}
        self._heap: list[int] = []  # the kept digests, negated: the highest is on top
        self.limit = 1 << 64  # Invariant: kept is exactly what was added below this digest

    def add(self, text: str, digest: int) -> None:
        if digest >= self.limit or digest in self._kept:
            return
        self._kept[digest] = text.encode()
        self._room -= len(self._kept[digest])
        heapq.heappush(self._heap, -digest)
        while self._room < 0 and len(self._kept) > 1:
            self.limit = -heapq.heappop(self._heap)
            self._room += len(self._kept.pop(self.limit))

    def add_all(self, limit: int, documents: Iterable[tuple[int, str]]) -> None:
        """Add another sample: its documents, all of which are below its limit."""
        self.limit = min(self.limit, limit)
        while self._heap and -self._heap[0] >= self.limit:
            self._room += len(self._kept.pop(-heapq.heappop(self._heap)))
        for code, text in documents:
            self.add(text, code)

    def rows(self) -> Iterator[tuple[int, str]]:
        """The digests and the documents, sorted."""
        return ((digest, self._kept[digest].decode()) for digest in sorted(self._kept))

    @property
    def documents(self) -> list[str]:
        """The sample, sorted by digest."""
        return [text for _, text in self.rows()]


class Found:
    """What a first reading finds: totals, and samples of the documents that are held out."""

    def __init__(self) -> None:
        self.totals = Totals()
        self.deciding, self.measuring = HeldOut(), HeldOut()

    def share(self, other: Found) -> None:
        """From now on both have the same totals and samples."""
        self.totals = other.totals
        self.deciding, self.measuring = other.deciding, other.measuring

    def deciding_texts(self) -> list[str]:
        """A sample of the held-out half that decides (which tokens to prune, which to swap)."""
        return self.deciding.documents if self.totals.held_out_documents else []

    def measuring_texts(self) -> list[str]:
        """A sample of the other half: it decides nothing, so the result is measured on it."""
        return self.measuring.documents if self.totals.held_out_documents else []


def held_out_half(texts: Iterable[str], *, measuring: bool = True) -> list[str]:
    """The held-out documents that training measures on, or those that it decides by."""
    sample = HeldOut()
    for text in texts:
        code = digest(text)
        if is_held_out(code) and is_for_measuring(code) == measuring:
            sample.add(text, code)
    return sample.documents


class Split(Found):
    """The documents of a corpus, split into those to train on and those held out: the share
    `hold_out`, 0 for none. Curation drops some of the others. A part of a corpus (`is_part`) may
    have no documents, or none to train on.

    The totals are complete when the first reading (`decide`, `portions` or `some`) is."""

    def __init__(
        self,
        corpus: Corpus,
        curation: Curation | None,
        threads: int,
        progress: Progress,
        *,
        hold_out: float = HOLD_OUT,
        is_part: bool = False,
    ) -> None:
        if not 0 <= hold_out < 1:
            raise ValueError(f"hold_out={hold_out}: must be a share from 0 (none) to less than 1")
        super().__init__()
        self._corpus, self._progress, self._threads = corpus, progress, threads
        self._share, self._trains_on_all = hold_out, False
        self._is_part = is_part
        corpus.find_sample(threads, progress)
        self.curator: Curator | None = None
        if curation is not None:  # thresholds by quantile take a reading of their own
            self.curator = Curator(find_thresholds(corpus, curation, threads, progress))
        self.ended = False  # the first reading
        self._sifter: Sifter | None = None

    # --- The first reading

    def begin(self, phase: str, *, by_document: bool, reached: Mapping[int, int] | None) -> None:
        """Begin the first reading, or go on from where it had `reached`. With `by_document` it
        gives documents; without, the core may decide on lines of JSON."""
        reading = self._corpus.start(reached)
        reading.skipped.update(self.totals.skipped)
        if not by_document and self.curator is None:
            greatest = math.ceil(self._share * 2**64) - 1  # of the digests that are held out
            limit = greatest if self._share else None
            self._sifter = self._corpus.sifter(limit, self._hold_out)
        self._items = self._shown(phase, self._corpus.portions(self._sifter, self._threads))

    def some(self, seconds: float = math.inf) -> Iterator[_core.Lines | Document]:
        """What the first reading gives in so many seconds, or until it has ended. After that,
        `late` gives the rest of it, and `reached` says how far it is."""
        until = time.monotonic() + seconds
        try:
            for item in self._items:
                if isinstance(item, Document):
                    yield from self._decide([item])
                    continue
                if item is not None:
                    yield item
                if time.monotonic() >= until:
                    return
        except BaseException:
            self._items.close()  # ends its threads
            raise
        self.ended = True

    def late(self) -> Iterator[Document]:
        """What must be counted after `some` was: the documents of odd lines. When the first reading
        has ended without a document to train on, all documents: then training holds out none."""
        sifter, totals = self._sifter, self.totals
        if sifter is not None:
            yield from self._decide(sifter.late())
            documents, held_out, characters = sifter.take_totals()
            totals.documents += documents
            totals.held_out_documents += held_out
            totals.training_documents += documents - held_out
            totals.characters += characters
        totals.skipped = dict(sorted(self._corpus.skipped.items()))
        if not self.ended:
            return
        if self.curator is not None:
            totals.curation = self.curator.report()
        if self._is_part:
            return
        if totals.documents == 0:
            self._corpus.refuse_empty()
        if totals.training_documents == 0:
            self._trains_on_all, totals.held_out_documents = True, 0
            totals.training_documents = totals.documents
            for document in self._corpus.documents():
                totals.characters += len(document.text)
                yield document

    @property
    def has_failed(self) -> bool:
        """Whether the first reading has met an error, which it raises later."""
        return self._sifter is not None and self._sifter.has_failed

    @property
    def reached(self) -> dict[int, int]:
        """How far the first reading is, for `begin`."""
        return dict(self._corpus.reached)

    def decide(self, phase: str) -> Iterator[Document]:
        """The whole first reading: decides on each document, and yields those to train on."""
        self.begin(phase, by_document=True, reached=None)
        for item in self.some():
            assert isinstance(item, Document)
            yield item
        yield from self.late()

    def portions(self, phase: str) -> Iterator[str | _core.Lines]:
        """The whole first reading for a table of the core, which counts what this yields: the texts
        to train on. Where there are many of them as lines of JSON, the core decides."""
        self.begin(phase, by_document=False, reached=None)
        yield from map(as_counted, self.some())
        yield from map(as_counted, self.late())

    def _decide(self, documents: Iterable[Document]) -> Iterator[Document]:
        totals = self.totals
        for document in documents:
            totals.documents += 1
            code = digest(document.text)
            if is_held_out(code, self._share):
                totals.held_out_documents += 1
                self._hold_out(document.text, code)
            elif self.curator is None or self.curator.keeps(document.text, code):
                totals.training_documents += 1
                totals.characters += len(document.text)
                yield document

    def _hold_out(self, text: str, code: int) -> None:
        half = self.measuring if is_for_measuring(code) else self.deciding
        half.add(text, code)

    # --- Later readings

    def texts(self, phase: str) -> Iterator[str]:
        """A later reading: the documents that the first one chose, or would choose."""
        read = trained_on = 0
        for document in self._shown(phase, self._corpus.documents()):
            read += 1
            if self._is_kept(document.text):
                trained_on += 1
                yield document.text
        totals = self.totals
        if self.ended and (read, trained_on) != (totals.documents, totals.training_documents):
            raise CorpusError(
                f"the corpus has changed since the first reading: {read:,} documents instead of"
                f" {totals.documents:,}, {trained_on:,} of them to train on instead of"
                f" {totals.training_documents:,}; leave its files alone while supratok reads them"
            )

    def _is_kept(self, text: str) -> bool:
        if self._trains_on_all:
            return True
        code = digest(text)
        if is_held_out(code, self._share):
            return False
        return self.curator is None or self.curator.keeps(text, code, record=False)

    def _shown(self, phase: str, reading: Iterable[T]) -> Generator[T, None, None]:
        return shown_reading(self._corpus, reading, phase, self._progress)
