"""Files of JSON lines, for the core: it parses the lines and decides on them, on all cores.

    files → threads that unpack ahead → portions of whole lines → the core → tables of counts
                                                  odd lines, held-out texts ← the core

An odd line is one that the core leaves to Python: it may be bad, or unusual. What `Sifter` reads,
skips and raises is what `readers.read_file` does, line by line. Portions overtake one another, but
of several bad lines the first one, in the order of the files, is the one that is raised.
"""

from __future__ import annotations

import contextlib
import dataclasses
import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from ..common import _core
from .faults import CorpusError, Fault, refuse
from .readers import read_line, read_portions
from .reading import Document, Reading
from .records import too_long
from .sources import File, Part
from .texts import LONGEST_RECORD, without_end

Place: TypeAlias = tuple[int, int]  # the number of a file, and of a line in it
BEGIN, END = 1, -1  # lines: the first of a file, and what comes behind its last


def is_json_lines(part: Part) -> bool:
    """Whether a `Sifter` reads it."""
    return isinstance(part, File) and part.form == "jsonl"


def is_sampled(text: str, limit: int | None) -> bool:
    """Whether a text is in the sample with this limit (core/sample.hpp); None: all are."""
    return limit is None or _core.sample_chance(_core.digest(text)) <= limit


class Sifter:
    """Reads files of JSON lines. `hold_out` and `sample`: see `_core.Sieve`. `held_out` receives
    the texts that are held out, with their digests; the totals count what the core decided on."""

    def __init__(
        self,
        reading: Reading,
        hold_out: int | None,
        sample: int | None,
        held_out: Callable[[str, int], object],
    ) -> None:
        self._reading, self._held_out, self._sample = reading, held_out, sample
        self._sieve = _core.Sieve(reading.text_key, LONGEST_RECORD, hold_out, sample)
        self.documents = self.held_out_documents = self.characters = 0
        self._first: tuple[Place, CorpusError] | None = None  # the first error

    def read(
        self, files: list[File], threads: int, reached: list[int]
    ) -> Iterator[_core.Lines | Document]:
        """Lines, for a table to count, and the documents of odd lines. Who iterates must count the
        lines before asking for more.

        `reached` has the line of each file where to begin, or END; it follows what is yielded."""
        self._files = files
        with _Ahead(files, self._sieve, self._reading, threads, list(reached)) as ahead:
            for step in ahead:
                self._reading.bytes_read += step.consumed
                reached[step.place[0]] = step.next_line
                if isinstance(step.what, Exception):
                    self._fail(step)
                elif step.what is not None and not self._is_late(step.place):
                    yield step.what
                yield from self._take()
                if self._first is not None:
                    ahead.stop_at(self._first[0])
        yield from self.late()
        self._reading.line = None
        if self._first is not None:
            raise self._first[1]

    def late(self) -> Iterator[Document]:
        """The documents of odd lines that were counted but not yet looked at."""
        self._sieve.wait()
        yield from self._take()

    @property
    def has_failed(self) -> bool:
        """Whether `read` will raise, when it has read what comes before the error."""
        return self._first is not None

    def take_totals(self) -> tuple[int, int, int]:
        """Documents, held-out documents, and characters of the others, since the last time."""
        totals = self.documents, self.held_out_documents, self.characters
        self.documents = self.held_out_documents = self.characters = 0
        return totals

    def _take(self) -> Iterator[Document]:
        """What the core has found since the last time."""
        documents, held_out, characters, odd, texts = self._sieve.take()
        self.documents += documents
        self.held_out_documents += held_out
        self.characters += characters
        for text, digest in texts:
            self._held_out(text, digest)
        for number, line_number, line in odd:
            is_long = len(line.removesuffix(b"\n")) > LONGEST_RECORD
            name = f"{self._files[number].name}, line {line_number}"
            try:
                document = read_line(None if is_long else without_end(line), name, self._reading)
            except CorpusError as error:
                self._note((number, line_number), error)
            else:
                if document is not None and is_sampled(document.text, self._sample):
                    yield document

    def _fail(self, step: _Step) -> None:
        try:
            if isinstance(step.what, Fault):
                self._reading.bad(step.name, step.what)
            elif isinstance(step.what, OSError):
                refuse(step.what, step.name)
            elif isinstance(step.what, Exception):
                raise step.what
        except CorpusError as error:
            self._note(step.place, error)

    def _note(self, place: Place, error: CorpusError) -> None:
        if not self._is_late(place):
            self._first = place, error

    def _is_late(self, place: Place) -> bool:
        """Whether an error has come before this."""
        return self._first is not None and self._first[0] <= place


class _Step(NamedTuple):
    """What a thread that unpacks has done: some lines, an error or, as None, a whole file."""

    place: Place  # of the next line
    name: str
    what: _core.Lines | Exception | None
    consumed: int  # bytes of the file as it is on disk
    next_line: int  # behind it, or END


class _Ahead:
    """Threads that unpack files, up to so many at once, while the caller takes what they have."""

    def __init__(
        self,
        files: list[File],
        sieve: _core.Sieve,
        reading: Reading,
        threads: int,
        starts: list[int],
    ) -> None:
        self._files, self._sieve, self._reading, self._starts = files, sieve, reading, starts
        self._waiting, self._lock = iter(range(len(files))), threading.Lock()
        self._end: Place = (len(files), 0)
        self._closed = False
        self._steps: queue.Queue[_Step | None] = queue.Queue(threads + 2)  # None: a thread ended
        self._threads: list[threading.Thread] = []
        for _ in range(min(threads, len(files))):
            thread = threading.Thread(target=self._work, daemon=True, name="supratok-unpack")
            try:
                thread.start()
            except RuntimeError:  # the system starts no more
                break
            self._threads.append(thread)

    def __enter__(self) -> _Ahead:
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        self.stop_at((-1, 0))
        for thread in self._threads:
            thread.join(timeout=1)  # a connection may hang; then it ends later, or with the process

    def stop_at(self, place: Place) -> None:
        """What comes behind this is not needed."""
        self._end = min(self._end, place)

    def __iter__(self) -> Iterator[_Step]:
        if not self._threads:
            while (number := self._next()) is not None:
                yield from self._read(number)
        for _ in self._threads:
            while (step := self._steps.get()) is not None:
                yield step

    def _work(self) -> None:
        while (number := self._next()) is not None:
            for step in self._read(number):
                self._put(step)
        self._put(None)

    def _next(self) -> int | None:
        with self._lock:
            return next(self._waiting, None)

    def _put(self, step: _Step | None) -> None:
        while not self._closed:
            with contextlib.suppress(queue.Full):
                self._steps.put(step, timeout=0.2)
                return

    def _read(self, number: int) -> Iterator[_Step]:
        file, line, told = self._files[number], BEGIN, 0
        start, size = self._starts[number], None
        own = dataclasses.replace(self._reading, bytes_read=0, skipped=Counter())
        failure: Exception | None = None
        try:
            size = file.size()
            if start == END:
                yield _Step((number, line), file.name, None, size or 0, END)
                return
            for portion in read_portions(file.path, file.packing, own):
                if (number, line) >= self._end:
                    return
                consumed, told = own.bytes_read - told, own.bytes_read
                after = line + _lines_in(portion)
                if after <= start:
                    yield _Step((number, line), file.name, None, consumed, after)
                elif portion is None:
                    name = f"{file.name}, line {line}"
                    yield _Step((number, line), name, too_long(), consumed, after)
                else:
                    portion, line = _from_line(portion, line, start)
                    lines = _core.Lines(self._sieve, number, line, portion)
                    yield _Step((number, line), file.name, lines, consumed, after)
                line = after
        except Exception as error:
            failure = error
        rest = own.bytes_read - told if size is None else size - told
        yield _Step((number, line), file.name, failure, rest, END)


def _lines_in(portion: list[bytes] | None) -> int:
    """How many lines; the last of a file may have no end."""
    if portion is None:
        return 1
    last = next((block for block in reversed(portion) if block), b"\n")
    return sum(block.count(b"\n") for block in portion) + (not last.endswith(b"\n"))


def _from_line(portion: list[bytes], line: int, start: int) -> tuple[list[bytes], int]:
    """The lines from `start` on, of a portion that begins with the line `line`."""
    if line >= start:
        return portion, line
    data, at = b"".join(portion), 0
    for _ in range(start - line):
        at = data.index(b"\n", at) + 1
    return [data[at:]], start
