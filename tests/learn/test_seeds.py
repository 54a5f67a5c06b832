"""Mining phrases equals a plain search of all windows, in any order; and the command."""

from __future__ import annotations

import csv
import io
import json
import math
import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands import good, refused, run
from supratok import Recipe
from supratok.common import _core
from supratok.common.progress import Progress
from supratok.corpus import open_corpus
from supratok.learn.runs import count_runs
from supratok.learn.seeds import Phrase, mine_runs, total_words
from supratok.readings import SKETCH_BITS, UNSPACED, LocalText, Units
from supratok.recipe import Seeds
from texts import corpus, prose

PLAIN = Recipe(vocab_size=1000)
SMALL = Seeds(min_count=2, min_pmi=-99.0)
Window = tuple[str, ...]


def read(
    documents: list[str], threads: int = 1, hold_out: bool = False
) -> tuple[LocalText, _core.WordTable]:
    share = 0.05 if hold_out else 0
    text = LocalText(open_corpus(documents), None, threads, Progress(), hold_out=share)
    return text, text.words(PLAIN)[0]


def runs_of(
    text: LocalText, words: _core.WordTable, known: list[str], floor: int
) -> _core.RunTable:
    return count_runs(text, words, Units(PLAIN, known), floor)[0]


def mined(
    documents: list[str], seeds: Seeds, threads: int = 1
) -> tuple[list[Phrase], dict[str, Any]]:
    text, words = read(documents, threads)
    known, counts = words.rows(seeds.min_count)
    table = runs_of(text, words, known, seeds.min_count)
    return mine_runs(table, known, counts, total_words(words), seeds)


# --- The slow twin: every window of the documents, and the rules as they are written -----------


def is_word(unit: str) -> bool:
    return _core.char_class(unit.strip(" ")[0])[0] in (0, 2, 6)


def may_begin(unit: str) -> bool:
    return is_word(unit) and (unit[0] == " " or "日" <= unit[0] <= "語" or unit[0] in "です")


def windows(documents: list[str], longest: int) -> Counter[Window]:
    counts: Counter[Window] = Counter()
    for document in documents:
        units = _core.split_words(document)
        for start in range(len(units)):
            for n in range(1, longest + 1):
                window = tuple(units[start : start + n])
                if len(window) < n or any(
                    _core.char_class(u.strip(" ")[:1] or " ")[0] in (3, 4, 5) for u in window
                ):
                    break
                counts[window] += 1
    return counts


def plain_mine(documents: list[str], seeds: Seeds) -> list[Phrase]:
    counts = windows(documents, 2 * seeds.max_words - 1)
    total = sum(count for w, count in counts.items() if len(w) == 1 and is_word(w[0]))
    candidates: dict[Window, Phrase] = {}
    for window, count in counts.items():
        words = [unit for unit in window if is_word(unit)]
        if count < seeds.min_count or not seeds.min_words <= len(words) <= seeds.max_words:
            continue
        if not may_begin(window[0]) or not is_word(window[-1]):
            continue
        pmi = math.log2(count / total) - sum(math.log2(counts[(w,)] / total) for w in words)
        npmi = pmi / -math.log2(count / total)
        if pmi >= seeds.min_pmi and npmi >= seeds.min_npmi:
            candidates[window] = Phrase("".join(window), len(words), count, pmi, npmi)
    order = sorted(candidates, key=lambda w: (-len(w), *by_count(candidates[w])))
    chosen, standing = list[Window](), list[Window]()
    for window in order:
        if any(inside(window, q, counts, seeds.overlap) for q in standing):
            continue
        standing.append(window)
        if not any(shifted(window, q, counts, seeds.overlap) for q in chosen):
            chosen.append(window)
    return sorted((candidates[window] for window in chosen), key=by_count)


def by_count(phrase: Phrase) -> tuple[int, int, str]:
    return -phrase.count, len(phrase.text), phrase.text


def inside(p: Window, q: Window, counts: Counter[Window], overlap: float) -> bool:
    n = len(p)
    places = range(len(q) - n + 1) if n < len(q) else ()
    return counts[q] >= overlap * counts[p] and any(q[i : i + n] == p for i in places)


def shifted(p: Window, q: Window, counts: Counter[Window], overlap: float) -> bool:
    """One begins with what the other ends with, and that part is nearly always in both."""
    return any(
        p_part == q_part and min(counts[p], counts[q]) >= overlap * counts[p_part]
        for k in range(1, min(len(p), len(q)))
        for p_part, q_part in ((p[:k], q[-k:]), (p[-k:], q[:k]))
    )


def assert_same(found: list[Phrase], expected: list[Phrase]) -> None:
    assert [phrase[:3] for phrase in found] == [phrase[:3] for phrase in expected]
    for mine_, plain in zip(found, expected, strict=True):
        assert mine_.pmi == pytest.approx(plain.pmi, abs=1e-9)
        assert mine_.npmi == pytest.approx(plain.npmi, abs=1e-9)


FEW = [" a", " b", " c", ",", "-", "b", " 1", "\n", "日", "。", "'", "b", " a b c b a", " b c"]
repetitive = st.lists(st.lists(st.sampled_from(FEW), max_size=12).map("".join), max_size=8)
options = st.builds(
    Seeds,
    min_words=st.just(2),
    max_words=st.integers(2, 5),
    min_count=st.integers(1, 4),
    min_pmi=st.sampled_from([-99.0, 0.013, 1.017]),
    min_npmi=st.sampled_from([-1.0, 0.111]),
    overlap=st.sampled_from([0.5, 0.67, 0.9, 1.0]),
)


@settings(max_examples=200, deadline=None)
@given(repetitive, options)
def test_equals_the_slow_twin(documents: list[str], seeds: Seeds) -> None:
    documents = [*documents, " a b"]  # a corpus is not empty
    assert_same(mined(documents, seeds)[0], plain_mine(documents, seeds))


@pytest.mark.parametrize("seed", range(4))
def test_equals_the_slow_twin_on_larger_corpora(seed: int) -> None:
    documents = prose(seed, 150) + corpus(seed, 60)
    seeds = Seeds(min_count=3, min_pmi=1.0 + seed / 7, max_words=4)
    found, _ = mined(documents, seeds)
    assert len(found) > 50
    assert_same(found, plain_mine(documents, seeds))


@settings(max_examples=60, deadline=None)
@given(repetitive, st.integers(2, 7), st.integers(1, 4))
def test_ngrams_are_all_frequent_windows(documents: list[str], longest: int, least: int) -> None:
    split, words = read([*documents, " a b"])
    known, _ = words.rows()
    table = runs_of(split, words, known, 1)
    lefts, rights, counts, tried, frequent = table.ngrams(longest, least)
    units: list[tuple[int, ...]] = [(place,) for place in range(len(known))]
    for left, right in zip(lefts.tolist(), rights.tolist(), strict=True):
        assert units[left][1:] == units[right][:-1]
        units.append((*units[left], units[right][-1]))
    found = [tuple(known[place] for place in row) for row in units[len(known) :]]
    slow = windows([*documents, " a b"], longest)
    expected = {w: count for w, count in slow.items() if len(w) > 1 and count >= least}
    assert dict(zip(found, counts.tolist(), strict=True)) == expected
    lengths = Counter(map(len, found))
    assert frequent.tolist() == [lengths[n + 2] for n in range(len(frequent))]
    assert (tried >= frequent).all()
    rows = [(len(row), row) for row in units[len(known) :]]
    assert all(a < b for a, b in pairwise(rows))  # sorted, each once


def test_counting_keeps_the_runs() -> None:
    documents = prose(1, 40)
    split, words = read(documents)
    table = runs_of(split, words, words.rows(2)[0], 2)
    runs = len(table)
    first, second = table.ngrams(5, 2), table.ngrams(5, 2)
    assert len(table) == runs > 0
    assert [column.tolist() for column in first] == [column.tolist() for column in second]


def test_nothing_to_count() -> None:
    table = _core.RunTable(_core.Units([], JOINTS), _core.PairSketch(SKETCH_BITS), 1)
    assert [len(column) for column in table.ngrams(5, 1)] == [0] * 5
    assert mine_runs(table, [], np.zeros(0, dtype=np.int64), 0, SMALL)[0] == []


JOINTS = _core.Joints()


# --- By hand -----------------------------------------------------------------------------------


def test_a_worked_example() -> None:
    """1,000 words: " New" 100 times, " York" 80 times, always behind " New"; 820 others."""
    others = [f" {chr(97 + i // 26)}{chr(97 + i % 26)}z" for i in range(410)]
    documents = [" New York"] * 80 + [" New"] * 20 + others * 2
    (york,), report = mined(documents, replace(SMALL, min_count=80))
    assert york[:3] == (" New York", 2, 80)
    assert york.pmi == pytest.approx(math.log2(0.08 / (0.1 * 0.08)))  # 3.32 bits
    assert york.npmi == pytest.approx(math.log2(10) / math.log2(12.5))  # 0.91
    assert york.gain == 80
    assert report["candidates"] == report["chosen"] == {"2": 1}
    assert mined(documents, replace(SMALL, min_count=80, min_pmi=3.33))[0] == []
    found, report = mined(documents, replace(SMALL, min_count=80, min_npmi=0.92))
    assert found == [] and report["rejected"]["npmi"] == 1 and report["chosen"] == {}


def test_punctuation_is_free() -> None:
    """It makes no word of the n and no factor; but a phrase neither begins nor ends with it."""
    documents = [" don't know."] * 8 + [" one, two"] * 8
    phrases = {phrase.text: phrase for phrase in mined(documents, replace(SMALL, overlap=1.0))[0]}
    assert {text: phrase.words for text, phrase in phrases.items()} == {
        " don't know": 3,
        " one, two": 2,
    }
    total = 5 * 8
    assert phrases[" one, two"].pmi == pytest.approx(math.log2((8 / total) / (8 / total) ** 2))


def test_windows_that_overlap_all_count() -> None:
    phrases, _ = mined([" ha ha ha ha"], replace(SMALL, min_count=3))
    assert [phrase[:3] for phrase in phrases] == [(" ha ha", 2, 3)]


def test_a_phrase_begins_with_its_space_unless_its_script_has_none() -> None:
    texts = {
        p.text for p in mined(["New York"] * 5 + ["学校。学生"] * 5 + ["ไทย、ไทย"] * 5, SMALL)[0]
    }
    assert texts == {"学校。学生", "ไทย、ไทย"}


def test_overlap_inside() -> None:
    """(a): " as well" is almost always in " as well as"; " well as", less often."""
    documents = [" as well as"] * 95 + [" as well"] * 5 + [" well as"] * 30
    texts = [phrase.text for phrase in mined(documents, SMALL)[0]]
    assert texts == [" well as", " as well as"]
    every = [phrase.text for phrase in mined(documents, replace(SMALL, overlap=1.0))[0]]
    assert every == [" well as", " as well", " as well as"]


def test_overlap_shifted() -> None:
    """(b): a sentence that recurs leaves its words once, not all its windows."""
    text = " the quick brown fox jumps over a lazy dog today"
    phrases, report = mined([text] * 20, replace(SMALL, max_words=4))
    covered = [word for phrase in phrases for word in phrase.text.split()]
    assert len(covered) == len(set(covered))
    assert [phrase.words for phrase in phrases] == [4, 4]
    assert sum(report["candidates"].values()) == 9 + 8 + 7
    assert report["rejected"]["overlap"] == 9 + 8 + 7 - 2


def test_the_report_adds_up() -> None:
    phrases, report = mined(prose(5, 200), Seeds(min_count=4, min_pmi=2.0, max_words=4))
    assert sum(report["chosen"].values()) == len(phrases)
    rejected = report["rejected"]
    assert sum(report["candidates"].values()) == len(phrases) + rejected["overlap"]
    assert list(rejected) == ["count", "surface", "words", "pmi", "npmi", "overlap"]
    assert all(rejected[reason] > 0 for reason in ("count", "surface", "words", "pmi", "overlap"))


def test_order_and_threads_do_not_matter() -> None:
    documents = prose(7, 200) + corpus(7, 60)
    seeds = Seeds(min_count=3, min_pmi=1.5)
    expected = mined(documents, seeds)
    for seed in range(3):
        random.Random(seed).shuffle(documents)
        assert mined(documents, seeds, threads=1 + seed) == expected


def test_counts_of_and_totals() -> None:
    _, words = read([" a b, 12 a\n", "日本 a"])
    assert words.counts_of([" a", " b", ",", "nowhere"]).tolist() == [3, 1, 1, 0]
    assert words.totals().tolist() == [5, 1, 1, 1, 0, 0]
    assert total_words(words) == 6
    assert words.rows(2)[0] == [" a"]


def test_all_documents_are_read_unless_some_are_held_out() -> None:
    documents = [f"document {number}" for number in range(400)]
    everything, words = read(documents)
    some, fewer = read(documents, hold_out=True)
    assert everything.totals.held_out_documents == 0 and not everything.deciding_texts()
    assert words.counts_of(["document"]).tolist() == [400]
    assert 0 < some.totals.held_out_documents < 400 and some.deciding_texts()
    assert fewer.counts_of(["document"]).tolist() == [400 - some.totals.held_out_documents]
    table = runs_of(everything, words, ["document", " "], 1)
    assert table.ngrams(2, 1)[2].sum() == 0
    known = words.rows()[0]
    assert runs_of(everything, words, known, 1).ngrams(2, 1)[2].sum() == 400


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"min_words": 1}, "min_words=1"),
        ({"max_words": 1}, "max_words=1"),
        ({"min_count": 0}, "min_count=0"),
        ({"min_count": 2.5}, "min_count=2.5: must be a whole number"),
        ({"min_npmi": -2.0}, "min_npmi=-2.0"),
        ({"overlap": 0.0}, "overlap=0.0"),
    ],
)
def test_bad_seeds_are_named(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Seeds(**values)


def test_counts_must_fit_the_words() -> None:
    table = _core.RunTable(_core.Units([" a"], JOINTS), _core.PairSketch(SKETCH_BITS), 1)
    with pytest.raises(ValueError, match="1 known words, but 2 counts"):
        mine_runs(table, [" a"], np.ones(2, dtype=np.int64), 2, SMALL)


# --- The command -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mine") / "corpus.txt"
    lines = [*prose(9, 250), *[' in New York, "as well as" in New York'] * 30]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


SAID = ("--min-count", 5, "--threads", 2)


def test_csv_and_json_say_the_same(text: Path, tmp_path: Path) -> None:
    rows = list(
        csv.DictReader(io.StringIO(good("mine", text, *SAID, "--output-format", "csv").decode()))
    )
    objects = [
        json.loads(line)
        for line in good("mine", text, *SAID, "--output-format", "json").splitlines()
    ]
    assert len(rows) > 50
    assert [{name: str(value) for name, value in row.items()} for row in objects] == rows
    expected, _ = mined(text.read_text(encoding="utf-8").splitlines(), Seeds(min_count=5))
    assert {row["phrase"] for row in objects} == {phrase.text for phrase in expected}
    worths = [row["worth"] for row in objects]
    assert worths == sorted(worths, reverse=True)
    out = tmp_path / "phrases.csv"
    assert good("mine", text, *SAID, "--output-format", "csv", "--out", out) == b""
    assert list(csv.DictReader(out.read_text(encoding="utf-8").splitlines())) == rows


def test_the_table(text: Path) -> None:
    done = run("mine", text, *SAID, "--sort", "count", "--top", 3)
    assert done.returncode == 0
    lines = done.stdout.decode().strip().splitlines()
    assert lines[0].split() == ["phrase", "words", "count", "PMI", "NPMI", "gain", "worth"]
    assert len(lines) == 2 + 3
    assert '" in New York"' in done.stdout.decode()
    assert "shown: 3; rejected by count" in done.stderr.decode()


def test_options_of_a_recipe(text: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("[seeds]\nmin_count = 30\nmax_words = 3\n", encoding="utf-8")

    def rows(*options: object) -> list[dict[str, Any]]:
        output = good("mine", text, "--recipe", recipe, "--output-format", "json", *options)
        return [json.loads(line) for line in output.splitlines()]

    assert all(row["count"] >= 30 and row["words"] <= 3 for row in rows())
    assert any(row["words"] == 3 for row in rows())
    assert {row["words"] for row in rows("--max-words", 2)} == {2}  # said here goes before


def test_errors_are_one_line(text: Path, tmp_path: Path) -> None:
    assert "min_count=0" in refused("mine", text, "--min-count", 0)
    assert "--top 0: must be at least 1" in refused("mine", text, "--top", 0)
    assert "a folder" in refused("mine", text, "--out", tmp_path)
    assert "nowhere.txt" in refused("mine", tmp_path / "nowhere.txt")
    bad = tmp_path / "bad.toml"
    bad.write_text("[seeds]\npmi = 3\n", encoding="utf-8")
    assert "unknown Seeds option 'pmi'" in refused("mine", text, "--recipe", bad)


@pytest.mark.parametrize("letter", "一กກកကཀᥐᦀᬅꦄ")
def test_a_phrase_may_begin_without_a_space_in_every_unspaced_script(letter: str) -> None:
    """Seeds know the same scripts as the rest of training; once they had a shorter list."""
    assert _core.char_class(letter)[1] in UNSPACED
    mined_texts = {phrase.text for phrase in mined([f"{letter} b", f"{letter} b"], SMALL)[0]}
    assert f"{letter} b" in mined_texts
