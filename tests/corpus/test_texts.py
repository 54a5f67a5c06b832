"""The documents of a text file are exactly the file, wherever its blocks end, in bounded memory."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from corpora import as_json, feed, message, skips, twice, write
from supratok import Recipe, train
from supratok.corpus import open_corpus, texts
from supratok.corpus.texts import split_lines, split_text

MIB = 1 << 20

# Lines as they come in files: with white space of every kind, long and short.
PIECES = st.sampled_from(
    [
        "a",
        "word ",
        "é",
        "日本",
        "\n",
        "\n\n",
        "\r\n",
        "\r\n\r\n",
        "  ",
        "\t",
        "\n  \n",
        "    x\n",
        "\r",
    ]
)
TEXT = st.lists(PIECES, max_size=60).map("".join)


def blocks(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


@given(TEXT, st.sampled_from(["text", "code"]), st.integers(1, 7))
def test_documents_are_the_file(text: str, form: str, size: int) -> None:
    """Also with limits so small that all of them cut."""
    data = text.encode()
    for limits in ({}, {"_TEXT": 12, "_CODE": 12, "_LONG": 8, "_LONGEST": 16}):
        with pytest.MonkeyPatch.context() as patch:
            for name, value in limits.items():
                patch.setattr(texts, name, value)
            found = list(split_text(blocks(data, size), form))
            assert found == list(split_text([data], form))  # wherever the blocks end
            assert all(len(part) < 3 * 16 for part in found) or not limits
        if text.strip("\r\n\t "):
            assert b"".join(found) == data
            assert all(part.strip() for part in found) or limits
            assert all(part.decode() for part in found)  # no character is cut
        else:
            assert found == [] or limits


def test_where_a_document_ends(tmp_path: Path) -> None:
    prose = [
        "\n\nOne\ntwo.\n\n\n",
        "Three:\n\n    in\n\n\tagain\n  \n",
        "Four\r\n\r\n",
        "end",
    ]
    for name in ("a.txt", "a.text", "a.md", "a.csv"):
        assert twice(write(tmp_path / name, "".join(prose).encode())) == prose
    source = "def f():\n    pass\n\n\ndef g():\n    pass\n"
    for name in ("a.py", "a.c", "a.rs", "a.html", "a.yaml"):
        assert twice(write(tmp_path / name, source.encode())) == [source]
    assert twice(tmp_path / "a.py", format="text") == [source[:20], source[20:]]
    assert twice(tmp_path / "a.txt", format="code") == ["".join(prose)]
    assert twice(write(tmp_path / "blank.txt", b" \n\n\t\r\n")) == []


def test_a_stretch_without_a_border_is_cut_at_a_line_end(tmp_path: Path) -> None:
    line = "one sentence on a line\n"
    found = twice(write(tmp_path / "a.txt", line.encode() * 10_000))
    assert "".join(found) == line * 10_000
    assert [len(text) for text in found[:-1]] == [-(-(64 << 10) // len(line)) * len(line)] * 3
    found = twice(write(tmp_path / "a.py", line.encode() * 100_000))
    assert len(found) == 3 and all(MIB <= len(text) < MIB + 99 for text in found[:-1])


def test_a_long_line_is_cut_at_white_space_or_a_character() -> None:
    words = b"word " * MIB
    found = list(split_lines(blocks(words, 1 << 16)))
    assert b"".join(found) == words
    assert all(part.endswith(b" ") and MIB < len(part) <= MIB + 5 for part in found[:-1])
    for character in ("x", "é", "日", "😀"):
        data = b"y" + character.encode() * (5 * MIB // len(character.encode())) + b"\n"
        found = list(split_lines(blocks(data, 1 << 16)))
        assert b"".join(found) == data
        assert all(2 * MIB - 3 <= len(part.decode().encode()) <= 2 * MIB for part in found[:-1])
    broken = b"\x80" * (5 * MIB)  # no character at all
    assert b"".join(split_lines(blocks(broken, 1 << 16))) == broken


def test_memory_of_an_endless_line_is_bounded(tmp_path: Path) -> None:
    """60 MB without a newline, of letters, of words, and of white space alone."""
    for name, piece in (("x", b"x"), ("words", b"word "), ("blank", b" ")):
        path = tmp_path / f"{name}.txt.zst"
        with zstandard.open(path, "wb") as file:
            for _ in range(60):
                file.write(piece * (1_000_000 // len(piece)))
        assert path.stat().st_size < 100_000
        for form in ("text", "code", "lines"):
            tracemalloc.start()
            try:
                found = sum(map(len, open_corpus(path, format=form)))
                assert found == 60_000_000 or (form == "lines" and piece.isspace())
                assert tracemalloc.get_traced_memory()[1] < 40 * MIB
            finally:
                tracemalloc.stop()


def test_a_whole_file_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "LONGEST_RECORD", MIB)
    path = write(tmp_path / "a.txt", b"x\n" * MIB)
    found = message(path, whole_files=True)
    assert "a.txt" in found and "1 MiB" in found and "without --whole-files" in found
    assert skips(path, whole_files=True) == ([], {"too long": 1})
    assert "choose one" in message(path, whole_files=True, format="lines")


def test_a_bad_document_is_skipped_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"one\n\ntwo\n\xff\n\nthree\n\n\xc3")
    assert skips(path) == (["one\n\n", "three\n\n"], {"invalid UTF-8": 2})
    found = message(path)
    assert "a.txt, line 4: invalid UTF-8 at byte offset 9" in found


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
def test_wide_text_is_refused_also_with_skip_bad(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    data = "Some text.\n\nMore of it.\n".encode(encoding)
    for name in ("a.txt", "a.jsonl", "a.json", "a.py", "a"):
        path = write(tmp_path / name, data)
        for skip_bad in (False, True):
            found = message(path, skip_bad=skip_bad)
            assert name in found and "UTF-8" in found and "convert it" in found
    feed(monkeypatch, data)
    assert "standard input" in message("-", skip_bad=True)


def test_a_file_without_a_known_suffix_is_text(tmp_path: Path) -> None:
    for name in ("README", "a.xyz", "1984.novel"):
        assert twice(write(tmp_path / name, "One\n\ntwö\n".encode())) == ["One\n\n", "twö\n"]
    assert twice(write(tmp_path / "empty", b"")) == []
    assert twice(write(tmp_path / "data", as_json(["a"])), format="jsonl") == ["a"]


def prose(seed: int, paragraphs: int) -> str:
    chance = random.Random(seed)
    words = [f"w{chance.randrange(300)}" for _ in range(2000)]
    return "".join(
        "\n".join(" ".join(chance.choices(words, k=12)) for _ in range(5)) + ".\n\n    code\n\n"
        for _ in range(paragraphs)
    )


def test_newlines_are_learnt_as_from_records(tmp_path: Path) -> None:
    """The same documents, as text and as JSON, give the same tokenizer; and some are held out."""
    text = prose(1, 700)
    assert 150_000 < len(text) < 250_000
    path = write(tmp_path / "my.txt", text.encode())
    records = write(tmp_path / "my.jsonl", as_json(list(open_corpus(path))))
    recipe = Recipe(vocab_size=1200)
    ours, theirs = (train(source, recipe, progress=False) for source in (path, records))
    assert ours.report == theirs.report
    assert 0 < ours.report["held_out_documents"] < ours.report["documents"] == 700
    for sample in (".\n\n    code\n\n", "a\n\n    b\n"):
        assert ours.encode(sample) == theirs.encode(sample)
    assert "<0x0A>" not in ours.tokens(".\n\n    code\n\n")
    assert any("\n\n" in token.text for token in ours.vocabulary)
