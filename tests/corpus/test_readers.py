"""Every format and packing returns its documents, twice; readers name or count every fault."""

from __future__ import annotations

import gzip
import random
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora import (
    PACK,
    SKIP,
    TEXTS,
    archives,
    as_json,
    as_parquet,
    feed,
    message,
    packings,
    skips,
    twice,
    write,
)
from supratok.corpus import open_corpus
from supratok.corpus.readers import read_text
from supratok.corpus.reading import Reading

# --- Formats ---------------------------------------------------------------------------------


@packings
@pytest.mark.parametrize(
    "suffix", [".txt", ".md", ".text", ".jsonl", ".ndjson", ".json", ".parquet"]
)
def test_round_trip(tmp_path: Path, suffix: str, packing: str) -> None:
    if suffix == ".parquet":
        data = as_parquet({"id": list(range(len(TEXTS))), "text": TEXTS})
    else:
        data = as_json(TEXTS) if "j" in suffix else "\n".join(TEXTS).encode()
    path = write(tmp_path / f"a{suffix}{packing}", PACK[packing](data))
    form = "auto" if suffix == ".parquet" or "j" in suffix else "lines"
    assert twice(path, format=form) == twice(str(path), format=form) == TEXTS


@archives
def test_members_that_follow_one_another_are_one_text(tmp_path: Path, packing: str) -> None:
    pack = PACK[packing]
    path = write(tmp_path / f"a.txt{packing}", pack(b"one\ntw") + pack(b"") + pack(b"o\nthree\n"))
    assert twice(path, format="lines") == ["one", "two", "three"]
    assert twice(path) == ["one\ntwo\nthree\n"]


def test_padding_and_skippable_frames(tmp_path: Path) -> None:
    skippable = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
    for packing, extra in ((".gz", bytes(20_000)), (".xz", bytes(20_000)), (".zst", skippable)):
        path = write(
            tmp_path / f"a.txt{packing}", PACK[packing](b"one\n") + extra + PACK[packing](b"two")
        )
        assert twice(path) == ["one\ntwo"]


def test_large_archives_cross_blocks(tmp_path: Path) -> None:
    texts = [f"{number} {random.Random(number).random()} é" for number in range(30_000)]
    for packing, pack in PACK.items():
        assert (
            list(open_corpus(write(tmp_path / f"a.jsonl{packing}", pack(as_json(texts))))) == texts
        )
    assert list(open_corpus(write(tmp_path / "a.parquet", as_parquet({"text": texts})))) == texts


def test_line_ends_and_blank_lines(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf one \r\n\r\n  \ntwo\rstill two\n\x0bthree"
    path = write(tmp_path / "a.txt", data)
    assert twice(path, format="lines") == [" one ", "two\rstill two", "\x0bthree"]
    assert twice(write(tmp_path / "b.txt", b"last\r"), format="lines") == ["last\r"]


@packings
def test_whole_files(tmp_path: Path, packing: str) -> None:
    write(tmp_path / f"a.txt{packing}", PACK[packing](b"\xef\xbb\xbfone\r\n\r\ntwo\n"))
    write(tmp_path / f"b.md{packing}", PACK[packing](b""))
    write(tmp_path / f"c.jsonl{packing}", PACK[packing](as_json(["three"])))
    assert twice(tmp_path, whole_files=True) == ["one\r\n\r\ntwo\n", "three"]


def test_json_ignores_blank_lines_the_bom_and_empty_texts(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbf{"text": "a"}\r\n\r\n  \n{"text": ""}\n{"text": "\\ud83d\\ude00"}'
    path = write(tmp_path / "a.jsonl", data)
    assert twice(path) == ["a", "😀"]


def test_text_key(tmp_path: Path) -> None:
    assert twice(write(tmp_path / "a.jsonl", as_json(["a"], "body")), text_key="body") == ["a"]
    assert twice(write(tmp_path / "a.parquet", as_parquet({"body": ["a"]})), text_key="body") == [
        "a"
    ]
    assert twice(iter([{"body": "a"}]), text_key="body") == ["a"]


@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))))
def test_any_lines(texts: list[str]) -> None:
    blocks = ["\n".join(texts).encode()[at : at + 3] for at in range(0, 9999, 3)]
    reading = Reading("text", "lang", False)
    expected = [text.removesuffix("\r") for text in texts[:-1]] + texts[-1:]
    expected = [text for text in expected if text.encode().strip()]
    found = [text for text, _ in read_text(blocks, "lines", "a", reading)]
    assert found == expected


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf", b" \n\r\n", b"\n" * 300_000])
def test_stdin(monkeypatch: pytest.MonkeyPatch, start: bytes) -> None:
    feed(monkeypatch, start + as_json(TEXTS))
    assert twice("-") == TEXTS
    feed(monkeypatch, start + "\n".join(TEXTS).encode())
    assert twice(["-"], format="lines") == TEXTS
    feed(monkeypatch, start + "\n".join(TEXTS).encode())
    assert "".join(twice(["-"])) == start.decode("utf-8-sig") + "\n".join(TEXTS)
    feed(monkeypatch, start + "\n\n".join(TEXTS).encode())
    assert twice("-", whole_files=True) == [start.decode("utf-8-sig") + "\n\n".join(TEXTS)]


def test_stdin_of_white_space_is_decided_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """After 2 MiB, and without joining what is read again and again."""
    feed(monkeypatch, b" " * (5 << 20) + b'\n{"text": "a"}\n')
    found = twice("-")
    assert "".join(found) == " " * (5 << 20) + '\n{"text": "a"}\n'


def test_stdin_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, b'\n{"text": "a"}\n{"text": 1}\n{"text": "b"}\n')
    found = message("-")
    assert "standard input, line 3" in found and SKIP in found
    feed(monkeypatch, b"")
    assert twice("-") == []


# --- Faults ----------------------------------------------------------------------------------

LINES = [
    (b'{"text": ', "malformed JSON", "one object on each line"),
    (b'{"text": "a"} x', "malformed JSON", "column 15"),
    (b"[" * 100_000, "malformed JSON", "one object on each line"),
    (b'{"text": ' + b"9" * 5000 + b"}", "malformed JSON", "one object on each line"),
    (b'["text"]', "not an object", "list"),
    (b'"text"', "not an object", "str"),
    (b"null", "not an object", "NoneType"),
    (b'{"body": "a", "id": 2}', "missing key", "(there are: body, id)"),
    (b'{"body": "a", "id": 2}', "missing key", "--text-key"),
    (b'{"text": 3}', "not a string", "int"),
    (b'{"text": ["a"]}', "not a string", "--text-key"),
    (b'{"text": null}', "null", "null"),
    (b'{"text": "a\xff"}', "invalid UTF-8", "byte offset 11"),
    (b'{"text": "\xed\xa0\x80"}', "invalid UTF-8", "byte offset 10"),
    (b'{"text": "\\ud800"}', "lone surrogate", "surrogate"),
    (b'{"text": "\\uDC00\\uD800 \xc3\xa9"}', "lone surrogate", "surrogate"),
]


@pytest.mark.parametrize(("line", "reason", "words"), LINES)
def test_bad_json_line(tmp_path: Path, line: bytes, reason: str, words: str) -> None:
    data = as_json(["a"]) + b"\n" + line + b"\n" + as_json(["b"])
    path = write(tmp_path / "bad.jsonl.gz", gzip.compress(data))
    found = message(path)
    assert "bad.jsonl.gz, line 3: " in found and words in found and SKIP in found
    assert skips(path) == (["a", "b"], {reason: 1})


def test_bad_text(tmp_path: Path) -> None:
    path = write(tmp_path / "bad.txt", b"a\n\nb\xc3\n\xff\nc")
    for form in ("lines", "text"):
        found = message(path, format=form)
        assert "bad.txt, line 3: " in found and "byte offset 4" in found and SKIP in found
    assert skips(path, format="lines") == (["a", "c"], {"invalid UTF-8": 2})
    assert skips(path) == (["a\n\n"], {"invalid UTF-8": 1})
    found = message(path, whole_files=True)
    assert "bad.txt, line 3: " in found and "byte offset 4" in found and SKIP in found
    assert skips(path, whole_files=True) == ([], {"invalid UTF-8": 1})


ITEMS = [
    (3, "not an object", "int"),
    (None, "not an object", "NoneType"),
    (b"a", "not an object", "bytes"),
    (["a"], "not an object", "list"),
    ({"body": 1}, "missing key", "(there are: body)"),
    ({"text": None}, "null", "null"),
    ({"text": b"a"}, "not a string", "bytes"),
    ("\ud800", "lone surrogate", "surrogate"),
    ({"text": "é\udfff"}, "lone surrogate", "surrogate"),
]


@pytest.mark.parametrize(("item", "reason", "words"), ITEMS)
def test_bad_item(item: object, reason: str, words: str) -> None:
    for source in (["a", "b c", item, "d"], iter(["a", "b c", item, "d"])):
        found = message(source)
        assert "item 3: " in found and words in found and SKIP in found
    for source in (["a", "b c", item, "d"], iter(["a", "b c", item, "d"])):
        assert skips(source) == (["a", "b c", "d"], {reason: 1})


def test_bad_parquet_values(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    raw = arrow.array([b"a", b"", None, b"\xff", b"b"], arrow.binary())
    texts = arrow.Array.from_buffers(arrow.string(), len(raw), raw.buffers())
    path = write(tmp_path / "bad.parquet", as_parquet({"id": range(5), "text": texts}))
    found = message(path)
    assert "bad.parquet, row 3: " in found and "null" in found and SKIP in found
    assert skips(path) == (["a", "b"], {"null": 1, "invalid UTF-8": 1})
    assert skips(path, text_key="id") == ([], {"not a string": 5})
    found = message(path, text_key="body")
    assert "bad.parquet" in found and "id, text" in found and "--text-key" in found
    assert skips(path, text_key="body") == ([], {"missing key": 5})


def test_parquet_column_types(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    values = ["a", "b", "a"]
    for kind in (arrow.large_string(), arrow.dictionary(arrow.int32(), arrow.string())):
        data = as_parquet({"text": arrow.array(values).cast(kind)})
        assert twice(write(tmp_path / "a.parquet", data)) == values


def test_corrupt_parquet(tmp_path: Path) -> None:
    data = as_parquet({"text": TEXTS * 100}, compression="none", use_dictionary=False)
    later = write(tmp_path / "later.txt", b"later")
    for name, bad in (("a.parquet", data[:-9]), ("b.parquet", b""), ("c.parquet", b"x" * 99)):
        path = write(tmp_path / name, bad)
        found = message(path)
        assert name in found and "corrupt parquet" in found and SKIP in found
        assert skips([path, later]) == (["later"], {"corrupt parquet": 1})


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.parquet", b"")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    assert 'install --force-reinstall "pyarrow>=14"' in message(path)


@archives
def test_truncated_archive(tmp_path: Path, packing: str) -> None:
    texts = [f"{number} {random.Random(number).random()}" for number in range(50_000)]
    whole = PACK[packing]("\n".join(texts).encode())
    later = write(tmp_path / "later.txt", b"later")
    for kept in (0, 1, 5, len(whole) // 2, len(whole) - 1):
        path = write(tmp_path / f"cut.txt{packing}", whole[:kept])
        found = message(path)
        assert f"cut.txt{packing}: " in found and "truncated archive" in found and SKIP in found
        documents, skipped = skips([path, later], format="lines")
        assert skipped == {"truncated archive": 1} and documents.pop() == "later"
        assert documents == texts[: len(documents)]  # no half line
        assert len(documents) > (0 if kept < 9 else len(texts) // 4) or kept < 9


@archives
def test_second_member_truncated(tmp_path: Path, packing: str) -> None:
    member = PACK[packing](b"one\n")
    path = write(tmp_path / f"cut.txt{packing}", member + member[:-1])
    assert skips(path)[1] == {"truncated archive": 1}


@archives
def test_corrupt_archive(tmp_path: Path, packing: str) -> None:
    later = write(tmp_path / "later.txt", b"later")
    for name, data in (("a", b"this is no archive"), ("b", PACK[packing](b"one\n") + b"tail")):
        path = write(tmp_path / f"{name}.txt{packing}", data)
        found = message(path)
        assert f"{name}.txt{packing}: " in found and "corrupt archive" in found and SKIP in found
        documents, skipped = skips([path, later])
        assert documents[-1] == "later" and skipped == {"corrupt archive": 1}


@archives
def test_truncated_parquet_archive(tmp_path: Path, packing: str) -> None:
    data = PACK[packing](as_parquet({"text": TEXTS}))
    path = write(tmp_path / f"cut.parquet{packing}", data[:-5])
    assert "truncated archive" in message(path)
    assert skips(path) == ([], {"truncated archive": 1})


def test_parquet_columns_of_one_name_and_bad_names(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "two.parquet"
    column = arrow.array(["a", "b"])
    parquet.write_table(arrow.Table.from_arrays([column, column], ["text", "text"]), path)
    found = message(path)
    assert "two.parquet" in found and '2 columns have the name "text"' in found and SKIP in found
    assert skips(path) == ([], {"several columns": 2})
    names = ["text", "lang", "lang"]  # an ambiguous language is none
    parquet.write_table(arrow.Table.from_arrays([column] * 3, names), path)
    assert twice(path) == ["a", "b"]
    data = as_parquet({"text": ["a"], "nnnn": ["b"]}, store_schema=False)
    broken = write(tmp_path / "bad.parquet", data.replace(b"nnnn", b"\xff\xfe\xff\xfe"))
    assert skips(broken) == ([], {"corrupt parquet": 1})
    assert "bad.parquet: a corrupt parquet file" in message(broken)
