"""Files and iterables become one stream of documents.

    corpus = open_corpus("data/*.jsonl.zst")
    for text in corpus: ...      # a first pass
    for text in corpus: ...      # and a second: the same documents in the same order
    for text, lang in corpus.documents(): ...   # with the language, where a record names it

Documents pass by one at a time and are never kept in memory. What can be read only once (standard
input, a generator) is copied to disk on the way.
"""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import os
import tempfile
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, NoReturn, TypeAlias

import zstandard

from .readers import (
    KNOWN,
    CorpusError,
    Document,
    Pass,
    json_line,
    keys,
    kind,
    read_file,
    read_items,
    read_stdin,
)

__all__ = ["Corpus", "CorpusError", "Document", "Languages", "Source", "open_corpus"]

Source: TypeAlias = str | os.PathLike[str] | Iterable[object]
Languages: TypeAlias = str | Mapping[str, str] | None  # one for all, or by pattern of file names


class Corpus(contextlib.AbstractContextManager["Corpus"]):
    """A stream of documents that can be read more than once and is never kept in memory.

    Made by `open_corpus`. Each iteration is a fresh pass; `bytes_read` and `skipped` speak of the
    latest one. `bytes_total` is set when a pass starts, and is None where it cannot be known.
    """

    def __init__(
        self, parts: list[_Part], new_pass: Callable[[], Pass], lang: Languages = None
    ) -> None:
        self._parts = parts
        self._lang = lang
        self._new_pass = new_pass
        self._pass = new_pass()
        self.bytes_total = self._size()  # a file that is not there fails now, not an hour later

    def __iter__(self) -> Iterator[str]:
        return (document.text for document in self.documents())

    def documents(self) -> Iterator[Document]:
        """A fresh pass over the texts, with the languages that their records name, or else those
        of their files."""
        now = self._pass = self._new_pass()
        self.bytes_total = self._size()
        for part in self._parts:
            lang = self._language(part)
            for document in part.read(now):
                yield document if document.lang or not lang else Document(document.text, lang)

    def _language(self, part: _Part) -> str | None:
        if not isinstance(self._lang, Mapping):
            return self._lang
        path = str(part.path) if isinstance(part, _File) else ""
        fits = (code for pattern, code in self._lang.items() if fnmatch.fnmatch(path, pattern))
        return next(fits, None)

    def _size(self) -> int | None:
        sizes = [part.size() for part in self._parts]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) else None

    @property
    def bytes_read(self) -> int:
        """Bytes of the files (as they lie on disk) that the latest pass has consumed."""
        return self._pass.bytes_read

    @property
    def line(self) -> bytes | None:
        """The line of JSON that the latest document came from, with all its other keys; None
        where it came from elsewhere."""
        return self._pass.line

    @property
    def skipped(self) -> Counter[str]:
        """How many records the latest pass left out, by reason."""
        return self._pass.skipped

    def close(self) -> None:
        """Remove the copies of what could be read only once."""
        for part in self._parts:
            if isinstance(part, _Once):
                part.close()

    def __exit__(self, *_: object) -> None:
        self.close()


# --- What was passed -------------------------------------------------------------------------


def open_corpus(
    source: Source,
    *,
    text_key: str = "text",
    lang_key: str = "lang",
    lang: Languages = None,
    whole_files: bool = False,
    skip_bad: bool = False,
) -> Corpus:
    """Documents from a file, a folder, a glob, "-" (standard input), a list of those, or an
    iterable of strings or of mappings with `text_key`.

    A list of strings is a list of documents, unless every one of them names something to read:

        open_corpus(["a.txt", "b.txt"])        # two files, if both exist
        open_corpus(["one text", "another"])   # two documents

    A record may name its language under `lang_key`. `lang` is the language of all others, or of
    those in some files: {"*/tr/*": "tr"}.
    """
    return Corpus(_parts(source), lambda: Pass(text_key, lang_key, whole_files, skip_bad), lang)


def _parts(source: Source) -> list[_Part]:
    if isinstance(source, (str, os.PathLike)):
        return _named(os.fsdecode(source))
    if isinstance(source, Mapping):
        raise CorpusError(
            f"a {type(source).__name__} is not a list of documents (its keys are: {keys(source)})"
            "; pass one of its values, such as the split dataset['train']"
        )
    if isinstance(source, (bytes, bytearray)) or not isinstance(source, Iterable):
        raise CorpusError(
            f"cannot read documents from a value of type {type(source).__name__};"
            " pass a path, or an iterable of strings or of mappings"
        )
    # A table of pandas or polars, which need not be installed, would yield its columns.
    if any(base.__name__ == "DataFrame" for base in type(source).__mro__):
        raise CorpusError(
            f"a {type(source).__name__} is not a list of documents (its columns are:"
            f" {keys(getattr(source, 'columns', source))}); pass one of them, such as df['text']"
        )
    if isinstance(source, (list, tuple)) and _are_paths(source):
        return [part for path in source for part in _named(os.fsdecode(path))]
    if isinstance(source, Iterator):
        return [_Once(lambda now: read_items(source, now))]
    return [_Items(source)]


def _are_paths(items: list[object] | tuple[object, ...]) -> bool:
    """Whether a list means files. A misspelt file must not become a document of one word."""
    if not items or not all(isinstance(item, (str, os.PathLike)) for item in items):
        return False
    names = [item for item in items if isinstance(item, str)]
    missing = next((name for name in names if not _exists(name)), None)
    if missing is None or len(names) < len(items):
        return True
    if all(_exists(name) or (kind(name) and name.split() == [name]) for name in names):
        raise CorpusError(
            f"{missing}: no such file, in a list that looks like paths; check the spelling, or"
            " pass an iterator, iter([...]), if these strings are documents"
        )
    return False


def _exists(name: str) -> bool:
    return name == "-" or os.path.exists(name) or bool(_matches(name))


def _matches(pattern: str) -> list[str]:
    if "\n" in pattern or not glob.has_magic(pattern):
        return []
    try:
        return glob.glob(pattern, recursive=True)
    except ValueError:  # what no path may hold, such as "\0"
        return []


def _named(name: str) -> list[_Part]:
    """The parts that a path, a folder, a glob or "-" stands for."""
    if name == "-":
        return [_Once(read_stdin)]
    matches = [name] if os.path.exists(name) else _matches(name)
    if not matches:
        what = "no file matches" if glob.has_magic(name) else "no such file or folder"
        raise CorpusError(f"{name!r}: {what}; check the spelling and the folder it starts from")
    paths = {path for match in matches for path in _below(match)}
    return [_file(path) for path in sorted(paths, key=lambda path: path.parts)]


def _below(name: str) -> list[Path]:
    """All files of a known format in a folder; of a file, itself."""
    if not os.path.isdir(name):
        return [Path(name)]
    walk = os.walk(name, onerror=_fail)
    paths = [Path(folder, file) for folder, _, files in walk for file in files if kind(file)]
    if not paths:
        raise CorpusError(f"{name}: no file of a known format in this folder; {KNOWN}")
    return paths


def _file(path: Path) -> _File:
    promise = kind(path)
    if promise is None:
        raise CorpusError(f"{path}: unknown suffix; rename it to say what it holds: {KNOWN}")
    if path.exists() and not path.is_file():
        raise CorpusError(f"{path}: not a regular file; pipe it in and read '-'")
    return _File(path, *promise)


def _fail(error: OSError, name: object = None) -> NoReturn:
    story = f"{name or error.filename}: cannot be read ({error.strerror or error})"
    raise CorpusError(f"{story}; check the file, its permissions and its disk") from error


# --- The parts of a corpus -------------------------------------------------------------------


class _Items(NamedTuple):
    """An iterable that starts anew each time it is iterated."""

    items: Iterable[object]

    def size(self) -> None:
        return None

    def read(self, now: Pass) -> Iterator[Document]:
        return read_items(self.items, now)


class _File(NamedTuple):
    """A file of a known format, opened anew for each pass."""

    path: Path
    form: str
    packing: str

    def size(self) -> int:
        try:
            return self.path.stat().st_size
        except OSError as error:
            _fail(error, self.path)

    def read(self, now: Pass) -> Iterator[Document]:
        end = now.bytes_read + self.size()
        try:
            yield from read_file(*self, now)
        except OSError as error:
            _fail(error, self.path)
        now.bytes_read = end


class _Once:
    """A source that can be read only once, copied to disk on the way for the passes that follow.

    The copy is a `.jsonl.zst` file like any other. A first pass that was left midway is finished,
    unseen, by the next one.
    """

    def __init__(self, source: Callable[[Pass], Iterator[Document]]) -> None:
        self._source = source
        self._rest: Iterator[Document] | None = None
        self._failure: BaseException | None = None
        self._done = False

    def size(self) -> int | None:
        return self._copy.size() if self._done and not self._failure else None

    def read(self, now: Pass) -> Iterator[Document]:
        first = self._rest is None
        while (document := self._next(now)) is not None:
            if first:
                yield document
            if first and self._done:
                raise CorpusError(
                    "a second pass overtook this one, over a source that can be read only once;"
                    " finish one pass before starting the next"
                )
        if not first:
            now.skipped.update(self._skipped)
            yield from self._copy.read(now)

    def _next(self, now: Pass) -> Document | None:
        """The next document, once it is copied; None at the end."""
        if self._failure is not None:
            raise CorpusError(
                f"the source can be read only once, and that failed ({self._failure!r});"
                " open it anew"
            ) from self._failure
        if self._done:
            return None
        try:
            self._rest = self._rest or self._start(now)
            document = next(self._rest, None)
            self._write(document, now)
        except BaseException as failure:
            self._failure = failure
            raise
        return document

    def _start(self, now: Pass) -> Iterator[Document]:
        stack = contextlib.ExitStack()
        self._remove = weakref.finalize(self, stack.close)
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="supratok-"))
        self._copy = _File(Path(folder, "copy.jsonl.zst"), "json", ".zst")
        self._file = stack.enter_context(self._copy.path.open("wb"))
        self._writer = zstandard.ZstdCompressor(level=1).stream_writer(self._file)
        self._first, self._skipped_before = now, now.skipped.copy()
        return self._source(now)

    def _write(self, document: Document | None, now: Pass) -> None:
        try:
            if document is not None:
                record = {now.lang_key: document.lang, now.text_key: document.text}
                line = self._first.line or json_line(record)
                self._writer.write(line + b"\n")
                return
            self._writer.flush(zstandard.FLUSH_FRAME)
            self._file.close()
        except OSError as error:
            raise CorpusError(
                f"{self._copy.path}: cannot keep a copy for the second pass ({error.strerror});"
                " set TMPDIR to a folder with room, or pass files"
            ) from error
        # Parts are read one after another: what was counted since the start is this part's.
        self._skipped = self._first.skipped - self._skipped_before
        self._done = True

    def close(self) -> None:
        self._failure = self._failure or CorpusError("the corpus was closed")
        if self._rest is not None:
            self._remove()


_Part: TypeAlias = _Items | _File | _Once
