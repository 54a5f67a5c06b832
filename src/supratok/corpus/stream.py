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
import functools
import glob
import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NoReturn, TypeAlias

from ..common import _core
from ..common.packages import install_hint, is_installed
from .faults import CorpusError, keys
from .kinds import check_format, kind
from .lines import Sifter, is_json_lines
from .paths import LeftOut, describe, expand, find_files, is_url
from .readers import read_items, read_stdin
from .reading import Document, Reading
from .sources import File, Items, Once, Part

Source: TypeAlias = str | os.PathLike[str] | Iterable[object]
Languages: TypeAlias = str | Mapping[str, str] | None  # one for all, or by pattern of file names


class Corpus(contextlib.AbstractContextManager["Corpus"]):
    """A stream of documents that can be read more than once and is never kept in memory.

    `open_corpus` makes it. Each iteration is a new reading; `bytes_read` and `skipped` describe the
    latest one. `bytes_total` is set when a reading starts, and is None if it cannot be known.
    `left_out` holds the names of the files that are not read, by reason.
    """

    def __init__(
        self,
        parts: list[Part],
        new_reading: Callable[[], Reading],
        lang: Languages = None,
        left_out: LeftOut | None = None,
    ) -> None:
        self._parts, self.left_out = parts, left_out or {}
        self._lang = lang
        self._new_reading = new_reading
        self._reading = new_reading()
        self.bytes_total = self._size()  # a missing file fails now, not an hour later

    def __iter__(self) -> Iterator[str]:
        return (document.text for document in self.documents())

    def documents(self) -> Iterator[Document]:
        """A new reading of the texts, with the languages that their records name, or else those of
        their files."""
        reading = self.start_reading()
        for part in self._parts:
            lang = self._language(part)
            for document in part.read(reading):
                yield document if document.lang or not lang else Document(document.text, lang)

    def portions(self, sifter: Sifter, threads: int) -> Iterator[_core.Lines | Document]:
        """A new reading, for tables of the core: lines of JSON, which the core sifts, and the
        documents of all other parts. `sifter` must be made of `start_reading`."""
        for is_lines, parts in itertools.groupby(self._parts, is_json_lines):
            if is_lines:
                yield from sifter.read([part for part in parts if isinstance(part, File)], threads)
            else:
                for part in parts:
                    yield from part.read(self._reading)

    def start_reading(self) -> Reading:
        self._reading = self._new_reading()
        self.bytes_total = self._size()
        return self._reading

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

    def describe_left_out(self) -> str:
        """The files, and the records of the latest reading, that are left out, in one line; empty
        if nothing is."""
        return describe(self.left_out, self.skipped)

    def refuse_empty(self) -> NoReturn:
        """Raise after a reading without a document."""
        if self.skipped:
            raise CorpusError(
                f"no document could be read ({self.describe_left_out()}); mend the files, or name"
                " the key with --text-key and the format with --format"
            )
        why = self.describe_left_out()
        found = f"no documents were found{f' ({why})' if why else ''}"
        raise CorpusError(f"the corpus is empty: {found}; check what was passed")

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
    format: str = "auto",
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

    `format` is one of `kinds.FORMATS`: "auto" goes by the suffix. A text file is split into
    documents at blank lines (see corpus/texts.py), with "lines" into its lines; with `whole_files`
    it is one document.

    A record may name its language under `lang_key`. `lang` is the language of all other records,
    or of those in some files: {"*/tr/*": "tr"}.
    """
    if check_format(format) == "lines" and whole_files:
        raise CorpusError("whole_files with format='lines': choose one of them")
    left_out: LeftOut = {}
    named = functools.partial(_named, form=format, whole=whole_files, left_out=left_out)
    parts = _parts(source, named)
    _check_packages(parts)
    return Corpus(parts, lambda: Reading(text_key, lang_key, skip_bad), lang, left_out)


def _check_packages(parts: list[Part]) -> None:
    """A package that is missing fails now, not when its file is reached."""
    tables = (part for part in parts if isinstance(part, File) and part.form == "parquet")
    if (first := next(tables, None)) is not None and not is_installed("pyarrow"):
        hint = install_hint("parquet", "pyarrow")
        raise CorpusError(f"{first.path}: reading it needs the package 'pyarrow': {hint}")


def _parts(source: Source, named: Callable[[str], list[Part]]) -> list[Part]:
    if isinstance(source, (str, os.PathLike)):
        return named(os.fsdecode(source))
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
        return [part for path in source for part in named(os.fsdecode(path))]
    if isinstance(source, Iterator):
        return [Once(lambda reading: read_items(source, reading))]
    return [Items(source)]


def _named(name: str, form: str, whole: bool, left_out: LeftOut) -> list[Part]:
    """The parts that a path, a folder, a glob or "-" names."""
    if name == "-":
        return [Once(functools.partial(read_stdin, form, whole), name)]
    files = find_files(name, form, left_out)
    return [
        file._replace(form="whole") if whole and file.form in ("text", "code") else file
        for file in files
    ]


def _are_paths(items: list[object] | tuple[object, ...]) -> bool:
    """Whether a list names files. A misspelt file must not become a document of one word."""
    if not items or not all(isinstance(item, (str, os.PathLike)) for item in items):
        return False
    names = [item for item in items if isinstance(item, str)]
    if len(names) < len(items):
        return True
    missing = [name for name in names if name != "-" and not os.path.exists(name)]
    # Decided before any glob is looked for: a list of texts must not walk the disk.
    if not all(
        _is_word(name) and (_looks_like_path(name) or glob.has_magic(name)) for name in missing
    ):
        return False
    absent = [name for name in missing if next(expand(name), None) is None]
    if absent and all(map(_looks_like_path, absent)):
        raise CorpusError(
            f"{absent[0]}: no such file, in a list that looks like paths; check the spelling, or"
            " pass an iterator, iter([...]), if these strings are documents"
        )
    return not absent


def _is_word(name: str) -> bool:
    return len(name) < 256 and name.split() == [name]


def _looks_like_path(name: str) -> bool:
    """By a suffix of data, or as an address. (Words such as "node.js" are no paths.)"""
    return kind(name)[0] in ("text", "jsonl", "json", "parquet") or is_url(name)
