"""Read files and iterables as one stream of documents.

    corpus = open_corpus("data/*.jsonl.zst")
    for text in corpus: ...      # a first reading
    for text in corpus: ...      # and a second: the same documents in the same order
    for text, lang in corpus.documents(): ...   # with the language, if a record names it

A corpus keeps no documents in memory. It copies a source that can be read only once (standard
input, a generator) to disk during the first reading.
"""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from ..common.packages import install_hint, is_installed
from .faults import CorpusError, keys
from .readers import KNOWN, Document, Reading, kind, read_items, read_stdin
from .sources import File, Items, Once, Part, refuse

Source: TypeAlias = str | os.PathLike[str] | Iterable[object]
Languages: TypeAlias = str | Mapping[str, str] | None  # one for all, or by pattern of file names


class Corpus(contextlib.AbstractContextManager["Corpus"]):
    """A stream of documents that can be read more than once and is never kept in memory.

    `open_corpus` makes it. Each iteration is a new reading; `bytes_read` and `skipped` describe the
    latest one. `bytes_total` is set when a reading starts, and is None if it cannot be known.
    """

    def __init__(
        self, parts: list[Part], new_reading: Callable[[], Reading], lang: Languages = None
    ) -> None:
        self._parts = parts
        self._lang = lang
        self._new_reading = new_reading
        self._reading = new_reading()
        self.bytes_total = self._size()  # a missing file fails now, not an hour later

    def __iter__(self) -> Iterator[str]:
        return (document.text for document in self.documents())

    def documents(self) -> Iterator[Document]:
        """A new reading of the texts, with the languages that their records name, or else those of
        their files."""
        reading = self._reading = self._new_reading()
        self.bytes_total = self._size()
        for part in self._parts:
            lang = self._language(part)
            for document in part.read(reading):
                yield document if document.lang or not lang else Document(document.text, lang)

    def _language(self, part: Part) -> str | None:
        if not isinstance(self._lang, Mapping):
            return self._lang
        path = str(part.path) if isinstance(part, File) else ""
        fits = (code for pattern, code in self._lang.items() if fnmatch.fnmatch(path, pattern))
        return next(fits, None)

    def _size(self) -> int | None:
        sizes = [part.size() for part in self._parts]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) else None

    def sizes(self) -> Counter[str] | None:
        """Bytes on disk by the last suffix of the files (".txt", ".zst"); None if not all of the
        corpus is files."""
        found: Counter[str] = Counter()
        for part in self._parts:
            if not isinstance(part, File):
                return None
            found[part.path.suffix.lower()] += part.size()
        return found

    @property
    def files(self) -> list[str]:
        """The files that it reads; "-" for standard input."""
        names = (part.name for part in self._parts if isinstance(part, (File, Once)))
        return [name for name in names if name]

    @property
    def bytes_read(self) -> int:
        """Bytes of the files (packed, as on disk) that the latest reading has consumed."""
        return self._reading.bytes_read

    @property
    def line(self) -> bytes | None:
        """The line of JSON that holds the latest document, with all its other keys; None if it
        comes from another format."""
        return self._reading.line

    @property
    def skipped(self) -> Counter[str]:
        """How many records the latest reading skipped, by reason."""
        return self._reading.skipped

    def close(self) -> None:
        """Remove the copies of sources that could be read only once."""
        for part in self._parts:
            if isinstance(part, Once):
                part.close()

    def __exit__(self, *_: object) -> None:
        self.close()


# --- From a path or an iterable to parts -----------------------------------------------------


def open_corpus(
    source: Source,
    *,
    text_key: str = "text",
    lang_key: str = "lang",
    lang: Languages = None,
    whole_files: bool = False,
    skip_bad: bool = False,
) -> Corpus:
    """Open a file, a folder, a glob, "-" (standard input), a list of those, or an iterable of
    strings or of mappings with `text_key`.

    A list of strings is a list of documents, unless every one of them names a file or folder:

        open_corpus(["a.txt", "b.txt"])        # two files, if both exist
        open_corpus(["one text", "another"])   # two documents

    A record may name its language under `lang_key`. `lang` is the language of all other records,
    or of those in some files: {"*/tr/*": "tr"}.
    """
    return Corpus(_parts(source), lambda: Reading(text_key, lang_key, whole_files, skip_bad), lang)


def _parts(source: Source) -> list[Part]:
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
    # By name, since pandas and polars may not be installed: iterating yields column names.
    if any(base.__name__ == "DataFrame" for base in type(source).__mro__):
        raise CorpusError(
            f"a {type(source).__name__} is not a list of documents (its columns are:"
            f" {keys(getattr(source, 'columns', source))}); pass one of them, such as df['text']"
        )
    if isinstance(source, (list, tuple)) and _are_paths(source):
        return [part for path in source for part in _named(os.fsdecode(path))]
    if isinstance(source, Iterator):
        return [Once(lambda reading: read_items(source, reading))]
    return [Items(source)]


def _are_paths(items: list[object] | tuple[object, ...]) -> bool:
    """Whether a list names files. A misspelt file must not become a document of one word."""
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
    except ValueError:  # a character that no path may hold, such as "\0"
        return []


def _named(name: str) -> list[Part]:
    """The parts that a path, a folder, a glob or "-" names."""
    if name == "-":
        return [Once(read_stdin, name)]
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
    walk = os.walk(name, onerror=refuse)
    paths = [Path(folder, file) for folder, _, files in walk for file in files if kind(file)]
    if not paths:
        raise CorpusError(f"{name}: no file of a known format in this folder; {KNOWN}")
    return paths


def _file(path: Path) -> File:
    found = kind(path)
    if found is None:
        raise CorpusError(f"{path}: unknown suffix; rename it to say what it holds: {KNOWN}")
    if path.exists() and not path.is_file():
        raise CorpusError(f"{path}: not a regular file; pipe it in and read '-'")
    if found[0] == "parquet" and not is_installed("pyarrow"):
        hint = install_hint("parquet", "pyarrow")
        raise CorpusError(f"{path}: reading it needs the package 'pyarrow': {hint}")
    return File(path, *found)
