"""Which documents training reads, and which it holds out.

    split = Split(corpus, recipe.curation, threads, progress)
    for document in split.decide("words"): ...   # the first reading decides, document by document
    for text in split.texts("runs"): ...         # later readings: the same training documents,
                                                 # or the store that keeps them
    split.measuring_texts()                      # held-out text that decided nothing

The choice depends on the texts alone: not on the run, the order or the number of threads.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

from ..common import _core
from ..common.progress import Progress
from ..recipe import Curation
from .curate import Curator, find_thresholds
from .curate import digest as digest  # for users of this module, beside `is_held_out`
from .reading import Document
from .stream import Corpus


def is_held_out(digest: int, share: float = 0.05) -> bool:
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
    """The documents of a corpus, split into those to train on and those held out: 5%, and none
    with `hold_out=False`. Curation drops some of the others.

    The totals are complete when the first reading (`decide`) is."""

    def __init__(
        self,
        corpus: Corpus,
        curation: Curation | None,
        threads: int,
        progress: Progress,
        *,
        hold_out: bool = True,
        store: _core.Store | None = None,
    ) -> None:
        self.store = store  # for the words of the first reading, so that no later one reads text
        self._corpus, self._progress, self._hold_out = corpus, progress, hold_out
        self.curator: Curator | None = None
        if curation is not None:  # thresholds by quantile take a reading of their own
            self.curator = Curator(find_thresholds(corpus, curation, threads, progress))
        self.documents = 0
        self.held_out_documents = 0
        self.characters = 0  # of the training documents
        self.skipped: dict[str, int] = {}  # records that could not be read, by reason
        self._trained_on = bytearray()  # by document, in the order of the corpus
        self._deciding, self._measuring = HeldOut(), HeldOut()

    @property
    def training_documents(self) -> int:
        return sum(self._trained_on)

    def decide(self, phase: str) -> Iterator[Document]:
        """The first reading: decides on each document, and yields those to train on."""
        for document in self._read(phase):
            self.documents += 1
            kept = self._is_kept(document.text)
            self._trained_on.append(kept)
            if kept:
                self.characters += len(document.text)
                yield document
        if self.documents == 0:
            self._corpus.refuse_empty()
        if not any(self._trained_on):
            yield from self._all_documents()
        self.skipped = dict(sorted(self._corpus.skipped.items()))

    def texts(self, phase: str) -> Iterable[str]:
        """A later reading: the documents that `decide` chose. A table that counts a store reports
        to `show`."""
        if self.store is None:
            return self._texts(phase)
        self._progress.start(phase, self.store.bytes, "B")
        return self.store

    def show(self, bytes_done: int) -> None:
        assert self.store is not None
        self._progress.at(bytes_done, self.store.bytes)

    def _texts(self, phase: str) -> Iterator[str]:
        for document, trained_on in zip(self._read(phase), self._trained_on, strict=True):
            if trained_on:
                yield document.text

    def deciding_texts(self) -> list[str]:
        """A sample of the held-out half that decides (which tokens to prune, which to swap)."""
        return self._deciding.documents if self.held_out_documents else []

    def measuring_texts(self) -> list[str]:
        """A sample of the other half: it decides nothing, so the result is measured on it."""
        return self._measuring.documents if self.held_out_documents else []

    def _is_kept(self, text: str) -> bool:
        code = digest(text)
        if self._hold_out and is_held_out(code):
            self.held_out_documents += 1
            half = self._measuring if is_for_measuring(code) else self._deciding
            half.add(text, code)
            return False
        return self.curator is None or self.curator.keeps(text, code)

    def _all_documents(self) -> Iterator[Document]:
        """A corpus so small that no document is left to train on: train on all, hold out none."""
        self._trained_on = bytearray(b"\1" * self.documents)
        self.held_out_documents = 0
        for document in self._corpus.documents():
            self.characters += len(document.text)
            yield document

    def _read(self, phase: str) -> Iterator[Document]:
        """All documents, with progress."""
        corpus, progress = self._corpus, self._progress
        sized = corpus.bytes_total is not None
        progress.start(phase, corpus.bytes_total, "B" if sized else "documents")
        for number, document in enumerate(corpus.documents()):
            if number % 64 == 0:
                progress.at(corpus.bytes_read if sized else number, corpus.bytes_total)
            yield document
