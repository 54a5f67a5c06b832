"""JSON arrays and lines: every record, in linear time and bounded memory."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from corpora import PACK, SKIP, TEXTS, as_json, feed, message, packings, skips, twice, write
from supratok.corpus import open_corpus, records
from supratok.corpus.records import json_array, json_lines

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def blocks(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


@given(st.lists(VALUES, max_size=6), st.sampled_from([None, 1]), st.booleans(), st.integers(1, 9))
def test_an_array_comes_back(values: list[Any], indent: int | None, ascii: bool, size: int) -> None:
    data = json.dumps(values, indent=indent, ensure_ascii=ascii).encode(errors="surrogatepass")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "BLOCK", 1)
        found = list(json_array(blocks(b" \n" + data + b"\r\n", size), 1 << 20))
    assert [item.value for item in found] == values
    for item in found:
        assert item.line is None or (json.loads(item.line) == item.value and b"\n" not in item.line)


@packings
@pytest.mark.parametrize("indent", [None, 2])
def test_arrays_of_records_and_texts(tmp_path: Path, packing: str, indent: int | None) -> None:
    values = [{"text": TEXTS[0], "lang": "tr"}, *TEXTS[1:], "", {"text": ""}]
    data = json.dumps(values, indent=indent, ensure_ascii=False).encode()
    path = write(tmp_path / f"a.json{packing}", PACK[packing](b"\xef\xbb\xbf\n" + data))
    assert twice(path) == TEXTS
    assert next(iter(open_corpus(path).documents())).lang == "tr"
    assert twice(write(tmp_path / "b.json", as_json(TEXTS))) == TEXTS  # lines, as before
    assert twice(write(tmp_path / "c.json", b"[]")) == twice(write(tmp_path / "d.json", b"")) == []


def test_the_line_of_a_record_keeps_its_other_keys(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", json.dumps([{"text": "a", "id": 7}, "b"], indent=1).encode())
    corpus = open_corpus(path)
    lines = [corpus.line for _ in corpus]
    assert lines[0] is not None and json.loads(lines[0]) == {"text": "a", "id": 7}
    assert lines[1] is None


def test_bad_records_of_an_array(tmp_path: Path) -> None:
    data = b'["a", {"body": 1}, 3, {"text": null}, {"text": "\xff"}, "\\ud800", {"text": "b"}]'
    path = write(tmp_path / "a.json", data)
    found = message(path)
    assert "a.json, record 2: " in found and "--text-key" in found and SKIP in found
    reasons = {"missing key", "not an object", "null", "invalid UTF-8", "lone surrogate"}
    assert skips(path) == (["a", "b"], dict.fromkeys(reasons, 1))


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        (b"", "at its end"),
        (b', {"text"', "at its end"),
        (b', "b', "Unterminated string"),
        (b' "b"]', "comma"),
        (b", b" + b" " * 99 + b"]", "Expecting value"),
        (b"] x", "follows"),
        (b", " + b"[" * 100_000, ""),
    ],
)
def test_a_malformed_array(tmp_path: Path, rest: bytes, words: str) -> None:
    path = write(tmp_path / "a.json", b'["a"' + rest)
    found = message(path)
    assert "a.json: malformed JSON" in found and words in found and SKIP in found
    assert skips(path) == (["a"], {"malformed JSON": 1})


def test_one_object_over_several_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = json.dumps({"text": "a", "id": 1}, indent=2).encode()
    for name in ("a.json", "a.jsonl"):
        path = write(tmp_path / name, data)
        found = message(path)
        assert name in found and "over several lines" in found and "one line" in found
        assert skips(path) == ([], {"malformed JSON": 1})
    array = json.dumps([{"text": "a"}], indent=2).encode()
    path = write(tmp_path / "b.jsonl", array)
    assert "--format json" in message(path)
    assert twice(path, format="json") == ["a"]
    feed(monkeypatch, array)
    assert twice("-", format="json") == ["a"]


def test_json_lines_have_a_limit() -> None:
    lines = [b"x" * length for length in (3, 10, 11, 0, 200, 10)]
    for end in (b"", b"\n"):
        data = b"\n".join(lines) + end
        for size in (1, 3, 7, 1000):
            found = list(json_lines(blocks(data, size), 10))
            expected = [line if len(line) <= 10 else None for line in lines] + [b""] * len(end)
            assert found == expected
    assert list(json_lines(blocks(b"x" * 99, 5), 10)) == [None]


def test_a_record_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bad in lines, and the end of an array; never more memory than the limit asks for."""
    monkeypatch.setattr("supratok.corpus.readers.LONGEST_RECORD", 1 << 20)
    for name, start, end in (
        ("a.jsonl.zst", b'{"text": "a"}\n{"text": "', b'"}\n{"text": "b"}\n'),
        ("a.json.zst", b'[{"text": "a"},\n{"text": "', b'"}, {"text": "b"}]'),
    ):
        path = tmp_path / name
        with zstandard.open(path, "wb") as file:
            file.write(start)
            for _ in range(300):
                file.write(b"x" * 1_000_000)
            file.write(end)
        tracemalloc.start()
        documents, skipped = skips(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert skipped == {"too long": 1} and peak < 100 << 20
        assert documents == (["a", "b"] if "jsonl" in name else ["a"])
        found = message(path)
        assert "MiB" in found and "split it" in found and SKIP in found


def test_a_long_value_takes_linear_time() -> None:
    """What is decoded again and again is bounded by twice the value, in all by four times."""
    seen = 0
    data = json.dumps(["x" * 3_000_000, 1]).encode()
    with pytest.MonkeyPatch.context() as patch:
        plain = json.JSONDecoder.raw_decode

        def counted(self: json.JSONDecoder, text: str, at: int = 0) -> Any:
            nonlocal seen
            seen += len(text) - at
            return plain(self, text, at)

        patch.setattr(json.JSONDecoder, "raw_decode", counted)
        assert [len(str(item.value)) for item in json_array(blocks(data, 1 << 16), 1 << 30)] == [
            3_000_000,
            1,
        ]
    assert seen < 5 * len(data)
