"""The store: any text comes back, and tables over a store equal tables over its texts."""

from __future__ import annotations

import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import supratok
from supratok import Recipe
from supratok.common import _core
from texts import HOSTILE, corpus, prose

NAME = "documents.blocks"
FRAME = 48
TEXTS = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
        st.text("aZ09 .,\n\t\r日本語กขé́ßя", max_size=60),
        st.sampled_from(["", " ", "\n", "x" * 100_000, "語" * 9_000, " the cat the cat."]),
    ),
    max_size=12,
)
DOCUMENTS = [*HOSTILE, *corpus(1, 60), *prose(3, 120)]


def stored(
    texts: Iterable[str], folder: str = "", memory: int = 1 << 28, *,
    threads: int = 1, by_class: bool = True,
) -> _core.Store:  # fmt: skip
    store = _core.Store(folder, memory)
    _core.WordTable(10, by_class).count(texts, threads, store)
    return store


def in_portions(texts: list[str], folder: str = "", memory: int = 1 << 28) -> _core.Store:
    """Several blocks."""
    store, table = _core.Store(folder, memory), _core.WordTable(10)
    for start in range(0, len(texts), 40):
        table.count(texts[start : start + 40], 1, store)
    return store


# --- Text in, text out


@settings(max_examples=300, deadline=None)
@given(texts=TEXTS, by_class=st.booleans(), memory=st.sampled_from([0, 1 << 28]))
def test_any_text_comes_back(texts: list[str], by_class: bool, memory: int) -> None:
    store = stored(texts, memory=memory, by_class=by_class)
    assert list(store) == texts
    assert len(store) == len(texts)
    assert store.bytes == sum(len(text.encode()) for text in texts)
    assert store.words == sum(len(_core.split_words(text, by_class)) for text in texts)


@settings(max_examples=300, deadline=None)
@given(texts=TEXTS, by_class=st.booleans())
def test_a_word_by_itself_is_one_word(texts: list[str], by_class: bool) -> None:
    """So what the core asks about a word it can ask once for all its places."""
    for word in {word for text in texts for word in _core.split_words(text, by_class)}:
        assert _core.split_words(word, by_class) == [word]


def test_blocks_go_to_a_file_where_memory_ends(tmp_path: Path) -> None:
    whole = in_portions(DOCUMENTS)
    part = in_portions(DOCUMENTS, str(tmp_path), 4_000)
    size = (tmp_path / NAME).stat().st_size
    assert 0 < size == part.flush()
    assert whole.flush() == 0
    assert list(part) == list(whole) == DOCUMENTS
    del part
    assert (tmp_path / NAME).exists()


def test_a_private_file_is_removed_with_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store = in_portions(DOCUMENTS, memory=0)
    assert len(list(tmp_path.iterdir())) == 1
    assert list(store) == DOCUMENTS
    del store
    assert not list(tmp_path.iterdir())


def test_documents_of_many_threads_are_all_there() -> None:
    documents = [f"{number} " + "the cat sat " * 4000 for number in range(150)]
    for threads in (1, 2, 4):
        assert Counter(stored(documents, threads=threads)) == Counter(documents)


# --- The file


def test_a_store_goes_on_where_the_file_ends(tmp_path: Path) -> None:
    first = in_portions(DOCUMENTS[:100], str(tmp_path), 0)
    size = first.flush()
    del first
    with (tmp_path / NAME).open("ab") as file:
        file.write(b"half of a block that was never finished")
    store = _core.Store.open(str(tmp_path), size)
    assert (tmp_path / NAME).stat().st_size == size
    assert list(store) == DOCUMENTS[:100]
    _core.WordTable(10).count(DOCUMENTS[100:], 1, store)
    assert list(store) == DOCUMENTS
    assert store.bytes == sum(len(text.encode()) for text in DOCUMENTS)
    again = _core.Store.open(str(tmp_path), store.flush())
    assert (list(again), again.words) == (DOCUMENTS, store.words)


def test_an_empty_store_can_be_opened(tmp_path: Path) -> None:
    assert list(_core.Store.open(str(tmp_path), 0)) == []
    with pytest.raises(FileNotFoundError):
        _core.Store.open(str(tmp_path), 10)


def test_a_torn_file_is_refused(tmp_path: Path) -> None:
    size = in_portions(DOCUMENTS, str(tmp_path), 0).flush()
    with pytest.raises(ValueError, match="no whole block at byte"):
        _core.Store.open(str(tmp_path), size - 1)
    with pytest.raises(ValueError, match=r"documents.blocks is shorter than \d+ bytes; delete it"):
        _core.Store.open(str(tmp_path), size)


def test_the_checksums_are_those_of_zlib(tmp_path: Path) -> None:
    in_portions(DOCUMENTS[:30], str(tmp_path), 0)
    data = (tmp_path / NAME).read_bytes()
    assert data[:4] == b"STB1"
    assert int.from_bytes(data[4:8], sys.byteorder) == zlib.crc32(data[FRAME:])
    assert int.from_bytes(data[FRAME - 4 : FRAME], sys.byteorder) == zlib.crc32(data[: FRAME - 4])


def test_a_flipped_bit_is_refused(tmp_path: Path) -> None:
    size = in_portions(["a few words of a few words"], str(tmp_path), 0).flush()
    good = (tmp_path / NAME).read_bytes()
    for place in range(size):
        bad = bytearray(good)
        bad[place] ^= 4
        (tmp_path / NAME).write_bytes(bad)
        with pytest.raises(ValueError, match=r"is damaged|no whole block"):
            list(_core.Store.open(str(tmp_path), size))
        if place >= FRAME:
            store = _core.Store.open(str(tmp_path), size)
            with pytest.raises(ValueError, match="is damaged at byte 48"):
                _core.WordTable(10).count(store, 2)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        stored(["text"], str(tmp_path / "nowhere"), 0)


FULL = """
import resource, sys
from supratok.common import _core
store, table = _core.Store(sys.argv[1], 0), _core.WordTable(10)
table.count(["some words"], 1, store)
size = store.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, resource.RLIM_INFINITY))
try:
    table.count(["other words " * 10000 + str(list(range(1000)))], 2, store)
except OSError as error:
    print(error.errno, error.filename)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
table.count(["and more"], 1, store)
print(list(store), list(_core.Store.open(sys.argv[1], store.flush())))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a limit for files is Linux's")
def test_a_full_disk_is_an_error_and_loses_nothing(tmp_path: Path) -> None:
    import errno

    command = [sys.executable, "-c", FULL, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    whole = ["some words", "and more"]
    assert done == [f"{errno.EFBIG} {tmp_path / NAME}", f"{whole} {whole}"]


# --- Tables over a store


def columns(rows: Iterable[Any]) -> list[Any]:
    return [column.tolist() if hasattr(column, "tolist") else column for column in rows]


def encoder(fewest: bool, texts: list[str] = DOCUMENTS) -> _core.Encoder:
    alphabet = sorted({char for text in texts for char in text} - set("zéв"))
    more = [" t", "th", " th", "he", " the", " c", " ca", " cat", " the cat", "..", "\n "]
    entries = [*alphabet, *(text for text in more if set(text) <= set(alphabet))]
    return _core.Encoder(entries, [1] * len(entries), fewest=fewest, first_id=0)


Count = Callable[[Any], None]


def words(count: Count, **options: Any) -> list[Any]:
    table = _core.WordTable(8, **options)
    count(table)
    sketch = [table.pairs.at_least(least) for least in range(1, 200)]
    return [*columns(table.rows()), table.totals().tolist(), sketch]


def runs(by_class: bool, pieces: bool) -> Callable[[Count], list[Any]]:
    def find(count: Count) -> list[Any]:
        table = _core.WordTable(14, by_class)
        count(table)
        known = [text for text in table.rows()[0] if len(text) % 3]
        joints = _core.Joints(
            by_class=by_class, numbers=False, stops="。", spaced_stops=".!", closing='"',
            spaced_ends=":",
        )  # fmt: skip
        cut = encoder(False) if pieces else None
        known += ["ca", " t"]
        words = _core.Units(known, joints, cut, list(range(256)))
        pairs, uses = table.pairs, None
        if pieces:
            pairs = _core.PairSketch(14)
            uses = bound(count, words, pairs)
        units = _core.RunTable(words, pairs, 3, pieces)
        count(units)
        return [len(units), uses, *columns(units.ngrams(4, 2))]

    return find


def bound(count: Count, units: _core.Units, pairs: _core.PairSketch) -> Any:
    class Bounding:
        def count(self, documents: Any, threads: int) -> None:
            self.uses = units.bound_pairs(documents, threads, pairs).tolist()

    bounding = Bounding()
    count(bounding)
    return bounding.uses


def spans(count: Count) -> list[Any]:
    table = _core.WordTable(14)
    count(table)
    known = [text for text in table.rows()[0] if len(text) > 1]
    found = _core.SpanTable(known, list(range(len(known))), [1] * len(known), 4)
    found.find(DOCUMENTS[-40:], table, 2)
    count(found)
    neighbours = _core.NeighbourTable(found, list(range(0, len(found), 3)))
    count(neighbours)
    return [*columns(found.take_counts()), *columns(neighbours.summary())]


def survey(fewest: bool) -> Callable[[Count], list[Any]]:
    def find(count: Count) -> list[Any]:
        found = _core.Survey(encoder(fewest), 12)
        count(found)
        neighbours = _core.Neighbours(found, 2)
        count(neighbours)
        return columns([found.uses(), found.documents(), *neighbours.rows()])

    return find


TABLES: dict[str, Callable[[Count], list[Any]]] = {
    "words": words,
    "words not by class": lambda count: words(count, by_class=False),
    "stretches": lambda count: words(count, joints=_core.Joints(spaced_stops=".")),
    "runs": runs(True, False),
    "runs not by class": runs(False, False),
    "runs of pieces": runs(True, True),
    "spans": spans,
    "survey by merges": survey(False),
    "survey by fewest": survey(True),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_over_a_store_equal_tables_over_texts(name: str, tmp_path: Path) -> None:
    make = TABLES[name]
    expected = make(lambda table: table.count(DOCUMENTS, 1))
    for memory in (0, 1 << 28):
        store = in_portions(DOCUMENTS, str(tmp_path), memory)
        for threads in (1, 2, 3, 4):
            assert make(lambda table: table.count(store, threads)) == expected  # noqa: B023


def test_a_store_takes_only_words_of_texts() -> None:
    store = stored(["a b"])
    with pytest.raises(ValueError, match="first reading"):
        _core.WordTable(10).count(store, 1, _core.Store())
    with pytest.raises(ValueError, match="first reading"):
        _core.WordTable(10, joints=_core.Joints()).count(["a b"], 1, store)


def test_progress_is_shown_and_its_errors_go_up() -> None:
    store = in_portions(DOCUMENTS)
    seen: list[int] = []
    _core.WordTable(10).count(store, 2, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] <= store.bytes

    def fail(done: int) -> None:
        raise KeyError(done)

    with pytest.raises(KeyError):
        _core.Survey(encoder(True), 0).count(store, 2, fail)


@pytest.mark.parametrize("preset", ["default", "dense", "paper"])
def test_a_store_changes_no_tokenizer(preset: str) -> None:
    recipe = Recipe.from_preset(preset, vocab_size=900)
    texts = prose(7, 400) + corpus(5, 60)
    with_store = supratok.train(texts, recipe, 2, progress=False)
    without = supratok.train(texts, recipe, 2, progress=False, reread=True)
    assert with_store.texts == without.texts
    assert with_store.report == without.report


# --- The merges rule in two levels


@st.composite
def vocabularies(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """Entries in the order of their ranks, each joined from two earlier ones, and texts."""
    letters = draw(st.sampled_from(["ab .", "ab \n1", "aé語。 ", "ab"]))
    entries = list(letters[: draw(st.integers(1, len(letters)))])
    within = draw(st.booleans())  # entries of one word come first, as training makes them
    count = draw(st.integers(0, 25))
    for number in range(count):
        left, right = (entries[draw(st.integers(0, len(entries) - 1))] for _ in range(2))
        one_word = len(_core.split_words(left + right)) == 1
        if left + right not in entries and (one_word or not within or number > count // 2):
            entries.append(left + right)
    text = st.one_of(
        st.text(letters, max_size=40),
        st.lists(st.sampled_from(entries), max_size=30).map("".join),
        st.lists(st.sampled_from(entries), min_size=60, max_size=90).map("".join),
    )
    return entries, draw(st.lists(text, max_size=4))


@settings(max_examples=3000, deadline=None)
@given(made=vocabularies(), by_class=st.booleans())
def test_two_levels_encode_as_the_rule_does(
    made: tuple[list[str], list[str]], by_class: bool
) -> None:
    entries, texts = made
    core = _core.Encoder(entries, [1] * len(entries), fewest=False, first_id=0)
    over_store, neighbours = _core.Survey(core, 8), Counter[tuple[int, int]]()
    store = stored(texts, by_class=by_class)
    over_store.count(store, 1)
    uses, documents = [0] * len(entries), [0] * len(entries)
    for text in texts:
        ids = [one - 256 for one in core.encode(text)]
        for one in ids:
            if one >= 0:
                uses[one] += 1
        for one in set(ids):
            if one >= 0:
                documents[one] += 1
        pairs = zip(ids, ids[1:], strict=False)
        neighbours.update((left, right) for left, right in pairs if min(left, right) >= 0)
    assert over_store.uses().tolist() == uses
    assert over_store.documents().tolist() == documents
    found = _core.Neighbours(over_store, 1)
    found.count(store, 1)
    rows = zip(*(column.tolist() for column in found.rows()), strict=True)
    assert {(left, right): count for left, right, count in rows} == neighbours


@pytest.mark.parametrize("memory", [0, 1 << 28])
@pytest.mark.parametrize("fewest", [False, True])
def test_kept_encodings_have_the_same_neighbours(fewest: bool, memory: int) -> None:
    core = encoder(fewest)
    expected = survey(fewest)(lambda table: table.count(DOCUMENTS, 1))
    for source in (DOCUMENTS, in_portions(DOCUMENTS)):
        found, kept = _core.Survey(core, 12), _core.Encoded(memory)
        found.count(source, 2, keep=kept)
        neighbours = _core.Neighbours(found, 2)
        neighbours.count(kept, 2)
        assert len(kept) == len(DOCUMENTS)
        assert columns([found.uses(), found.documents(), *neighbours.rows()]) == expected
