"""Counts files: what is written is read, sums are those of one count, and damage is refused."""

from __future__ import annotations

import random
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supratok.common import _core
from supratok.corpus.split import HeldOut, digest
from supratok.counts import (
    About,
    Sample,
    merge_counts,
    read_counts,
    split_words,
    verify_counts,
    word_rows,
    write_counts,
)
from supratok.counts.sample import ALL
from texts import HOSTILE, corpus, prose

BITS = 10
CAPACITY = 2_000  # bytes of a sample


def about(number: int = 0, **values: Any) -> About:
    made = About(
        "words",
        "fingerprint",
        {f"digest{number}": f"shard{number}.jsonl"},
        {"documents": number + 1, "skipped": {f"reason{number % 2}": 1}},
        {"by_class": True},
    )
    return replace(made, **values)


def sample_of(documents: list[str], capacity: int = CAPACITY) -> Sample:
    held = HeldOut(capacity)
    for text in documents:
        held.add(text, digest(text))
    return Sample(capacity, held.limit, [(digest(text), text) for text in held.documents])


def counted(path: Path, documents: list[str], what: About) -> Path:
    table = _core.WordTable(BITS)
    table.count(documents, 1)
    members: dict[str, Any] = {
        "words.rows": table.rows_blocks(),
        "pairs.npy.zst": table.pairs.counters(),
        "characters.npy": table.characters(),
        "deciding.docs": sample_of(documents),
    }
    write_counts(path, what, members)
    return path


def shards(folder: Path, documents: list[str], number: int) -> list[Path]:
    return [counted(folder / f"{i}.counts", documents[i::number], about(i)) for i in range(number)]


DOCUMENTS = corpus(1, 120) + HOSTILE + prose(1, 60)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    file = read_counts(counted(tmp_path / "a.counts", DOCUMENTS, about()))
    table = _core.WordTable(BITS)
    table.count(DOCUMENTS, 1)
    assert file.about == about()
    assert list(file.rows("words")) == list(table.rows_blocks())
    assert file.array("pairs").tolist() == table.pairs.counters().tolist()
    assert file.array("characters").tolist() == table.characters().tolist()
    assert file.sample("deciding") == sample_of(DOCUMENTS)
    with pytest.raises(ValueError, match=r"has no runs\.rows; it has characters\.npy"):
        next(file.rows("runs"))


def test_the_sum_of_shards_is_the_file_of_the_whole(tmp_path: Path) -> None:
    """To the byte, in any order, in one step or several, with many files or few."""
    paths = shards(tmp_path, DOCUMENTS, 7)
    out = tmp_path / "out.counts"
    summed = merge_counts(paths, out)
    assert summed == read_counts(out).about
    assert summed.totals == {"documents": 28, "skipped": {"reason0": 4, "reason1": 3}}
    whole = counted(tmp_path / "whole.counts", DOCUMENTS, summed)
    assert out.read_bytes() == whole.read_bytes()
    merge_counts(paths[::-1], out, at_once=2)
    assert out.read_bytes() == whole.read_bytes()
    left, right = tmp_path / "left.counts", tmp_path / "right.counts"
    merge_counts(paths[:3], left)
    merge_counts(paths[3:], right)
    merge_counts([right, left], out)
    assert out.read_bytes() == whole.read_bytes()
    verify_counts(out)
    assert {path.name for path in tmp_path.iterdir()} == {
        *(f"{i}.counts" for i in range(7)),
        *("out.counts", "whole.counts", "left.counts", "right.counts"),
    }


def test_samples_add_up_whatever_their_sizes() -> None:
    from supratok.counts.sample import merged_sample

    rng = random.Random(2)
    for _ in range(300):
        capacity = rng.choice((0, 5, 30, 200))
        texts = [f"{i}" * rng.randint(1, 12) for i in range(rng.randint(0, 25))]
        parts = [rng.choices(texts, k=rng.randint(0, 12)) if texts else [] for _ in range(3)]
        union = sample_of([text for part in parts for text in part], capacity)
        assert merged_sample([sample_of(part, capacity) for part in parts]) == union


def test_counters_stop_at_their_most(tmp_path: Path) -> None:
    values = [0, 5, 0xEFFFFFFF, 0xF0000000], [1, 6, 1, 0xF0000000]
    for i, numbers in enumerate(values):
        array = np.array(numbers, np.uint32)
        write_counts(tmp_path / f"{i}.counts", about(i), {"pairs.npy": array})
    merge_counts([tmp_path / "0.counts", tmp_path / "1.counts"], tmp_path / "out.counts")
    found = read_counts(tmp_path / "out.counts").array("pairs")
    assert found.tolist() == [1, 11, 0xF0000000, 0xF0000000]


# --- Refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (about(1, kind="runs"), "kind 'words' and 'runs'"),
        (about(1, fingerprint="another"), "fingerprint 'fingerprint' and 'another'"),
        (about(1, facts={"by_class": False}), "by_class True and False"),
        (about(0), r"both count shard0\.jsonl"),
        (about(1, totals={"skipped": 3}), "skipped"),
    ],
)
def test_files_that_do_not_add_up_are_named(tmp_path: Path, other: About, why: str) -> None:
    one = counted(tmp_path / "one.counts", ["a b"], about(0))
    two = counted(tmp_path / "two.counts", ["a b"], other)
    with pytest.raises(ValueError, match=why) as caught:
        merge_counts([one, two], tmp_path / "out.counts")
    if "skipped" not in why:
        assert str(one) in str(caught.value) and str(two) in str(caught.value)
    assert not (tmp_path / "out.counts").exists()


def test_the_same_file_twice_is_refused(tmp_path: Path) -> None:
    one = counted(tmp_path / "one.counts", ["a b"], about(0))
    copy = tmp_path / "copy.counts"
    shutil.copy(one, copy)
    for other in (one, copy):
        with pytest.raises(ValueError, match="twice"):
            merge_counts([one, other], tmp_path / "out.counts")
    with pytest.raises(ValueError, match="at least one"):
        merge_counts([], tmp_path / "out.counts")


def test_files_with_other_members_are_refused(tmp_path: Path) -> None:
    one = counted(tmp_path / "one.counts", ["a b"], about(0))
    two = tmp_path / "two.counts"
    write_counts(two, about(1), {"words.rows": word_rows([("a", 1)])})
    with pytest.raises(ValueError, match=r"two\.counts has nothing, besides rows"):
        merge_counts([one, two], tmp_path / "out.counts")


def test_a_file_without_some_rows_has_none_of_these(tmp_path: Path) -> None:
    """Such as the words of a language that a shard has no document in."""
    one, two, out = (tmp_path / f"{name}.counts" for name in ("one", "two", "out"))
    turkish = list(word_rows([("ev", 2)]))
    write_counts(one, about(1), {"words.rows": word_rows([("a", 1)])})
    write_counts(two, about(2), {"words.rows": word_rows([("a", 2)]), "words-tr.rows": turkish})
    for order in ([one, two], [two, one]):
        merge_counts(order, out)
        assert list(read_counts(out).rows("words")) == list(word_rows([("a", 3)]))
        assert list(read_counts(out).rows("words-tr")) == turkish


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "new.counts"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("about.json", about().to_json().replace('"version": 1', '"version": 2'))
    with pytest.raises(ValueError, match=r"new\.counts: supratok-counts of version 2"):
        read_counts(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.json", "{}")
    with pytest.raises(ValueError, match="no counts file"):
        read_counts(path)


def all_of(path: Path) -> object:
    """Everything that a reader can get from a file."""
    file = read_counts(path)
    table = _core.WordTable(BITS)
    for block in file.rows("words"):
        table.add_rows(block)
    arrays = [file.array(name).tolist() for name in ("pairs", "characters")]
    texts, counts = table.rows()
    return file.about, texts, counts.tolist(), arrays, file.sample("deciding")


def test_every_flipped_byte_is_refused_and_none_changes_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "damaged.counts"
    members: dict[str, Any] = {
        "words.rows": word_rows([("hello", 3), (" world", 2)]),
        "pairs.npy.zst": np.arange(8, dtype=np.uint32),
        "characters.npy": np.arange(4, dtype=np.int64),
        "deciding.docs": Sample(50, ALL, [(1, "one"), (2, "two")]),
    }
    write_counts(path, about(), members)
    data = path.read_bytes()
    expected = all_of(path)
    verify_counts(path)
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :])
        with pytest.raises(ValueError, match=r"damaged\.counts"):
            verify_counts(path)
        try:
            found = all_of(path)
        except ValueError:
            continue
        assert found == expected  # a date in a header, say


def test_every_truncated_file_is_refused(tmp_path: Path) -> None:
    path = counted(tmp_path / "cut.counts", ["a b c"], about())
    data = path.read_bytes()
    for size in [*range(0, len(data), 997), *range(len(data) - 60, len(data))]:
        path.write_bytes(data[:size])
        with pytest.raises(ValueError, match=r"cut\.counts"):
            verify_counts(path)


def test_a_damaged_shard_leaves_no_sum(tmp_path: Path) -> None:
    paths = shards(tmp_path, DOCUMENTS, 3)
    with zipfile.ZipFile(paths[1]) as archive:
        place = archive.getinfo("words.rows").header_offset + 100
    data = bytearray(paths[1].read_bytes())
    data[place] ^= 1
    paths[1].write_bytes(data)
    out = tmp_path / "out.counts"
    out.write_bytes(b"what was there")
    with pytest.raises(ValueError, match=r"1\.counts: damaged"):
        merge_counts(paths, out)
    assert out.read_bytes() == b"what was there"
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"words.txt": [b""]}, r"words\.txt"),
        ({"words.rows": np.zeros(3, np.int64)}, "ndarray"),
        ({"pairs.npy": np.zeros(3, np.float64)}, "float64"),
    ],
)
def test_members_that_are_none_are_refused(
    tmp_path: Path, members: dict[str, Any], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        write_counts(tmp_path / "a.counts", about(), members)
    assert list(tmp_path.iterdir()) == []


def test_a_file_names_its_sources() -> None:
    with pytest.raises(ValueError, match="sources"):
        About("words", "fingerprint", {})


# --- Words that others counted -----------------------------------------------------------------


def test_words_that_others_counted_are_rows(tmp_path: Path) -> None:
    rng = random.Random(3)
    words = [word for text in DOCUMENTS for word in split_words(text)]
    table = _core.WordTable(1)
    table.count(DOCUMENTS, 1)
    expected = list(table.rows_blocks())
    rng.shuffle(words)
    pairs = [(word, 1) for word in words]
    assert list(word_rows(pairs)) == expected
    assert list(word_rows(pairs, memory=1, folder=str(tmp_path))) == expected


@pytest.mark.parametrize("pair", [("", 1), ("a", 0), ("a", -1)])
def test_a_word_that_was_not_seen_is_refused(pair: tuple[str, int]) -> None:
    with pytest.raises(ValueError, match="count from 1"):
        word_rows([pair])


@pytest.mark.parametrize("read", [read_counts, verify_counts])
def test_a_missing_file_is_an_os_error(read: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read(tmp_path / "nowhere.counts")
