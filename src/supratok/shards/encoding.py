"""From files to encoded documents: read, encode and hand out, each a step ahead of the next."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..corpus import Source, open_corpus
from ..tokenizer import Tokenizer
from .ahead import ahead

Flat: TypeAlias = NDArray[Any]  # ids of many documents, one after another
Lengths: TypeAlias = NDArray[np.int64]  # of each document
Skipped: TypeAlias = dict[int, dict[str, int]]  # by number of the input: records, by reason

_BATCH = 2_000_000  # characters that are encoded at once


class Place(NamedTuple):
    """Where a document is: the number of its input, and how many documents precede it there."""

    input: int = 0
    document: int = 0


class Batch(NamedTuple):
    texts: list[str]
    places: list[Place]


class Encoded(NamedTuple):
    ids: Flat
    lengths: Lengths
    places: list[Place]


@dataclass(frozen=True)
class Coding:
    """How texts become ids: with the id `end` after each document, in the type of a format."""

    tokenizer: Tokenizer
    end: int | None
    dtype: str
    threads: int

    def encode(self, texts: list[str]) -> tuple[Flat, Lengths]:
        """The ids of many documents, and how many each has."""
        arrays = self.tokenizer.encode_batch(texts, self.threads, numpy=True)
        lengths = np.fromiter(map(len, arrays), np.int64, len(arrays))
        if self.end is not None:
            ends = [np.array([self.end])] * len(arrays)
            arrays = list(chain.from_iterable(zip(arrays, ends, strict=True)))
            lengths += 1
        # Every id is below the size of the vocabulary, which the type holds.
        dtype = np.dtype(self.dtype).newbyteorder("<")
        return np.concatenate(arrays, dtype=dtype, casting="unsafe"), lengths


def read(
    inputs: Sequence[Source],
    start: Place,
    options: dict[str, Any],
    skipped: Skipped,
    at: Callable[[int], None],
) -> Generator[Batch, None, None]:
    """Batches of documents from `start` on. Adds the skipped records of each input that is read to
    its end. `at` gets the bytes read so far, of all inputs."""
    batch, size, before = Batch([], []), 0, 0
    for number, source in enumerate(inputs):
        with open_corpus(source, **options) as corpus:
            if number >= start.input:
                first = start.document if number == start.input else 0
                for document, text in enumerate(islice(corpus, first, None), first):
                    batch.texts.append(text)
                    batch.places.append(Place(number, document))
                    size += len(text)
                    if size >= _BATCH:
                        yield batch
                        batch, size = Batch([], []), 0
                        at(before + corpus.bytes_read)
                if corpus.skipped:
                    skipped[number] = dict(sorted(corpus.skipped.items()))
            before += corpus.bytes_total or corpus.bytes_read
    if batch.texts:
        yield batch
    at(before)


def encode(batches: Iterator[Batch], coding: Coding) -> Generator[Encoded, None, None]:
    for batch in batches:
        yield Encoded(*coding.encode(batch.texts), batch.places)


class Pieces:
    """Encoded documents, as many at a time as there is room for."""

    def __init__(self, batches: Iterator[Batch], coding: Coding) -> None:
        self._encoded = ahead(encode(batches, coding))
        self._taken, self._ends = 0, np.zeros(1, np.int64)  # documents; where each ends

    def __bool__(self) -> bool:
        """Whether documents are left."""
        while self._taken == len(self._ends) - 1:
            piece = next(self._encoded, None)
            if piece is None:
                return False
            self._piece, self._taken = piece, 0
            self._ends = np.concatenate([[0], np.cumsum(piece.lengths)])
        return True

    @property
    def place(self) -> Place:
        """Of the next document."""
        return self._piece.places[self._taken]

    def take(self, room: int, least: int) -> tuple[Flat, Lengths]:
        """The next documents with at most so many ids, but not fewer documents than `least`."""
        begin = self._ends[self._taken]
        fitting = int(np.searchsorted(self._ends, begin + room, side="right")) - 1
        first, self._taken = self._taken, max(fitting, self._taken + least)
        ids = self._piece.ids[begin : self._ends[self._taken]]
        return ids, self._piece.lengths[first : self._taken]

    def close(self) -> None:
        self._encoded.close()
