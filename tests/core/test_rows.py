"""Rows: tables that spill to files are as those in memory, and sorted blocks of rows add up."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from sanitizers import own_memory

from supratok.common import _core
from texts import HOSTILE, corpus, prose

BITS = 12
TINY = 1  # byte: a part of the table spills whenever something was added to it
Columns = list[object]


def words_of(
    documents: list[str], folder: Path | None = None, threads: int = 1, *, cuts: int = 7
) -> _core.WordTable:
    """The words; with a folder, spilled again and again."""
    table = _core.WordTable(BITS)
    if folder is not None:
        table.limit(TINY, str(folder), threads)
    for start in range(cuts):
        table.count(documents[start::cuts], threads)
    return table


def random_words(rng: random.Random, bits: int, number: int) -> str:
    letters = str.maketrans("0123456789abcdef", "abcdefghijklmnop")
    return " ".join(f"{rng.getrandbits(bits):x}" for _ in range(number)).translate(letters)


def in_lists(columns: Iterable[object]) -> Columns:
    return [c.tolist() if isinstance(c, np.ndarray) else c for c in columns]


def decoded(blocks: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    """A plain twin of the core's reader."""
    for block in blocks:
        size, rows, crc = struct.unpack_from("<3I", block)
        assert size == len(block) - 12 and crc == zlib.crc32(block[:8] + block[12:])
        at, text = 12, b""
        for _ in range(rows):
            shared, at = number(block, at)
            rest, at = number(block, at)
            text, at = text[:shared] + block[at : at + rest], at + rest
            count, at = number(block, at)
            yield text, count
        assert at == len(block)


def number(block: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (block[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if block[at - 1] < 128:
            return value, at


def encoded(rows: Iterable[tuple[bytes, int]]) -> bytes:
    """One block, without any shared bytes: valid as well."""
    body, total = bytearray(), 0
    for text, count in rows:
        for value in (0, len(text)):
            body += varint(value)
        body += text + varint(count)
        total += 1
    head = struct.pack("<2I", len(body), total)
    return head + struct.pack("<I", zlib.crc32(head + body)) + body


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


# --- Tables that spill -------------------------------------------------------------------------


def word_columns(table: _core.WordTable) -> Columns:
    texts, counts = table.rows()
    bigrams = _core.Bigrams(table, [_core.char_class("a")[1]])
    asked = [*texts[::3], "never seen", "", *texts[:2]]
    alphabet = sorted({ord(char) for text in texts for char in text})
    changes = [*texts[:5], "newcomer"]
    sequences = _core.Sequences.of_words(table, alphabet, bigrams, 2, changes, [-1] * 5 + [9])
    merger = _core.Merger.over_characters(sequences, alphabet, _core.Limits(bytes=20), 2)
    merger.run(50)
    return in_lists(
        [texts, counts, *table.rows(3), *table.rows_of_script(_core.char_class("日")[1]),
         table.counts_of(asked), table.totals(), table.characters(), len(table), len(bigrams),
         bigrams.below(3), merger.texts(), merger.counts(), table.pairs.counters(),
         list(decoded(table.rows_blocks()))]
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_a_spilled_table_of_words_is_as_one_in_memory(
    seed: int, threads: int, tmp_path: Path
) -> None:
    documents = corpus(seed, 90) + HOSTILE + prose(seed, 40)
    limited = words_of(documents, tmp_path, threads, cuts=1 + seed * 9)
    plain = words_of(documents)
    assert word_columns(limited) == word_columns(plain)
    assert word_columns(limited) == word_columns(plain)  # once more, from the merged files
    limited.count(documents, threads)  # it goes on after it was read
    plain.count(documents, 1)
    assert word_columns(limited) == word_columns(plain)


def test_tables_of_megabytes_spill_on_several_threads(tmp_path: Path) -> None:
    rng = random.Random(1)
    documents = [random_words(rng, 17, 20_000) for _ in range(40)]
    expected = word_columns(words_of(documents, cuts=1))
    for threads in (1, 3):
        limited = _core.WordTable(BITS)
        limited.limit(7 << 20, str(tmp_path), threads)
        limited.count(documents, threads)
        assert word_columns(limited) == expected


def test_hundreds_of_spills_are_merged_on_the_way(tmp_path: Path) -> None:
    documents = [f"a b c w{i % 97} x{i}" for i in range(600)]
    limited = words_of(documents, tmp_path, cuts=600)
    assert word_columns(limited) == word_columns(words_of(documents))


def test_a_spilled_table_of_runs_is_as_one_in_memory(tmp_path: Path) -> None:
    documents = prose(3, 150) + corpus(3)
    words = words_of(documents)
    known = words.rows()[0]
    found = []
    for folder in (None, tmp_path):
        runs = _core.RunTable(_core.Units(known, _core.Joints()), words.pairs, 1)
        if folder:
            runs.limit(TINY, str(folder))
        for start in range(5):
            runs.count(documents[start::5], 2)
        size, rows, ngrams = len(runs), list(decoded(runs.rows_blocks())), runs.ngrams(4, 1)
        merger = _core.Merger.over_words(
            _core.Sequences.of_runs(runs), known, _core.Limits(bytes=60), 2
        )
        merger.run(40)
        found.append(in_lists([size, rows, *ngrams, merger.texts(), merger.counts()]))
        assert len(runs) == 0 and list(runs.rows_blocks()) == []
    assert found[0] == found[1] and found[0][0]


def test_spilled_tables_of_neighbours_are_as_those_in_memory(tmp_path: Path) -> None:
    documents = prose(4, 150)
    words = words_of(documents)
    known = words.rows()[0]
    known.sort(key=len)  # characters come first
    encoder = _core.Encoder(known, [1] * len(known), fewest=True, first_id=0)
    survey = _core.Survey(encoder, BITS)
    survey.count(documents, 1)
    spans = _core.SpanTable(known, range(len(known)), [1] * len(known), 3)
    spans.find(documents, words, 2)
    found = []
    for folder in (None, tmp_path):
        pairs = _core.Neighbours(survey, 2)
        sides = _core.NeighbourTable(spans, range(len(spans)))
        for table in (pairs, sides):
            if folder:
                table.limit(TINY, str(folder))
            for start in range(5):
                table.count(documents[start::5], 2)
        found.append(in_lists([*pairs.rows(), *sides.summary()]))
        found[-1] += [list(decoded(pairs.rows_blocks())), list(decoded(sides.rows_blocks()))]
    assert found[0] == found[1] and found[0][0]


def test_files_leave_nothing_behind(tmp_path: Path) -> None:
    table = words_of(prose(5, 50), tmp_path)
    assert len(table) > 0
    blocks = table.rows_blocks()
    del table
    assert list(decoded(blocks))  # they keep the table
    del blocks
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    table = _core.WordTable(BITS)
    table.limit(TINY, str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="nowhere") as caught:
        table.count(["a b c"], 2)
    assert "see that its folder exists" in str(caught.value)


FULL_DISK = """
import resource, sys
from supratok.common import _core
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
table = _core.WordTable(10)
table.limit(1, sys.argv[1])
try:
    for i in range(100):
        table.count([" ".join(f"w{i}x{n}" for n in range(50_000))], 1)
except OSError as error:
    print(error.filename, error.strerror)
"""


def test_a_full_disk_is_a_clear_error(tmp_path: Path) -> None:
    found = run(FULL_DISK, tmp_path)
    assert str(tmp_path) in found and "has room" in found


MEMORY = """
import sys
from supratok.common import _core
letters = str.maketrans("0123456789abcdef", "abcdefghijklmnop")
def peak():
    # Not getrusage's, which a new process takes over from its parent.
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) >> 10
def documents():
    for i in range(300):
        numbers = (f"{(i * 10_000 + n) * 2654435761 % 2**32:x}" for n in range(10_000))
        yield " ".join(numbers).translate(letters)
limit, threads = int(sys.argv[2]), int(sys.argv[3])
table = _core.WordTable(10)
if limit:
    table.limit(limit << 20, sys.argv[1], threads)
table.count(["a " * 1000], threads)
before = peak()
table.count(documents(), threads)
counted = peak() - before
assert len(table) > 3_000_000
sum(map(len, table.rows_blocks()))
print(counted, peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no peak of memory to read")
@own_memory
@pytest.mark.parametrize("threads", [1, 3])
def test_memory_stays_below_the_limit(threads: int, tmp_path: Path) -> None:
    """Three million words take about 200 MB."""
    unlimited = int(run(MEMORY, tmp_path, 0, threads).split()[0])
    limited = [int(grown) for grown in run(MEMORY, tmp_path, 32, threads).split()]
    assert unlimited > 130
    # 32 MB of the table, and about 20 MB of each thread for the words of the text at hand.
    assert max(limited) < 32 + 24 * (threads + 1), limited


def run(script: str, *arguments: object) -> str:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


# --- Blocks of rows ----------------------------------------------------------------------------


def test_rows_are_sorted_by_bytes_and_cut_into_blocks() -> None:
    rng = random.Random(6)
    documents = [random_words(rng, 40, 250_000)]
    table = words_of(documents + HOSTILE, cuts=1)
    blocks = list(table.rows_blocks())
    assert len(blocks) > 2
    found = list(decoded(blocks))
    assert [text for text, _ in found] == sorted({text for text, _ in found})
    texts, counts = table.rows()
    assert dict(found) == dict(zip([t.encode() for t in texts], counts.tolist(), strict=True))
    again = _core.WordTable(BITS)
    for block in reversed(blocks):
        again.add_rows(block)
    assert list(again.rows_blocks()) == blocks


def test_merged_streams_add_up() -> None:
    rng = random.Random(7)
    tables = [Counter(rng.choices(range(300), k=rng.randint(0, 400))) for _ in range(30)]
    streams = [
        iter([encoded(sorted((bytes([n % 7, n // 7]), count) for n, count in table.items()))])
        for table in tables
    ]
    total = sum(tables, Counter[int]())
    merged = list(decoded(_core.merge_rows([*streams, iter([])])))
    assert merged == sorted((bytes([n % 7, n // 7]), count) for n, count in total.items())
    assert list(_core.merge_rows([])) == []


def test_no_cut_of_the_documents_changes_the_merged_stream() -> None:
    documents = corpus(8, 200)
    whole = list(words_of(documents).rows_blocks())
    shards = [words_of(documents[start::5]) for start in range(5)]
    assert list(_core.merge_rows([shard.rows_blocks() for shard in shards])) == whole


def test_every_damaged_bit_is_noticed() -> None:
    block = encoded([(b"a", 5), (b"ab", 1 << 40), (b"b" * 200, 3)])
    assert list(_core.merge_rows([iter([block])]))
    for at in range(len(block)):
        for bit in range(8):
            damaged = bytearray(block)
            damaged[at] ^= 1 << bit
            with pytest.raises(ValueError, match="damaged"):
                list(_core.merge_rows([iter([bytes(damaged)])]))
    for size in range(len(block)):
        with pytest.raises(ValueError, match="damaged"):
            list(_core.merge_rows([iter([block[:size]])]))


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([(b"b", 1), (b"a", 1)], "not sorted"),
        ([(b"a", 1), (b"a", 1)], "not sorted"),
        ([(b"a", 1 << 63)], "a count of"),
    ],
)
def test_rows_that_others_made_wrongly_are_refused(rows: list[tuple[bytes, int]], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        list(_core.merge_rows([iter([encoded(rows)])]))


def test_a_count_never_wraps() -> None:
    most = encoded([(b"a", (1 << 63) - 1)])
    assert list(decoded(_core.merge_rows([iter([most])]))) == [(b"a", (1 << 63) - 1)]
    with pytest.raises(ValueError, match="add up"):
        list(_core.merge_rows([iter([most]), iter([encoded([(b"a", 1)])])]))


@pytest.mark.parametrize(
    "text", [b"", b"\x80", b"\xed\xa0\x80", b"\xc0\x80", b"a\xf0\x9f", b"\xff"]
)
def test_a_row_that_is_no_word_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        _core.WordTable(BITS).add_rows(encoded([(text, 1)]))


def test_a_run_of_unknown_words_is_refused() -> None:
    runs = _core.RunTable(_core.Units(["a", " b"], _core.Joints()), _core.PairSketch(BITS), 1)
    runs.add_rows(encoded([(struct.pack("<2I", 0, 1), 4)]))
    assert len(runs) == 1
    for text in (struct.pack("<2I", 0, 2), struct.pack("<I", 0), b"abcdefghi"):
        with pytest.raises(ValueError, match="does not fit"):
            runs.add_rows(encoded([(text, 1)]))


def test_a_table_that_changes_stops_its_rows() -> None:
    table = words_of(prose(9, 50))
    blocks = table.rows_blocks()
    table.count(["more"], 1)
    with pytest.raises(ValueError, match="changed"):
        next(blocks)


def test_an_error_in_a_stream_goes_up() -> None:
    def stream() -> Iterator[bytes]:
        yield encoded([(b"a", 1)])
        raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        list(_core.merge_rows([stream()]))
    with pytest.raises((TypeError, RuntimeError)):
        list(_core.merge_rows([iter([3])]))  # type: ignore[list-item]


def test_sketches_add_up_and_stop_at_their_most() -> None:
    documents = corpus(10, 100)
    whole = words_of(documents).pairs.counters()
    total = _core.WordTable(BITS)
    for start in range(3):
        total.pairs.add(words_of(documents[start::3]).pairs.counters())
    assert total.pairs.counters().tolist() == whole.tolist()
    most = 0xF0000000
    total.pairs.add(np.full(1 << BITS, most - 1, np.uint32))
    assert (
        total.pairs.counters().tolist()
        == np.minimum(whole.astype(np.uint64) + most - 1, most).tolist()
    )
    total.count(["a b " * 5], 1)
    total.pairs.add(np.full(1 << BITS, 0xFFFFFFFF, np.uint32))
    assert set(total.pairs.counters().tolist()) == {most}
    with pytest.raises(ValueError, match="do not add up"):
        total.pairs.add(np.zeros(8, np.uint32))
    with pytest.raises(TypeError):
        total.pairs.add(np.zeros(1 << BITS, np.int64))
