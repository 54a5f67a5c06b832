"""The reference borrows no fast code, agrees with it on constants and characters, covers curation
and seeds, and refuses what it does not cover. The other tests of equality are in
test_train, learn/test_screen, learn/test_scripts, core/test_encode, extend/test_extend."""

from __future__ import annotations

import ast
import random
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import supratok
from seeds import seeds
from supratok import Boundaries, Recipe, readings, reference
from supratok.common import _core
from supratok.corpus import curate, open_corpus
from supratok.corpus.split import digest
from supratok.learn import multiword, prune
from supratok.learn import scripts as learn_scripts
from supratok.recipe import Curation, Expressions, Screen, Scripts, Seeds
from supratok.reference import curation, passes, phrases, scripts, words
from supratok.tokenizer import BYTES
from texts import any_text, corpus, multilingual, prose

ROOM = Path(reference.__file__).parent

# --- What it borrows

# From this package: modules, and the names that the reference takes from them.
BORROWED = {
    "recipe": None,  # any
    "tokenizer": {"Token"},
    "corpus.split": {"digest", "held_out_half", "is_held_out"},
    "corpus.languages": {"language_of"},
    "common._core": {"char_class"},  # the table of characters
}
STANDARD = {
    "__future__", "bisect", "collections", "collections.abc", "fractions", "hashlib", "itertools",
    "math", "typing", "unicodedata",
}  # fmt: skip


@pytest.mark.parametrize("path", sorted(ROOM.glob("*.py")), ids=lambda path: path.name)
def test_no_fast_code_is_borrowed(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= STANDARD
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            assert node.module in STANDARD
        if isinstance(node, ast.ImportFrom) and node.level == 2:
            assert node.module in BORROWED
            allowed = BORROWED[node.module]
            assert allowed is None or {alias.name for alias in node.names} <= allowed
        assert not isinstance(node, ast.ImportFrom) or node.level < 3


# --- What is written twice


def test_constants_agree() -> None:
    assert passes.BYTES == BYTES
    assert passes.ROUNDS == prune.ROUNDS
    assert passes.HELD_OUT_WEIGHT == prune.HELD_OUT_WEIGHT
    assert phrases.UNSPACED_SHARE == multiword._UNSPACED_SHARE
    assert set(readings.UNSPACED) == words.UNSPACED
    assert scripts.LANGUAGES == learn_scripts.LANGUAGES
    assert scripts.LONGEST_SUFFIX == learn_scripts._LONGEST_SUFFIX
    assert scripts.SHORTEST_STEM == learn_scripts._SHORTEST_STEM
    assert scripts.MINED_WORDS == learn_scripts._MINED_WORDS
    for start, end in ((500, 300), (301, 300), (1000, 257)):
        for round in range(1, passes.ROUNDS + 1):
            expected = prune.round_size(start, end, round)
            assert passes.round_size(start, end, round) == expected


EVERY = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="the table is Unicode 14's")
def test_the_table_of_characters_says_what_unicode_says() -> None:
    """Of every code point. A newer Python knows more characters, so the table must be data."""
    classes = {"L": 0, "P": 1, "S": 1, "N": 2, "Z": 3, "C": 5, "M": 6}
    expected = {char: classes[unicodedata.category(char)[0]] for char in EVERY}
    expected |= dict.fromkeys("\n\r\x0b\x0c\x85\u2028\u2029", words.NEWLINE)
    expected |= dict.fromkeys("\u200c\u200d", words.EXTEND)
    assert {char: words.class_of(char) for char in EVERY} == expected


@pytest.mark.parametrize("rules", [Boundaries.careful(), Boundaries.clauses()])
def test_phrases_end_at_the_same_characters(rules: Boundaries) -> None:
    """Every mark as the last of a word, as the last but one, and behind a full stop."""
    marks = [char for char in EVERY if words.class_of(char) == words.PUNCT]
    for by_class in (True, False):
        aware = Scripts() if by_class else None
        joints = readings.joints(Recipe(vocab_size=300, boundaries=rules, scripts=aware))
        for char in marks:
            for left in (char, f"{char})", f".{char}"):
                if len(words.split_words(left, by_class)) > 1:
                    continue
                for right in ("a", " a"):
                    expected = joints.allow(left, right)
                    assert words.may_neighbour(left, right, rules, by_class) == expected


# --- What it covers beyond the tests of the fast code


def some_recipe(rng: random.Random) -> Recipe:
    return Recipe(
        vocab_size=rng.choice([400, 500]),
        segmentation=rng.choice(["merges", "fewest"]),
        boundaries=Boundaries(whole_words=rng.random() < 0.5, max_words=rng.choice([2, 5])),
        screen=Screen(min_pmi=rng.choice([0.5, 2.0, 99.0]), min_count=2),
        seeds=Seeds(
            min_count=rng.choice([2, 5]),
            min_pmi=rng.choice([0.0, 1.0, 2.0]),
            max_words=rng.choice([2, 3, 6]),
            overlap=rng.choice([0.5, 0.9, 1.0]),
        ),
        curation=rng.choice([
            None,
            Curation(),
            Curation(low=5.0, high=6.5, keep=(0.2, 0.5, 0.9)),
            Curation(low=0.1, high=0.4, keep=(0.1, 0.5, 0.9), by_quantile=True),
        ]),
        **rng.choice([{"phrase_price": 1.0}, {"saving": 0.8}]),  # type: ignore[arg-type]
    )  # fmt: skip


@seeds((0, 2, 7, 9, 12), 20)
def test_seeds_and_curation_equal_the_reference(seed: int) -> None:
    rng = random.Random(seed)
    documents = rng.choice([
        [text[:120] for text in prose(seed, 80)],
        corpus(seed, 60) + multilingual(seed, 10),
        multilingual(seed, 60),
    ])  # fmt: skip
    recipe = some_recipe(rng)
    tokenizer = supratok.train(documents, recipe, progress=False)
    assert list(tokenizer.vocabulary) == reference.train(documents, recipe)


@given(any_text)
def test_curation_sees_the_same_entropy_and_chance(text: str) -> None:
    assert curation.bigram_entropy(text) == _core.bigram_entropy(text)
    assert curation.chance(text) == curate.chance(digest(text))


@pytest.mark.parametrize("low", [0.0, 0.07, 0.5, 1.0])
@pytest.mark.parametrize("high", [0.5, 0.93, 1.0])
def test_curation_finds_the_same_thresholds(low: float, high: float) -> None:
    documents = corpus(1, 37) + ["ab"] * 5
    if low <= high:
        wanted = Curation(low=low, high=high, by_quantile=True)
        found = curate.find_thresholds(open_corpus(documents), wanted)
        assert curation.thresholds(documents, low, high) == (found.low, found.high)


# --- What it does not cover


@pytest.mark.parametrize(("name", "value"), [("expressions", Expressions()), ("refine", 2)])
def test_it_refuses_what_it_does_not_cover(name: str, value: Any) -> None:
    recipe = replace(Recipe(vocab_size=300), **{name: value})
    with pytest.raises(ValueError, match=f"does not cover {name}"):
        reference.train(["some text"], recipe)
