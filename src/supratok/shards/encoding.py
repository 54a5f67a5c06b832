"""From files to encoded documents: read, encode and hand out, each a step ahead of the next."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..corpus import Source, open_corpus
from ..corpus.faults import Fault, refuse
from ..corpus.kinds import kind
from ..corpus.readers import read_line, read_portions
from ..corpus.reading import Reading
from ..corpus.records import too_long
from ..corpus.remote import is_url
from ..corpus.texts import LONGEST_RECORD, without_end
from ..tokenizer import Tokenizer
from .ahead import ahead

Flat: TypeAlias = NDArray[Any]  # ids of many documents, one after another
Lengths: TypeAlias = NDArray[np.int64]  # of each document
Skipped: TypeAlias = dict[int, list[Counter[str]]]  # by number of the input: records, by reason

_BATCH = 2_000_000  # characters that are encoded at once


class Place(NamedTuple):
    """Where a document is: the number of its input, and how many documents precede it there."""

    input: int = 0
    document: int = 0


class Batch(NamedTuple):
    texts: list[str]
    places: list[Place]


class Lines(NamedTuple):
    """Whole lines of a file of JSON lines, which the core reads."""

    input: int
    data: bytes
    first: int  # the number of its first line
    name: str  # of the file
    reading: Reading

    def texts(self) -> Iterator[str]:
        """As Python reads them, with every exception and message."""
        for number, line in enumerate(io.BytesIO(self.data), self.first):
            short = None if len(line) - 1 > LONGEST_RECORD else without_end(line)
            document = read_line(short, f"{self.name}, line {number}", self.reading)
            if document is not None:
                yield document.text


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
        if not texts:
            return np.empty(0, self._type), np.empty(0, np.int64)
        arrays = self.tokenizer.encode_batch(texts, self.threads, numpy=True)
        lengths = np.fromiter(map(len, arrays), np.int64, len(arrays))
        if self.end is not None:
            ends = [np.array([self.end])] * len(arrays)
            arrays = list(chain.from_iterable(zip(arrays, ends, strict=True)))
            lengths += 1
        # Every id is below the size of the vocabulary, which the type holds.
        return np.concatenate(arrays, dtype=self._type, casting="unsafe"), lengths

    def encode_lines(self, lines: Lines) -> tuple[Flat, Lengths]:
        """The same of lines of JSON: by the core, or by Python if one of them is unusual."""
        key, tokenizer = lines.reading.text_key, self.tokenizer
        found = tokenizer._encode_lines(lines.data, key, LONGEST_RECORD, self.end, self.threads)
        if found is None:
            return self.encode(list(lines.texts()))
        return found[0].astype(self._type), found[1]

    @property
    def _type(self) -> np.dtype[Any]:
        return np.dtype(self.dtype).newbyteorder("<")


def read(
    inputs: Sequence[Source],
    start: Place,
    options: dict[str, Any],
    skipped: Skipped,
    at: Callable[[int], None],
) -> Generator[Batch | Lines, None, None]:
    """Batches of documents from `start` on. `skipped` gets the counts of each input, which are
    complete when its documents are encoded. `at` gets the bytes read so far, of all inputs."""
    batch, size = Batch([], []), 0
    for item in _items(inputs, start, options, skipped, at):
        if not isinstance(item, Lines):
            batch.places.append(item[0])
            batch.texts.append(item[1])
            size += len(item[1])
        if batch.texts and (size >= _BATCH or isinstance(item, Lines)):
            yield batch
            batch, size = Batch([], []), 0
        if isinstance(item, Lines):
            yield item
    if batch.texts:
        yield batch


def _items(
    inputs: Sequence[Source],
    start: Place,
    options: dict[str, Any],
    skipped: Skipped,
    at: Callable[[int], None],
) -> Iterator[Lines | tuple[Place, str]]:
    """Lines of files that the core reads from their beginning, and the documents of all others."""
    before = 0
    for number, source in enumerate(inputs):
        with open_corpus(source, **options) as corpus:
            first = start.document if number == start.input else 0
            packing = _packing(source, options)
            if number >= start.input and packing is not None and first == 0:
                reading, coded = (_reading(options) for _ in range(2))  # of two threads
                skipped[number] = [reading.skipped, coded.skipped]
                for lines in _read_lines(Path(str(source)), packing, number, reading, coded):
                    yield lines
                    at(before + reading.bytes_read)
            elif number >= start.input:
                for document, text in enumerate(islice(corpus, first, None), first):
                    yield Place(number, document), text
                    at(before + corpus.bytes_read)
                skipped[number] = [corpus.skipped]
            before += corpus.bytes_total or corpus.bytes_read
    at(before)


def _packing(source: Source, options: dict[str, Any]) -> str | None:
    """How a file of JSON lines on a disk is packed; None of all others."""
    if not isinstance(source, Path) or is_url(str(source)) or str(source) == "-":
        return None
    form, packing = kind(source)
    return packing if "jsonl" in (options["format"], form) else None


def _reading(options: dict[str, Any]) -> Reading:
    return Reading(options["text_key"], lang_key="", skip_bad=options["skip_bad"])


def _read_lines(
    path: Path, packing: str, number: int, reading: Reading, coded: Reading
) -> Iterator[Lines]:
    """Batches of whole lines, to be read by `coded`; faults as in `File.read`."""
    line, held, first, size = 1, list[bytes](), 1, 0
    try:
        for portion in read_portions(path, packing, reading):
            if portion is not None:
                held += portion
                size += sum(map(len, portion))
                line += sum(block.count(b"\n") for block in portion)
            if held and (portion is None or size >= _BATCH):
                yield Lines(number, b"".join(held), first, str(path), coded)
                held, first, size = [], line, 0
            if portion is None:
                reading.bad(f"{path}, line {line}", too_long())
                line += 1
                first = line
    except Fault as fault:
        reading.bad(str(path), fault)
    except OSError as error:
        refuse(error, path)
    if held:
        yield Lines(number, b"".join(held), first, str(path), coded)


def encode(batches: Iterator[Batch | Lines], coding: Coding) -> Generator[Encoded, None, None]:
    input, documents = 0, 0  # of lines: the latest input, and what it had so far
    for batch in batches:
        if isinstance(batch, Batch):
            yield Encoded(*coding.encode(batch.texts), batch.places)
            continue
        if batch.input != input:
            input, documents = batch.input, 0
        ids, lengths = coding.encode_lines(batch)
        places = [Place(input, documents + place) for place in range(len(lengths))]
        documents += len(lengths)
        yield Encoded(ids, lengths, places)


class Pieces:
    """Encoded documents, as many at a time as there is room for."""

    def __init__(self, batches: Iterator[Batch | Lines], coding: Coding) -> None:
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
