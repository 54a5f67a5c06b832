"""Files of JSON lines that the core reads: the same documents, totals and errors as in Python."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from corpora import PACK, TEXTS, as_json, feed, write
from supratok.common import _core
from supratok.common.progress import Progress
from supratok.corpus import CorpusError, open_corpus, readers, records
from supratok.corpus.split import Split

BAD = [
    b'{"text": 1}',
    b"{",
    b"nonsense",
    b'{"text": "\xff"}',
    b'{"body": "a"}',
    b'{"text": "\\ud800"}',
]


@pytest.fixture(autouse=True)
def small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that small files have several; and the read blocks are smaller still."""
    monkeypatch.setattr(records, "PORTION", 500)
    monkeypatch.setattr(readers, "BLOCK", 128)
    monkeypatch.setattr(readers, "_HEAD", 64)


def outcome(source: Any, fast: bool, threads: int = 2, **options: Any) -> Any:
    """All that a first reading finds, or its error."""
    table = _core.WordTable(10)
    try:
        with open_corpus(source, **options) as corpus:
            split = Split(corpus, None, threads, Progress())
            if fast:
                table.count(split.portions("first"), threads)
            else:
                table.count((document.text for document in split.decide("first")), threads)
            read = corpus.bytes_read, corpus.bytes_total
            later = sorted(split.texts("later"))
    except CorpusError as error:
        return str(error)
    words, counts = table.rows()
    return (
        split.totals,
        split.deciding_texts(),
        split.measuring_texts(),
        dict(zip(words, counts.tolist(), strict=True)),
        read,
        later,
    )


def check_same(source: Any, **options: Any) -> Any:
    expected = outcome(source, False, **options)
    for threads in (1, 3):
        assert outcome(source, True, threads, **options) == expected
    return expected


def lines_of(noise: random.Random, count: int, bad: float) -> bytes:
    """Lines of every kind, in any order."""
    lines = []
    for _ in range(count):
        text = "".join(noise.choices(["the ", "cat ", "é", "日本", "\n", '"', "😀", "x" * 50], k=9))
        record = {"id": noise.randint(0, 9), "text": text, "more": [{"a": None}]}
        lines.append(json.dumps(record, ensure_ascii=noise.random() < 0.5).encode())
        if noise.random() < 0.1:
            odd = [
                b"",
                b"  \r",
                b'{"text": ""}',
                b'{"text": "a", "text": "b"}',
                b'{"te\\u0078t":"c"}',
            ]
            lines.append(noise.choice([*odd, b'{"text": "d", "n": NaN}']))
        if noise.random() < bad:
            lines.append(noise.choice(BAD))
    return noise.choice((b"\n", b"\r\n")).join(lines) + noise.choice((b"", b"\n"))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("bad", [0.0, 0.02, 0.3])
def test_files_of_every_kind(tmp_path: Path, seed: int, bad: float) -> None:
    noise = random.Random(f"{seed} {bad}")
    for number in range(5):
        packing = noise.choice(list(PACK))
        data = PACK[packing](lines_of(noise, noise.choice((0, 1, 30, 90)), bad))
        write(tmp_path / f"{number}.jsonl{packing}", data)
    write(tmp_path / "2b.txt", b"other text\n\nmore of it")
    is_error = isinstance(check_same(tmp_path), str)
    assert is_error or bad < 0.1
    assert not is_error or bad > 0
    assert not isinstance(check_same(tmp_path, skip_bad=True), str)


def test_the_first_bad_line_is_raised(tmp_path: Path) -> None:
    good = as_json(TEXTS) * 40
    for number in range(4):
        write(tmp_path / f"{number}.jsonl", good + (BAD[number] + b"\n" + good if number else b""))
    assert f"1.jsonl, line {5 * 40 + 1}: malformed JSON" in check_same(tmp_path)


@pytest.mark.parametrize(
    "start", [b"[\n", b"\n{\n", b"\r\n  [  \r\n", b"\xef\xbb\xbf{", b"\n" * 3000 + b"{\n"]
)
def test_one_value_over_several_lines(tmp_path: Path, start: bytes) -> None:
    path = write(tmp_path / "a.jsonl", start + as_json(TEXTS))
    other = write(tmp_path / "b.jsonl", as_json(["x"]))
    assert "a.jsonl" in check_same([path, other])
    assert check_same([path, other], skip_bad=True)[0].skipped == {"malformed JSON": 1}


def test_faults_that_end_a_file(tmp_path: Path) -> None:
    noise = random.Random(0)
    whole = lines_of(noise, 300, 0.0)
    for packing in (".gz", ".zst", ".xz"):
        packed = PACK[packing](whole)
        path = write(tmp_path / f"a.jsonl{packing}", packed[: len(packed) * 2 // 3])
        later = write(tmp_path / "b.jsonl", as_json(TEXTS))
        assert "truncated archive" in check_same([path, later])
        assert check_same([path, later], skip_bad=True)[0].skipped == {"truncated archive": 1}
        path.write_bytes(b"no archive")
        assert "archive" in check_same([path, later])
    wide = write(tmp_path / "c.jsonl", "text".encode("utf-16"))
    assert "not UTF-8" in check_same(wide) == check_same(wide, skip_bad=True)


def test_a_line_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("readers", "lines", "texts"):
        monkeypatch.setattr(f"supratok.corpus.{module}.LONGEST_RECORD", 1000)
    for size in (970, 985, 986, 987, 988, 1100, 5000):
        for end in (b"", b"\n", b"\r\n", b"\n" + as_json(["b"])):
            data = as_json(["a"]) * 3 + b'{"text": "%s"}' % (b"x" * size) + end
            path = write(tmp_path / "a.jsonl", data)
            check_same(path)
            check_same(path, skip_bad=True)
    assert "line 4" in check_same(write(tmp_path / "a.jsonl", data))
    first = write(tmp_path / "b.jsonl", b"x" * 2000 + b"\n{\n" + as_json(["a"]))
    assert check_same(first, skip_bad=True) == outcome(first, False, skip_bad=True)


def test_portions_are_the_lines() -> None:
    noise = random.Random(3)
    for _ in range(300):
        data = b"".join(noise.choices([b"a", b"\n", b"\r\n", b"b" * 9, b"c" * 30], k=40))
        cuts = sorted(noise.choices(range(len(data) + 1), k=9))
        blocks = [data[a:b] for a, b in itertools.pairwise([0, *cuts, len(data)])]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(records, "PORTION", noise.choice((1, 20)))
            portions = list(records.json_portions(blocks, 20))
        found: list[bytes | None] = []
        for portion in portions:
            if portion is None:
                found.append(None)
                continue
            lines = b"".join(portion).split(b"\n")
            found += [
                line.removesuffix(b"\r") if len(line) <= 20 else None
                for line in (lines if lines[-1] else lines[:-1])
            ]
        expected = list(records.json_lines(blocks, 20))
        assert found == (expected if expected[-1] != b"" else expected[:-1])


def test_small_corpora_and_empty_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.jsonl", b"\n\n")
    assert "the corpus is empty" in check_same(path)
    assert "no document could be read" in check_same(
        write(tmp_path / "b.jsonl", BAD[0]), skip_bad=True
    )
    held_out = next(f"text {n}" for n in range(999) if _core.digest(f"text {n}") < 2**64 // 20)
    totals = check_same(write(tmp_path / "c.jsonl", as_json([held_out])))[0]
    assert (totals.documents, totals.training_documents, totals.held_out_documents) == (1, 1, 0)
    for fast in (False, True):
        feed(monkeypatch, as_json(TEXTS))
        assert (
            outcome(["-", str(write(tmp_path / "d.jsonl", as_json(["x"])))], fast)[0].documents == 6
        )


def test_the_last_line_without_an_end(tmp_path: Path) -> None:
    for data in (b'{"text": "a"}', b'\n{"text": "a"}', b'{"text": "b"}\n{"text": "a"}'):
        found = check_same(write(tmp_path / "a.jsonl", data))
        assert found[0].documents == data.count(b"text")


def test_a_corpus_that_changes_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", as_json(TEXTS * 9))
    with open_corpus(path) as corpus:
        split = Split(corpus, None, 2, Progress())
        _core.WordTable(10).count(split.portions("first"), 2)
        write(path, as_json(TEXTS * 8))
        with pytest.raises(CorpusError, match="has changed since the first reading: 40 documents"):
            list(split.texts("later"))


def test_threads_end_with_the_reading(tmp_path: Path) -> None:
    for number in range(6):
        write(tmp_path / f"{number}.jsonl", as_json(TEXTS * 50))

    def stopped(portions: Iterator[Any]) -> Iterator[Any]:
        yield next(portions)
        raise KeyboardInterrupt

    with open_corpus(tmp_path) as corpus:
        split = Split(corpus, None, 3, Progress())
        with pytest.raises(KeyboardInterrupt):
            _core.WordTable(10).count(stopped(split.portions("first")), 3)
    names = [thread.name for thread in threading.enumerate()]
    assert "supratok-unpack" not in names


def test_no_thread_can_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise RuntimeError("can't start new thread")

    path = write(tmp_path / "a.jsonl.zst", PACK[".zst"](as_json(TEXTS * 50)))
    expected = outcome(path, False)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert outcome(path, True) == expected


MEASURE = """
import resource, sys
from supratok.common import _core
from supratok.common.progress import Progress
from supratok.corpus import open_corpus
from supratok.corpus.split import Split

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

before = peak()
with open_corpus(sys.argv[1]) as corpus:
    split = Split(corpus, None, 2, Progress())
    _core.WordTable(10).count(split.portions("first"), 2)
print(split.totals.documents, peak() - before)
"""


def test_memory_is_bounded(tmp_path: Path) -> None:
    """Of 100 MB that pack into little, a few portions are in memory at any time."""
    path = tmp_path / "a.jsonl.zst"
    with zstandard.open(path, "wb") as file:
        for number in range(100):
            file.write(as_json([f"the same words {number} " * 500]) * 100)
    command = [sys.executable, "-c", MEASURE, str(path)]
    found = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
    assert int(found[0]) == 10_000 and int(found[1]) < 60
