"""Two readings of any source give the same documents, in bounded memory."""

from __future__ import annotations

import gc
import gzip
import itertools
import json
import random
import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from corpora import (
    PACK,
    TEXTS,
    as_json,
    as_parquet,
    feed,
    message,
    packings,
    skips,
    twice,
    write,
)
from supratok.corpus import Corpus, CorpusError, open_corpus

# --- What may be passed ----------------------------------------------------------------------


def test_folder_is_read_below_and_sorted(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.txt", "a/b/c.TXT", "a.txt", "a/readme.pdf"):
        write(tmp_path / name, name.encode())
    assert twice(tmp_path) == ["a/b/c.TXT", "a/z.txt", "a.txt", "b.txt"]


def test_folder_without_a_known_file(tmp_path: Path) -> None:
    write(tmp_path / "a.pdf", b"")
    found = message(tmp_path)
    assert str(tmp_path) in found and ".jsonl" in found and ".zst" in found


def test_globs(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "a/x.txt", "a/b/y.txt", "c.jsonl"):
        write(tmp_path / name, name.encode() if name.endswith("txt") else as_json([name]))
    assert twice(f"{tmp_path}/*.txt") == ["a.txt", "b.txt"]
    assert twice(tmp_path / "?.txt") == ["a.txt", "b.txt"]
    everything = ["a/b/y.txt", "a/x.txt", "a.txt", "b.txt", "c.jsonl"]
    assert twice(f"{tmp_path}/**/*.txt") == everything[:-1]
    assert twice(f"{tmp_path}/*") == twice(f"{tmp_path}/**") == everything  # each file once
    found = message(f"{tmp_path}/*.gz")
    assert "*.gz" in found and "no file matches" in found


def test_brackets_in_the_name_of_a_file(tmp_path: Path) -> None:
    assert twice(write(tmp_path / "a[1].txt", b"one")) == ["one"]


def test_missing_file_and_unknown_suffix(tmp_path: Path) -> None:
    found = message(tmp_path / "none.txt")
    assert "none.txt" in found and "no such file" in found and "spelling" in found
    assert "no such file" in message("")
    assert "no such file" in message("a\0.txt")
    for name, data in (
        ("a.doc", b"\xff\xfe\x80"),
        ("a", b"a\0b"),
        ("a.x.gz", gzip.compress(b"\0")),
    ):
        found = message(write(tmp_path / name, data))
        assert name in found and "unknown suffix" in found and "--format" in found
        assert "text, lines, code" in found and "rename" not in found
    assert "truncated archive" in message(write(tmp_path / "b.gz", b""))


def test_broken_link_and_special_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").symlink_to(tmp_path / "gone.txt")
    assert "a.txt" in message(tmp_path)
    (tmp_path / "b.txt").symlink_to("/dev/null")
    assert "not a regular file" in message(tmp_path / "b.txt")


def test_file_that_vanishes_after_opening(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"one")
    documents = open_corpus(path)
    path.unlink()
    with pytest.raises(CorpusError, match=r"a\.txt: cannot be read \(No such file"):
        list(documents)


def test_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    path = write(tmp_path / "a.txt", b"one")
    monkeypatch.setattr(Path, "open", refuse)
    found = message(path)
    assert "a.txt" in found and "Permission denied" in found and "permissions" in found


def test_lists_of_paths(tmp_path: Path) -> None:
    one = write(tmp_path / "one.txt", b"1\n2")
    write(tmp_path / "sub/two.jsonl", as_json(["3"]))
    assert twice([one, tmp_path / "sub"]) == twice((str(one), f"{tmp_path}/s*")) == ["1\n2", "3"]
    assert twice([one, one]) == ["1\n2", "1\n2"]
    assert "gone.txt" in message([one, tmp_path / "gone.txt"])
    assert "gone.txt" in message([tmp_path / "sub", "gone.txt"])


def test_lists_of_strings_are_documents_unless_they_name_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "one.txt", b"1")
    assert twice(["one.txt"]) == twice(["one.tx?"]) == ["1"]
    for documents in (["one.txt", "a text"], ["see gone.txt"], ["gone.txt\n"], ["one.txt", "gone"]):
        assert twice(documents) == documents
    odd = ["*\0", "[" * 9000, "**bold**", "x" * 9000]
    assert twice(odd) == odd
    assert skips(["\ud800/*"]) == ([], {"lone surrogate": 1})
    for paths in (["one.txt", "gone.txt"], ("gone.txt",), ["gone.txt", "*.txt"]):
        found = message(paths)
        assert "gone.txt" in found and "spelling" in found and "iter(" in found
    assert twice(iter(["gone.txt"])) == ["gone.txt"]
    assert twice([]) == []


def test_iterables() -> None:
    expected = ["a", "b", "c"]
    mixed = ["a", {"text": "b", "id": 2}, "", {"text": ""}, "c"]
    assert twice(mixed) == twice(tuple(mixed)) == twice(iter(mixed)) == expected
    assert twice(item for item in mixed) == expected
    assert twice({"a": 0, "b": 0, "c": 0}.keys()) == expected
    assert twice(open_corpus(mixed)) == expected
    assert twice(iter([])) == []


class Rows:
    """Like a `datasets.Dataset`: starts again each time, and yields a dict for each row."""

    def __iter__(self) -> Iterator[dict[str, object]]:
        return iter([{"text": "a", "label": 0}, {"text": "b", "label": 1}])


class Splits(dict[str, Rows]):
    """Like a `datasets.DatasetDict`."""


def test_datasets_stand_in() -> None:
    assert twice(Rows()) == ["a", "b"]
    found = message(Splits(train=Rows(), test=Rows()))
    assert "Splits" in found and "train, test" in found and "dataset['train']" in found


def test_datasets() -> None:
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_dict({"text": ["a", "b", None], "label": [0, 1, 2]})
    assert skips(rows) == skips(rows.to_iterable_dataset()) == (["a", "b"], {"null": 1})
    found = message(datasets.DatasetDict(train=rows))
    assert "DatasetDict" in found and "train" in found


class DataFrame:
    """Like a table of pandas: yields the names of its columns."""

    columns = ("text", "id")

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)


class Derived(DataFrame):
    """Like a table of geopandas."""


def test_tables_are_refused() -> None:
    for table in (DataFrame(), Derived()):
        found = message(table)
        assert type(table).__name__ in found and "text, id" in found and "df['text']" in found


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables(library: str) -> None:
    table = pytest.importorskip(library).DataFrame({"id": [1, 2], "text": ["a", "b"]})
    found = message(table)
    assert "DataFrame" in found and "id, text" in found and "df['text']" in found
    assert twice(table["text"]) == ["a", "b"]


@pytest.mark.parametrize("source", [b"a.txt", 3, None, object()])
def test_sources_of_the_wrong_type(source: Any) -> None:
    found = message(source)
    assert type(source).__name__ in found and "pass a path" in found


def test_path_among_items_of_another_type() -> None:
    found = message([Path("a.txt"), 3])
    assert "item 1" in found and "Path" in found


# --- Sources that can be read once -----------------------------------------------------------


def temporary(folder: Path) -> list[Path]:
    return list(folder.glob("supratok-*"))


@pytest.fixture
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the temporary copies."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_abandoned_first_pass_loses_nothing(spool: Path) -> None:
    with open_corpus(str(number) for number in range(100)) as documents:
        assert list(itertools.islice(documents, 3)) == ["0", "1", "2"]
        assert list(itertools.islice(documents, 2)) == ["0", "1"]
        assert list(documents) == list(map(str, range(100)))
        assert len(temporary(spool)) == 1
    assert temporary(spool) == []


def test_copy_goes_with_its_corpus(spool: Path) -> None:
    documents = open_corpus(iter(TEXTS))
    assert temporary(spool) == []
    next(iter(documents))
    assert len(temporary(spool)) == 1
    del documents
    gc.collect()
    assert temporary(spool) == []


def test_closed_corpus_says_so() -> None:
    for passes in (0, 1):
        documents = open_corpus(iter(TEXTS))
        for _ in range(passes):
            list(documents)
        documents.close()
        documents.close()
        with pytest.raises(CorpusError, match="closed"):
            list(documents)


def test_overtaken_pass_does_not_end_early() -> None:
    with open_corpus(iter(TEXTS)) as documents:
        first = iter(documents)
        next(first)
        assert list(documents) == TEXTS
        with pytest.raises(CorpusError, match="overtook"):
            list(first)


def test_passes_over_the_copy_may_run_side_by_side() -> None:
    with open_corpus(iter(TEXTS)) as documents:
        assert list(documents) == TEXTS
        assert list(zip(documents, documents, strict=True)) == list(zip(TEXTS, TEXTS, strict=True))


def test_failed_source_fails_again() -> None:
    def failing() -> Iterator[str]:
        yield "a"
        raise RuntimeError("lost connection")

    with open_corpus(failing()) as documents:
        with pytest.raises(RuntimeError):
            list(documents)
        with pytest.raises(CorpusError, match="lost connection"):
            list(documents)
    with open_corpus(iter(["a", 3, "b"])) as documents:
        for _ in range(2):
            with pytest.raises(CorpusError, match=r"item 2.*int"):
                list(documents)


def test_copy_without_room() -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    documents = open_corpus(iter(TEXTS))
    next(iter(documents))
    part: Any = documents._parts[0]
    part._writer = type("Full", (), {"write": full})()
    with pytest.raises(CorpusError, match=r"supratok-.*No space left.*TMPDIR"):
        list(documents)
    documents.close()


def test_stdin_among_files_keeps_its_own_skips(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.txt", b"one\n\xff\n")
    feed(monkeypatch, b"two\n\xff\n\xff\n")
    found = skips([str(path), "-", str(path)], format="lines")
    assert found == (["one", "two", "one"], {"invalid UTF-8": 4})
    feed(monkeypatch, b"\xff\ntwo\n\xff\n")
    with open_corpus([str(path), "-"], skip_bad=True, format="lines") as documents:
        next(itertools.islice(documents, 1, None))  # stops midway through standard input
        list(documents)
        assert documents.skipped == {"invalid UTF-8": 3}


# --- Progress and memory ---------------------------------------------------------------------


@packings
@pytest.mark.parametrize("form", ["txt", "jsonl", "parquet"])
def test_progress(tmp_path: Path, form: str, packing: str) -> None:
    texts = [f"{number} {random.Random(number).random()}" for number in range(30_000)]
    data = {
        "txt": lambda: "\n".join(texts).encode(),
        "jsonl": lambda: as_json(texts),
        "parquet": lambda: as_parquet({"text": texts}),
    }[form]()
    path = write(tmp_path / f"a.{form}{packing}", PACK[packing](data))
    documents = open_corpus([path, path])
    total = 2 * path.stat().st_size
    assert documents.bytes_total == total and documents.bytes_read == 0
    for _ in range(2):
        seen = [documents.bytes_read for _ in documents]
        assert seen == sorted(seen) and len(set(seen)) >= 2
        assert documents.bytes_read == documents.bytes_total == total


def test_total_of_iterables(monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_corpus(["some text"]).bytes_total is None
    feed(monkeypatch, b"one\ntwo\n")
    with open_corpus("-") as documents:
        assert documents.bytes_total is None
        list(documents)
        assert documents.bytes_total is None and documents.bytes_read == 8
        list(documents)
        assert documents.bytes_total == documents.bytes_read > 0


def records(count: int) -> Iterator[bytes]:
    noise = random.Random(0)
    for _ in range(count):
        yield b'{"text": "%s"}\n' % noise.randbytes(500).hex().encode()


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
def test_memory_does_not_grow(tmp_path: Path, name: str) -> None:
    """Reading 20 MB of documents takes 3 MB."""
    opener: Any = {"l": open, "z": gzip.open, "t": zstandard.open}[name[-1]]
    with opener(tmp_path / name, "wb") as file:
        for record in records(20_000):
            file.write(record)
    assert peak(open_corpus(tmp_path / name)) < 3 << 20


def test_memory_of_a_generator_does_not_grow() -> None:
    """Neither during the copying nor during the reading of the copy."""
    with open_corpus(json.loads(record) for record in records(20_000)) as documents:
        assert peak(documents) < 3 << 20
        assert peak(documents) < 3 << 20


def test_memory_of_a_repetitive_archive_is_bounded(tmp_path: Path) -> None:
    """400 MB that pack into 40 KB."""
    with zstandard.open(tmp_path / "a.txt.zst", "wb") as file:
        for _ in range(400):
            file.write((b"the same " * 1000 + b"\n") * 116)
    for form in ("lines", "text"):
        assert peak(open_corpus(tmp_path / "a.txt.zst", format=form), 5_000) < 80 << 20


def peak(documents: Corpus, least: int = 20_000) -> int:
    tracemalloc.start()
    try:
        assert sum(1 for _ in documents) >= least
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
