"""Which documents training reads, and which it holds out.

    split = Split(corpus, recipe.curation, threads, progress)
    for document in split.decide("words"): ...   # the first reading decides, document by document
    table.count(split.portions("words"), 8)      # or, faster, the core does
    for text in split.texts("runs"): ...         # later readings: the same training documents,
                                                 # or the store that keeps them
    split.measuring_texts()                      # held-out text that decided nothing

The choice depends on the texts alone: not on the run, the order or the number of threads.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator
from typing import TypeVar

from ..common import _core
from ..common.progress import Progress
from ..recipe import Curation
from .curate import Curator, find_thresholds
from .curate import digest as digest  # for users of this module, beside `is_held_out`
from .faults import CorpusError
from .lines import Sifter
from .reading import Document
from .stream import Corpus

HOLD_OUT = 0.05  # the share of documents that training holds out
T = TypeVar("T")


def is_held_out(digest: int, share: float = HOLD_OUT) -> bool:
    """Whether training holds out the document with this digest; it does so with `share` of all."""
    return digest < share * 2**64


def is_for_measuring(digest: int) -> bool:
    """Half of the held-out documents decide (which tokens to prune), half measure the result."""
    return digest % 2 == 1


class HeldOut:
    """A bounded sample of documents that does not depend on their order.

    Of all that are added, identical ones once, sorted by digest: those from the start whose UTF-8
    sizes together fit into `capacity` bytes, up to the first that does not fit. The very first is
    always kept.
    """

    def __init__(self, capacity: int = 32 << 20) -> None:
        self._room = capacity
        self._kept: dict[int, bytes] = {}
        self._heap: list[int] = []  # the kept digests, negated: the highest is on top
        self._limit = 1 << 64  # Invariant: kept is exactly what was added below this digest

    def add(self, text: str, digest: int) -> None:
        if digest >= self._limit or digest in self._kept:
            return
        self._kept[digest] = text.encode()
        self._room -= len(self._kept[digest])
        heapq.heappush(self._heap, -digest)
        while self._room < 0 and len(self._kept) > 1:
            self._limit = -heapq.heappop(self._heap)
            self._room += len(self._kept.pop(self._limit))

    @property
    def documents(self) -> list[str]:
        """The sample, sorted by digest."""
        return [self._kept[digest].decode() for digest in sorted(self._kept)]


def held_out_half(texts: Iterable[str], *, measuring: bool = True) -> list[str]:
    """The held-out documents that training measures on, or those that it decides by."""
    sample = HeldOut()
    for text in texts:
        code = digest(text)
        if is_held_out(code) and is_for_measuring(code) == measuring:
            sample.add(text, code)
    return sample.documents


class Split:
    """The documents of a corpus, split into those to train on and those held out: the share
    `hold_out`, 0 for none. Curation drops some of the others.

    The totals are complete when the first reading (`decide` or `count`) is."""

    def __init__(
        self,
        corpus: Corpus,
        curation: Curation | None,
        threads: int,
        progress: Progress,
        *,
        hold_out: float = HOLD_OUT,
        store: _core.Store | None = None,
    ) -> None:
        if not 0 <= hold_out < 1:
            raise ValueError(f"hold_out={hold_out}: must be a share from 0 (none) to less than 1")
        self.store = store  # for the words of the first reading, so that no later one reads text
        self._corpus, self._progress, self._threads = corpus, progress, threads
        self._share, self._trains_on_all = hold_out, False
        self.curator: Curator | None = None
        if curation is not None:  # thresholds by quantile take a reading of their own
            self.curator = Curator(find_thresholds(corpus, curation, threads, progress))
        self.documents = 0
        self.training_documents = 0
        self.held_out_documents = 0
        self.characters = 0  # of the training documents
        self.skipped: dict[str, int] = {}  # records that could not be read, by reason
        self._deciding, self._measuring = HeldOut(), HeldOut()

    # --- The first reading

    def decide(self, phase: str) -> Iterator[Document]:
        """The first reading: decides on each document, and yields those to train on."""
        yield from self._decide(self._shown(phase, self._corpus.documents()))
        yield from self._decided()

    def portions(self, phase: str) -> Iterator[str | _core.Lines]:
        """The first reading for a table of the core, which counts what this yields: the texts to
        train on. Where there are many of them as lines of JSON, the core decides."""
        if self.curator is not None:
            yield from (document.text for document in self.decide(phase))
            return
        greatest = math.ceil(self._share * 2**64) - 1  # of the digests that are held out
        reading, limit = self._corpus.start_reading(), greatest if self._share else None
        sifter = Sifter(reading, limit, None, self._hold_out)
        for portion in self._shown(phase, self._corpus.portions(sifter, self._threads)):
            if isinstance(portion, _core.Lines):
                yield portion
            else:
                yield from (document.text for document in self._decide([portion]))
        self.documents += sifter.documents
        self.held_out_documents += sifter.held_out_documents
        self.training_documents += sifter.documents - sifter.held_out_documents
        self.characters += sifter.characters
        yield from (document.text for document in self._decided())

    def _decide(self, documents: Iterable[Document]) -> Iterator[Document]:
        for document in documents:
            self.documents += 1
            code = digest(document.text)
            if is_held_out(code, self._share):
                self.held_out_documents += 1
                self._hold_out(document.text, code)
            elif self.curator is None or self.curator.keeps(document.text, code):
                self.training_documents += 1
                self.characters += len(document.text)
                yield document

    def _hold_out(self, text: str, code: int) -> None:
        half = self._measuring if is_for_measuring(code) else self._deciding
        half.add(text, code)

    def _decided(self) -> Iterator[Document]:
        """Ends the first reading. In a corpus so small that no document is left to train on, this
        yields all: then training holds out none."""
        if self.documents == 0:
            self._corpus.refuse_empty()
        if self.training_documents == 0:
            self._trains_on_all, self.held_out_documents = True, 0
            self.training_documents = self.documents
            for document in self._corpus.documents():
                self.characters += len(document.text)
                yield document
        self.skipped = dict(sorted(self._corpus.skipped.items()))

    # --- Later readings

    def texts(self, phase: str) -> Iterable[str]:
        """A later reading: the documents that the first one chose. A table that counts a store
        reports to `show`."""
        if self.store is None:
            return self._texts(phase)
        self._progress.start(phase, self.store.bytes, "B")
        return self.store

    def show(self, bytes_done: int) -> None:
        assert self.store is not None
        self._progress.at(bytes_done, self.store.bytes)

    def _texts(self, phase: str) -> Iterator[str]:
        read = trained_on = 0
        for document in self._shown(phase, self._corpus.documents()):
            read += 1
            if self._is_kept(document.text):
                trained_on += 1
                yield document.text
        if (read, trained_on) != (self.documents, self.training_documents):
            raise CorpusError(
                f"the corpus has changed since the first reading: {read:,} documents instead of"
                f" {self.documents:,}, {trained_on:,} of them to train on instead of"
                f" {self.training_documents:,}; leave its files alone while supratok reads them"
            )

    def _is_kept(self, text: str) -> bool:
        if self._trains_on_all:
            return True
        code = digest(text)
        if is_held_out(code, self._share):
            return False
        return self.curator is None or self.curator.keeps(text, code, record=False)

    def _shown(self, phase: str, reading: Iterable[T]) -> Iterator[T]:
        """What a reading of the corpus yields, with progress."""
        corpus, progress = self._corpus, self._progress
        sized = corpus.bytes_total is not None
        progress.start(phase, corpus.bytes_total, "B" if sized else "documents")
        for number, document in enumerate(reading):
            if number % 64 == 0 or isinstance(document, _core.Lines):
                progress.at(corpus.bytes_read if sized else number, corpus.bytes_total)
            yield document

    # --- What is held out

    def deciding_texts(self) -> list[str]:
        """A sample of the held-out half that decides (which tokens to prune, which to swap)."""
        return self._deciding.documents if self.held_out_documents else []

    def measuring_texts(self) -> list[str]:
        """A sample of the other half: it decides nothing, so the result is measured on it."""
        return self._measuring.documents if self.held_out_documents else []
