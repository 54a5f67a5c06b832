"""The parts of a corpus: a file, an iterable, or a source that can be read only once."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

from .faults import CorpusError, refuse
from .readers import read_file, read_items
from .reading import Document, Reading
from .records import json_line
from .remote import Url


class Items(NamedTuple):
    """An iterable that starts again each time it is iterated."""

    items: Iterable[object]

    def size(self) -> None:
        return None

    def read(self, reading: Reading) -> Iterator[Document]:
        return read_items(self.items, reading)


class File(NamedTuple):
    """A file of a known format, opened again for each reading."""

    path: Path | Url
    form: str
    packing: str

    @property
    def name(self) -> str:
        return str(self.path)

    def size(self) -> int | None:
        if isinstance(self.path, Url):
            return self.path.bytes
        try:
            return self.path.stat().st_size
        except OSError as error:
            refuse(error, self.path)

    def identity(self) -> list[object]:
        """Its name, its size, and when it last changed or which version of it this is."""
        if isinstance(self.path, Url):
            return [self.name, self.path.bytes, self.path.version]
        try:
            found = self.path.stat()
        except OSError as error:
            refuse(error, self.path)
        return [self.name, found.st_size, found.st_mtime_ns]

    def read(self, reading: Reading) -> Iterator[Document]:
        size, start = self.size(), reading.bytes_read
        try:
            yield from read_file(*self, reading)
        except OSError as error:
            refuse(error, self.path)
        if size is not None:
            reading.bytes_read = start + size


class Once:
    """A source that can be read only once. The first reading copies it to disk for the others.

    The copy is a `.jsonl.zst` file like any other. If the first reading stops midway, the next one
    reads the source to its end before it yields anything.
    """

    def __init__(
        self, source: Callable[[Reading], Iterator[Document]], name: str | None = None
    ) -> None:
        self._source, self.name = source, name
        self._rest: Iterator[Document] | None = None
        self._failure: BaseException | None = None
        self._done = False

    def size(self) -> int | None:
        return self._copy.size() if self._done and not self._failure else None

    def read(self, reading: Reading) -> Iterator[Document]:
        first = self._rest is None
        while (document := self._next(reading)) is not None:
            if first:
                yield document
            if first and self._done:
                raise CorpusError(
                    "a second pass overtook this one, over a source that can be read only once;"
                    " finish one pass before starting the next"
                )
        if not first:
            reading.skipped.update(self._skipped)
            yield from self._copy.read(reading)

    def _next(self, reading: Reading) -> Document | None:
        """The next document, once it is copied; None at the end."""
        if self._failure is not None:
            raise CorpusError(
                f"the source can be read only once, and that failed ({self._failure!r});"
                " open it again"
            ) from self._failure
        if self._done:
            return None
        try:
            self._rest = self._rest or self._start(reading)
            document = next(self._rest, None)
            self._write(document, reading)
        except BaseException as failure:
            self._failure = failure
            raise
        return document

    def _start(self, reading: Reading) -> Iterator[Document]:
        import tempfile  # both here, since few corpora need them

        import zstandard

        stack = contextlib.ExitStack()
        self._remove = weakref.finalize(self, stack.close)
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="supratok-"))
        copy = Path(folder, "copy.jsonl.zst")
        self._copy = File(copy, "copy", ".zst")
        self._file = stack.enter_context(copy.open("wb"))
        self._writer = zstandard.ZstdCompressor(level=1).stream_writer(self._file, closefd=False)
        self._first, self._skipped_before = reading, reading.skipped.copy()
        return self._source(reading)

    def _write(self, document: Document | None, reading: Reading) -> None:
        try:
            if document is not None:
                record = {reading.lang_key: document.lang, reading.text_key: document.text}
                line = self._first.line or json_line(record)
                self._writer.write(line + b"\n")
                return
            self._writer.close()  # type: ignore[no-untyped-call]
            self._file.close()
        except OSError as error:
            raise CorpusError(
                f"{self._copy.path}: cannot keep a copy for the second pass ({error.strerror});"
                " set TMPDIR to a folder with room, or pass files"
            ) from error
        # Sources are read one after another: all that was counted since the start is this one's.
        self._skipped = self._first.skipped - self._skipped_before
        self._done = True

    def close(self) -> None:
        self._failure = self._failure or CorpusError("the corpus was closed")
        if self._rest is not None:
            self._remove()


Part: TypeAlias = Items | File | Once
