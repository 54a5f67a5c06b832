"""Tables of counts: written, read and added up to the table of the whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from supratok.common import _core
from supratok.learn import tables
from supratok.reference import words as reference_words
from texts import HOSTILE, corpus, prose

BITS = 12
JOINTS = {"cross_sentence": True, "cross_colon": True, "numbers": True}


def words_of(documents: list[str], threads: int = 1) -> _core.WordTable:
    table = _core.WordTable(BITS)
    table.count(documents, threads)
    return table


def rows(table: _core.WordTable | _core.RunTable) -> dict[str, int]:
    texts, counts = table.rows()
    assert len(texts) == len(table)
    return dict(zip(texts, counts.tolist(), strict=True))


def test_words_are_counted_as_the_reference_does() -> None:
    documents = corpus(1, 80) + HOSTILE
    expected: dict[str, int] = {}
    for text in documents:
        for word in reference_words.split_words(text):
            expected[word] = expected.get(word, 0) + 1
    for threads in (1, 3):
        assert rows(words_of(documents, threads)) == expected


def test_rows_are_sorted() -> None:
    texts, counts = words_of(corpus(2)).rows()
    keys = [(-n, len(t.encode()), t) for t, n in zip(texts, counts.tolist(), strict=True)]
    assert keys == sorted(keys)


def test_pieces_add_up_to_the_whole(tmp_path: Path) -> None:
    documents = prose(1, 200) + corpus(3, 50)
    whole = words_of(documents)
    summed = _core.WordTable(BITS)
    for piece in range(3):
        tables.save(words_of(documents[piece::3]), tmp_path / f"{piece}.npz")
    for piece in (2, 0, 1):
        tables.add(summed, tmp_path / f"{piece}.npz")
    assert rows(summed) == rows(whole)
    assert np.array_equal(summed.sketch(), whole.sketch())

    known = list(rows(whole))
    total = _core.RunTable(known, whole, _core.Joints(**JOINTS), 2)
    total.count(documents, 2)
    parts = _core.RunTable(known, summed, _core.Joints(**JOINTS), 2)
    for piece in range(3):
        part = _core.RunTable(known, summed, _core.Joints(**JOINTS), 2)
        part.count(documents[piece::3], 1)
        tables.save(part, tmp_path / "runs.npz")
        tables.add(parts, tmp_path / "runs.npz")
    assert rows(parts) == rows(total)


def test_the_same_table_gives_the_same_file(tmp_path: Path) -> None:
    documents = corpus(4, 80)
    tables.save(words_of(documents, 1), tmp_path / "a.npz")
    tables.save(words_of(documents[::-1], 3), tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_words_and_runs_do_not_mix(tmp_path: Path) -> None:
    words = words_of(["a b"])
    tables.save(words, tmp_path / "words.npz")
    runs = _core.RunTable(["a"], words, _core.Joints(**JOINTS), 1)
    with pytest.raises(ValueError, match=r"words\.npz: a table of words cannot be added"):
        tables.add(runs, tmp_path / "words.npz")
    with pytest.raises(ValueError, match="different sizes"):
        tables.add(_core.WordTable(BITS + 1), tmp_path / "words.npz")


def test_the_sketch_never_bounds_too_low() -> None:
    """Runs cut by the sketch at a floor lose no pair that was seen so often."""
    documents = prose(2, 150)
    words = words_of(documents)
    known = list(rows(words))
    floor = 5
    table = _core.RunTable(known, words, _core.Joints(**JOINTS), floor)
    table.count(documents, 1)
    pairs: dict[tuple[str, str], int] = {}
    for text in documents:
        split = reference_words.split_words(text)
        for pair in zip(split, split[1:], strict=False):
            pairs[pair] = pairs.get(pair, 0) + 1
    found: dict[tuple[str, str], int] = {}
    for run, count in rows(table).items():
        split = reference_words.split_words(run)
        for pair in zip(split, split[1:], strict=False):
            found[pair] = found.get(pair, 0) + count
    for pair, count in pairs.items():
        if count >= floor:
            assert found[pair] == count
    assert len(found) < len(pairs)  # and it does cut


def test_an_error_in_the_documents_goes_up() -> None:
    def documents() -> object:
        yield "fine"
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        _core.WordTable(BITS).count(documents(), 2)  # type: ignore[arg-type]
