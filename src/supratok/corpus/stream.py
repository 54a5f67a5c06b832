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
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import NamedTuple, NoReturn, TypeAlias, TypeVar

from ..common import _core
from ..common.packages import install_hint, is_installed
from ..common.phases import Progress
from ..common.threads import usable_threads
from .faults import CorpusError, keys
from .kinds import check_format, kind
from .lines import BEGIN, END, Sifter, is_json_lines, is_sampled
from .paths import LeftOut, describe, expand, find_files
from .readers import read_items, read_stdin
from .reading import Document, Reading
from .remote import is_url
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
        sample: Sample | None = None,
    ) -> None:
        self._parts, self.left_out = parts, left_out or {}
        self._lang = lang
        self._new_reading = new_reading
        self._reading, self.reached = new_reading(), dict[int, int]()
        self._sample = sample  # until its limit is found
        self.limit: int | None = None  # the highest chance in the sample; None: all are in it
        self.bytes_total = self._size()  # a missing file fails now, not an hour later

    def __iter__(self) -> Iterator[str]:
        return (document.text for document in self.documents())

    # --- Readings

    def documents(self) -> Iterator[Document]:
        """A new reading of the texts, with the languages that their records name, or else those of
        their files."""
        reading = self.start()
        for part in self._parts:
            yield from self._documents_of(part, reading)

    def _documents_of(self, part: Part, reading: Reading) -> Iterator[Document]:
        lang = self._language(part)
        for document in part.read(reading):
            if is_sampled(document.text, self.limit):
                yield document if document.lang or not lang else Document(document.text, lang)

    def sifter(self, hold_out: int | None, held_out: Callable[[str, int], object]) -> Sifter:
        """Has the core decide on the lines of JSON of the reading that was started."""
        return Sifter(self._reading, hold_out, self.limit, held_out)

    def portions(
        self, sifter: Sifter | None, threads: int
    ) -> Iterator[_core.Lines | Document | None]:
        """The reading that was started, for a table of the core, which counts what this yields:
        with a sifter, lines of JSON; and the documents of all other parts, each followed by None.

        After lines and after None, `reached` says how far it is."""
        groups = itertools.groupby(
            enumerate(self._parts), lambda part: sifter is not None and is_json_lines(part[1])
        )
        for is_lines, group in groups:
            parts = dict(group)
            if is_lines and sifter is not None:
                yield from self._lines_of(parts, sifter, threads)
                continue
            for number, part in parts.items():
                if self.reached.get(number) != END:
                    yield from self._documents_of(part, self._reading)
                    self.reached[number] = END
                    yield None

    def _lines_of(
        self, parts: Mapping[int, Part], sifter: Sifter, threads: int
    ) -> Iterator[_core.Lines | Document]:
        reached = [self.reached.get(number, BEGIN) for number in parts]
        files = [part for part in parts.values() if isinstance(part, File)]
        for item in sifter.read(files, threads, reached):
            self.reached.update(zip(parts, reached, strict=True))
            yield item
        self.reached.update(dict.fromkeys(parts, END))

    def find_sample(self, threads: int | None = None, progress: Progress | None = None) -> None:
        """Find which documents are in the sample, if the corpus has one: this takes a reading. Each
        reading does so first, if nobody has before."""
        if self._sample is None:
            return
        workers, shown = usable_threads(threads), progress or Progress()
        sampler, sample = _core.Sampler(*self._sample), self._sample
        self._sample = None
        self.start()
        sifter = self.sifter(None, lambda *_: None)
        found = (one for one in self.portions(sifter, workers) if one is not None)
        portions = shown_reading(self, found, "sample", shown)
        try:
            sampler.count(map(as_counted, portions), workers)
        except BaseException:
            self._sample = sample
            raise
        self.limit = sampler.limit()
        shown.end()

    def start(self, reached: Mapping[int, int] | None = None) -> Reading:
        """Begin a new reading. `reached`, for `portions`: by the number of a part, the line where
        to begin, or END."""
        self.find_sample()
        self._reading = self._new_reading()
        self.reached = dict(reached or {})
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
            size = part.size()
            if not isinstance(part, File) or size is None:
                return None
            found[part.path.suffix.lower()] += size
        return found

    def identity(self) -> list[list[object]]:
        """What is read: of each file its name, size and time of change. A source without these
        cannot be read again by another process."""
        found = [part.identity() if isinstance(part, File) else None for part in self._parts]
        known = [one for one in found if one is not None]
        if len(known) < len(found):
            raise CorpusError(
                "only files can be read again after a crash; write standard input and iterables to"
                " a file first, or leave the work folder out"
            )
        return known

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


class Sample(NamedTuple):
    """How much to read of a corpus; None: no limit."""

    max_documents: int | None
    max_bytes: int | None

    def checked(self) -> Sample:
        for name, value in self._asdict().items():
            if value is not None and not (isinstance(value, int) and 1 <= value < 2**63):
                raise CorpusError(f"{name}={value!r}: must be a whole number, at least 1")
        return self


T = TypeVar("T")


def shown_reading(
    corpus: Corpus, reading: Iterable[T], phase: str, progress: Progress
) -> Generator[T, None, None]:
    """What a reading of the corpus yields, with progress."""
    sized = corpus.bytes_total is not None
    progress.start(phase, corpus.bytes_total, "B" if sized else "documents")
    for number, portion in enumerate(reading):
        if number % 64 == 0 or isinstance(portion, _core.Lines):
            progress.at(corpus.bytes_read if sized else number, corpus.bytes_total)
        yield portion


def as_counted(portion: _core.Lines | Document) -> _core.Lines | str:
    """As a table of the core takes it."""
    return portion if isinstance(portion, _core.Lines) else portion.text


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
    max_documents: int | None = None,
    max_bytes: int | None = None,
) -> Corpus:
    """Open a file, a folder, a glob, "-" (standard input), a list of those, or an iterable of
    strings or of mappings with `text_key`. They may be addresses (s3://, gs://, hf://, https://),
    which are read as streams, through fsspec.

    A list of strings is a list of documents, unless every one of them names a file or folder:

        open_corpus(["a.txt", "b.txt"])        # two files, if both exist
        open_corpus(["one text", "another"])   # two documents

    `format` is one of `kinds.FORMATS`: "auto" goes by the suffix. A text file is split into
    documents at blank lines (see corpus/texts.py), with "lines" into its lines; with `whole_files`
    it is one document.

    A record may name its language under `lang_key`. `lang` is the language of all other records,
    or of those in some files: {"*/tr/*": "tr"}.

    `max_documents` and `max_bytes` (of text, as UTF-8) ask for a sample. It is spread over the
    whole corpus: a hash of each text decides, not the order, the files or the number of threads.
    It has exactly so many documents, or as many as fit into the bytes, but equal texts are all in
    it or none is. To find it, the corpus is read once more.
    """
    sample = (
        Sample(max_documents, max_bytes).checked()
        if (max_documents, max_bytes) != (None, None)
        else None
    )
    if check_format(format) == "lines" and whole_files:
        raise CorpusError("whole_files with format='lines': choose one of them")
    left_out: LeftOut = {}
    named = functools.partial(_named, form=format, whole=whole_files, left_out=left_out)
    parts = _parts(source, named)
    _check_packages(parts)
    return Corpus(parts, lambda: Reading(text_key, lang_key, skip_bad), lang, left_out, sample)


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
    local = (name for name in missing if not is_url(name))
    absent = [name for name in local if next(expand(name), None) is None]
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
