"""Script-aware processing: each rule by an example, and the whole equal to its plain twin."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import supratok
from seeds import seeds
from supratok import Boundaries, Recipe, reference
from supratok.common import _core
from supratok.corpus import split
from supratok.learn.scripts import (
    find_script_rules,
    hamza_changes,
    mine_suffixes,
    split_suffix,
    suffix_changes,
)
from supratok.readings import UNSPACED
from supratok.recipe import Scripts
from supratok.reference import scripts as reference_scripts
from supratok.reference import words as reference_words
from texts import HOSTILE, any_text, multilingual

SMALL = Scripts(gate=4, suffixes=12, suffix_weight=0.5, hamza=0.5)


def table_of(words: Mapping[str, int], by_class: bool = True) -> _core.WordTable:
    table = _core.WordTable(10, by_class)
    table.count((word for word, count in words.items() for _ in range(count)), 1)
    return table


def rows(table: _core.WordTable) -> dict[str, int]:
    texts, counts = table.rows()
    assert len(table) == len(texts)
    return dict(zip(texts, counts.tolist(), strict=True))


def texts_of(tokenizer: supratok.Tokenizer) -> set[str]:
    return {token.text for token in tokenizer.vocabulary}


# --- Without it: words by whitespace alone


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, big  world\n", ["Hello,", " big", " ", " world", "\n"]),
        ("don't x1", ["don't", " x1"]),
        ("abcдеж日本", ["abcдеж日本"]),
        ("a\tb\u00a0c", ["a", "\t", "b", "\u00a0", "c"]),
        ("a\x00b", ["a", "\x00", "b"]),
        (" \u0301a", [" \u0301a"]),  # a mark may lead a word
        ("", []),
    ],
)
def test_blind_words(text: str, words: list[str]) -> None:
    assert _core.split_words(text, by_class=False) == words
    assert reference_words.split_words(text, by_class=False) == words


@given(any_text)
def test_blind_words_equal_the_reference(text: str) -> None:
    words = _core.split_words(text, by_class=False)
    assert "".join(words) == text
    assert words == reference_words.split_words(text, by_class=False)
    assert all(_core.split_words(word, by_class=False) == [word] for word in words)


@pytest.mark.parametrize(
    "boundaries", [Boundaries.open(), Boundaries.careful(), Boundaries.clauses()]
)
def test_blind_tokens_keep_the_promises(boundaries: Boundaries) -> None:
    documents = ["He said: the cat, or cat2 in 12345.  No. The\tcats\x01 in日本 12!\nNew"] * 40
    recipe = Recipe(
        vocab_size=600, boundaries=boundaries, scripts=None, min_count=1, character_coverage=1.0
    )
    tokenizer = supratok.train(documents + multilingual(1), recipe, progress=False)
    for text in texts_of(tokenizer):
        words = reference_words.split_words(text, by_class=False)
        assert len(words) == 1 or not set(text) & set("\n\t\x01\u00a0"), text
        assert not set(text.strip(" ")) & set("\n\t\x01") or len(set(text.strip(" "))) == 1
        assert all(sum(char.isdigit() for char in word) <= 3 for word in words)
        assert len(words) <= 5
        for left, right in itertools.pairwise(words):
            assert reference_words.may_neighbour(left, right, boundaries, by_class=False), text
    if boundaries == Boundaries.open():
        assert {" cat,", " in日本"} <= texts_of(tokenizer)  # classes and scripts mix
        assert any("日本 12!" in text for text in texts_of(tokenizer))


# --- Scripts without spaces


def test_the_gate_by_example() -> None:
    """我们 is seen 5 times, 们看 once: the second word is cut between those two."""
    words = {"我们": 4, " 我们看": 1, " 我": 9, "ab": 1}
    bigrams = _core.Bigrams(table_of(words), list(UNSPACED))
    assert len(bigrams) == 2
    assert bigrams.below(5) == (1, 1)
    assert bigrams.below(6) == (2, 6)
    alphabet = [ord(char) for char in " 我们看ab"]
    sequences = [
        len(_core.Sequences.of_words(table_of(words), alphabet, bigrams, gate))
        for gate in (0, 5, 6)
    ]
    # Cells, and a gap after each sequence and at the start. Ungated: 我们 · 我们看 with its space ·
    # 我 with its space · ab; then 看 by itself has nothing to join, then 我|们 neither.
    assert sequences == [1 + 3 + 5 + 3 + 3, 1 + 3 + 4 + 3 + 3, 1 + 0 + 3 + 3 + 3]


def test_marks_and_kana_belong_to_their_script_and_other_scripts_are_not_gated() -> None:
    table = table_of({"ที่": 3, "ひカ漢": 2, "한국": 5, "где": 5, "12": 5, "。。": 5})
    bigrams = _core.Bigrams(table, list(UNSPACED))
    assert len(bigrams) == 4
    assert bigrams.below(99) == (4, 10)


@pytest.mark.parametrize("gate", [0, 3, 10])
def test_no_word_token_holds_a_rare_bigram(gate: int) -> None:
    documents = multilingual(2, 150)
    recipe = Recipe(vocab_size=900, scripts=replace(SMALL, gate=gate), min_count=1)
    tokenizer = supratok.train(documents, recipe, progress=False)
    training = [text for text in documents if not split.is_held_out(digest(text))]
    words = Counter(word for text in training for word in reference_words.split_words(text))
    rare = reference_scripts.rare_bigrams(words, recipe.scripts)
    broken = [
        token.text
        for token in tokenizer.vocabulary
        if token.born == "traditional" and len(reference_scripts.cut_at_rare(token.text, rare)) > 1
    ]
    assert not broken
    assert bool(rare) == (gate > 0)


def digest(text: str) -> int:
    return split.digest(text)


# --- Turkish and Finnish


def test_suffixes_by_example() -> None:
    words = {" kitap": 5, " kitaplar": 3, " okul": 4, " okullar": 2, " okulda": 9, " yıllar": 7,
             "okullar": 1, " Okulda": 50, " evler": 9, " ev": 9, "kitap1": 3}  # fmt: skip
    # "lar" follows kitap and okul, 3 + 2 + 1 times: 2 * 6. "da" follows okul alone. "yıl" was not
    # seen, and "ev" is too short.
    assert mine_suffixes(words.items(), 10) == ["lar"]
    more = words | {" kitapda": 2, " kitabı": 1}
    assert mine_suffixes(more.items(), 10) == ["da", "lar"]  # 2 * 11, 2 * 6
    assert mine_suffixes(more.items(), 1) == ["da"]


def test_splitting_by_example() -> None:
    suffixes = {"da", "lar", "larda", "a"}
    assert split_suffix(" kitaplarda", suffixes) == (" kitap", "larda")  # the longest
    assert split_suffix(" ağlarda", suffixes) == (" ağlar", "da")  # a stem of three letters
    assert split_suffix("oda", suffixes) is None
    assert split_suffix(" oda", suffixes) is None
    assert split_suffix("kitap", suffixes) is None
    assert suffix_changes([("okullar", 9), ("okul", 9), ("anlar", 1)], suffixes, 0.5) == {
        "okullar": -4, "okul": 4, "lar": 4,
    }  # fmt: skip


def test_changed_counts_vanish_at_zero_and_the_table_keeps_its_own() -> None:
    words = {" okullar": 4, "lar": 1, "x": 2}
    table = table_of(words)
    alphabet = [ord(char) for char in " okular"]
    limits = _core.Limits(bytes=64, digits=3)

    def merged(sequences: _core.Sequences) -> dict[str, int]:
        merger = _core.Merger.over_characters(sequences, alphabet, limits, 1)
        merger.run(99)
        return dict(zip(merger.texts(), merger.counts().tolist(), strict=True))

    by = np.array([-4, 4, 4])
    changed = _core.Sequences.of_words(table, alphabet, changes=[" okullar", " okul", "lar"], by=by)
    assert len(changed) == 1 + 6 + 4
    counts = merged(changed)
    assert (counts[" okul"], counts["lar"]) == (4, 5)
    assert " okullar" not in counts
    assert rows(table) == words
    whole = _core.Sequences.of_words(table, alphabet)
    assert len(whole) == 1 + 9 + 4
    assert merged(whole)[" okullar"] == 4
    with pytest.raises(ValueError, match="as many"):
        _core.Sequences.of_words(table, alphabet, changes=["x"], by=by)


@given(st.dictionaries(st.text("aklrıädn ", min_size=1, max_size=9), st.integers(1, 50)))
def test_suffixes_equal_the_reference(words: dict[str, int]) -> None:
    assert mine_suffixes(words.items(), 99) == reference_scripts.mine_suffixes(Counter(words))[:99]


# --- Arabic


def test_hamza_by_example() -> None:
    words = {"أن": 70, "ان": 30, "كتاب": 8, " مسؤول": 4, " مسوول": 1, "على": 5, "علي": 5}
    changes, groups = hamza_changes(words.items(), 0.5)
    assert changes == {"أن": -10, "ان": 10, " مسؤول": 0, " مسوول": 0}
    # 4 and 1 become 3.25 and 1.75: rounded down 3 and 1, and the one left goes to the first.
    assert groups == 2
    assert hamza_changes(words.items(), 0.0) == ({}, 0)
    pooled, _ = hamza_changes(words.items(), 1.0)
    assert pooled == {"أن": -20, "ان": 20, " مسؤول": -1, " مسوول": 1}


@given(
    st.dictionaries(st.text("اأإآٱوؤيئىء\u0654 ", min_size=1, max_size=4), st.integers(1, 99)),
    st.sampled_from([0.0, 0.1, 0.5, 1.0]),
)
def test_hamza_equals_the_reference(texts: dict[str, int], share: float) -> None:
    table = table_of(texts)
    words = rows(table)
    arabic = table.rows_of_script(_core.char_class("ا")[1])
    pairs = list(zip(arabic[0], arabic[1].tolist(), strict=True))
    changes, _ = hamza_changes(pairs, share)
    expected = reference_scripts.pool_hamza(Counter(words), share)
    assert {w: by for w, by in changes.items() if by} == {w: by for w, by in expected.items() if by}
    assert sum(changes.values()) == 0
    assert all(words[word] + by > 0 for word, by in changes.items())


# --- Korean


def test_hangul_joins_only_with_hangul() -> None:
    documents = ["한국 사람 abc 한국 사람 日本 한국어abc 사람, 12 한국"] * 60
    tokenizer = supratok.train(
        documents, Recipe(vocab_size=400, character_coverage=1.0), progress=False
    )
    scripts = [{_core.char_class(c)[1] for c in text} - {0} for text in texts_of(tokenizer)]
    hangul = _core.char_class("한")[1]
    assert any(hangul in found for found in scripts)
    assert all(found == {hangul} for found in scripts if hangul in found)
    assert "한국 사람" in texts_of(tokenizer)


# --- All together


@seeds((0, 3, 7, 8, 9, 10, 13, 15, 16, 17), 40)
def test_equals_the_reference(seed: int) -> None:
    rng = random.Random(seed)
    scripts = Scripts(
        gate=rng.choice([0, 3, 8]),
        suffixes=rng.choice([0, 3, 50]),
        suffix_weight=rng.choice([0.3, 0.5, 1.0]),
        hamza=rng.choice([0.0, 0.5, 1.0]),
    )
    recipe = Recipe(
        vocab_size=rng.choice([420, 500, 600]),
        segmentation=rng.choice(["merges", "fewest"]),
        boundaries=rng.choice([Boundaries.open(), Boundaries.careful(),
                               Boundaries(max_words=2, max_digits=1, one_script=False)]),
        scripts=rng.choice([None, scripts, scripts, scripts]),
        character_coverage=rng.choice([1.0, 0.97]),
        min_count=rng.choice([1, 2]),
        crossover=rng.choice([None, None, 0.9]),
    )  # fmt: skip
    documents = multilingual(seed, rng.choice([10, 60]))
    languages = {text: rng.choice(["tr", "fi-FI", "de"]) for text in documents[::3]}
    items = [{"text": text, "lang": languages.get(text)} for text in documents]
    tokenizer = supratok.train(items, recipe, threads=2, progress=False)
    expected = reference.train(documents, recipe, languages)
    assert list(tokenizer.vocabulary) == expected
    for text in documents[:10] + HOSTILE:
        assert tokenizer.encode(text) == reference.encode(text, expected, recipe)
        assert tokenizer.decode(tokenizer.encode(text)) == text


RULES = list(itertools.product([0, 5], [0, 20], [0.0, 0.5]))
NONE_OR_ALL = [RULES[0], RULES[-1]]
MIXED = [pytest.param(rules, marks=pytest.mark.slow) for rules in RULES[1:-1]]


@pytest.mark.parametrize("segmentation", ["merges", "fewest"])
@pytest.mark.parametrize("rules", [None, *NONE_OR_ALL, *MIXED])
def test_every_combination_is_lossless(
    rules: tuple[int, int, float] | None, segmentation: supratok.recipe.Segmentation
) -> None:
    scripts = None
    if rules is not None:
        scripts = Scripts(gate=rules[0], suffixes=rules[1], suffix_weight=0.5, hamza=rules[2])
    recipe = Recipe(vocab_size=700, segmentation=segmentation, scripts=scripts)
    tokenizer = supratok.train(multilingual(5, 200) + HOSTILE, recipe, progress=False)
    for text in multilingual(6, 30) + HOSTILE:
        assert tokenizer.decode(tokenizer.encode(text)) == text
    for token in tokenizer.vocabulary:
        assert tokenizer.tokens(token.text) == [token.text]


def test_threads_and_order_do_not_matter(tmp_path: Path) -> None:
    documents = multilingual(7, 400)
    saved = []
    for threads, order in ((1, documents), (2, documents[::-1]), (8, sorted(documents))):
        recipe = Recipe(vocab_size=700, scripts=SMALL)
        tokenizer = supratok.train(order, recipe, threads=threads, progress=False)
        tokenizer.save(tmp_path / "tokenizer.json")
        saved.append((tmp_path / "tokenizer.json").read_bytes())
    assert saved[0] == saved[1] == saved[2]


def test_the_report_and_what_stays_as_it_was() -> None:
    """Suffixes and hamza change no count of a character, and no word of the table."""
    documents = multilingual(8, 200)
    recipe = Recipe(vocab_size=700, scripts=SMALL, character_coverage=1.0)
    tokenizer = supratok.train(documents, recipe, progress=False)
    off = replace(recipe, scripts=Scripts(gate=0, suffixes=0, hamza=0))
    plain = supratok.train(documents, off, progress=False)

    def alphabet(of: supratok.Tokenizer) -> list[supratok.Token]:
        return [token for token in of.vocabulary if token.born == "alphabet"]

    def words(of: supratok.Tokenizer) -> int:
        count = of.report["passes"]["traditional"]["words"]
        assert isinstance(count, int)
        return count

    assert alphabet(tokenizer) == alphabet(plain)
    assert words(tokenizer) == words(plain)
    report = tokenizer.report["passes"]["scripts"]
    assert report["documents"]["tr"] > 0
    assert report["documents"]["fi"] > 0
    assert "lar" in report["suffixes"]["tr"]
    assert "ssa" in report["suffixes"]["fi"]
    assert min(report["bigrams"].values()) > 0
    assert report["hamza_groups"] > 0
    nothing = {"kept": 0, "gated": 0, "cuts": 0}
    assert plain.report["passes"]["scripts"] == {
        "documents": {"tr": 0, "fi": 0}, "suffixes": {}, "bigrams": nothing, "hamza_groups": 0,
    }  # fmt: skip
    blind = supratok.train(documents, replace(recipe, scripts=None), progress=False)
    assert "scripts" not in blind.report


def test_no_rules_without_scripts() -> None:
    rules = find_script_rules(table_of({"أن": 7, "ان": 3, "我们": 1}, False), {}, None)
    assert (rules.changes, rules.bigrams, rules.report) == ({}, None, {})
