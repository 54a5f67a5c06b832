"""Training equals the reference, and depends on nothing but the text and the recipe."""

from __future__ import annotations

import dataclasses
import random
import re
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import supratok
from seeds import seeds
from supratok import Boundaries, CorpusError, Recipe, Token, reference
from supratok.common import _core
from supratok.learn.crossover import find_parity, keep_saving
from supratok.recipe import Curation, Expressions, Screen, Scripts, Seeds
from supratok.reference import words as reference_words
from texts import HOSTILE, corpus, prose

PRICES: list[dict[str, Any]] = [
    {"phrase_price": 1.0}, {"phrase_price": 1.5}, {"saving": 0.75}, {"saving": 0.3},
]  # fmt: skip


def some_recipe(seed: int) -> Recipe:
    rng = random.Random(seed)
    return Recipe(
        vocab_size=rng.choice([330, 360, 400, 500]),
        segmentation=rng.choice(["merges", "fewest"]),
        boundaries=rng.choice([
            Boundaries.open(),
            Boundaries.careful(),
            Boundaries(max_words=2, max_bytes=12, max_digits=1, one_script=False),
            Boundaries(whole_words=True),
            Boundaries(whole_words=True, cross_sentence=False, max_digits=2),
            Boundaries.clauses(),
        ]),
        character_coverage=rng.choice([1.0, 0.95]),
        min_count=rng.choice([1, 2, 3]),
        crossover=rng.choice([None, None, 0.8, 0.9, 1.0]),
        oversize=rng.choice([1.5, 2.0]),
        special_tokens=rng.choice([(), ("<s>",)]),
        scripts=rng.choice([Scripts(), Scripts(gate=3), None]),
        screen=rng.choice([
            None,
            Screen(min_pmi=0.0, min_count=2),
            Screen(min_pmi=2.0, min_count=3, min_documents=2),
            Screen(min_pmi=0.0, min_count=2, min_documents=2, min_boundary_entropy=1.5),
        ]),
        curriculum=rng.random() < 0.85,
        **rng.choice(PRICES),
    )  # fmt: skip


@seeds(range(12), 40)
def test_equals_the_reference(seed: int) -> None:
    recipe = some_recipe(seed)
    documents = corpus(seed, documents=random.Random(seed).choice([3, 20, 60]))
    tokenizer = supratok.train(documents, recipe, threads=2, progress=False)
    expected = reference.train(documents, recipe)
    assert list(tokenizer.vocabulary) == expected
    for text in documents[:10] + corpus(seed + 1000, 10) + HOSTILE[:12]:
        assert tokenizer.encode(text) == reference.encode(text, expected, recipe)
        assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("segmentation", ["merges", "fewest"])
def test_no_token_crosses_punctuation_and_a_space(segmentation: Any) -> None:
    sentences = prose(0)
    documents = [", and ".join(sentences[first : first + 5]) for first in range(0, 300, 5)]
    recipes = [
        Recipe(
            vocab_size=900, segmentation=segmentation, saving=1.0, screen=None, refine=1,
            boundaries=Boundaries(cross_punctuation=cross),
        )
        for cross in (True, False)
    ]  # fmt: skip
    open_, inside = (supratok.train(documents, recipe, progress=False) for recipe in recipes)
    crossing = re.compile(r"[^\w\s] \S")
    assert any(map(crossing.search, open_.get_vocab()))
    assert not any(map(crossing.search, inside.get_vocab()))
    assert any(" " in token.strip() for token in inside.get_vocab())  # phrases all the same
    for text in documents[:20]:
        for end in (place.end() for place in re.finditer(r"[.,;](?= \w)", text)):
            assert not inside.encode_pair(text[:end], text[end:]).inside


@pytest.mark.parametrize("price", [PRICES[0], PRICES[2]])
@pytest.mark.parametrize("segmentation", ["merges", pytest.param("fewest", marks=pytest.mark.slow)])
def test_equals_the_reference_on_prose(
    segmentation: supratok.recipe.Segmentation, price: dict[str, Any]
) -> None:
    """Large enough that the floor, below which runs leave pairs out, matters."""
    recipe = Recipe(vocab_size=430, segmentation=segmentation, **price)
    documents = prose(3, 250)
    tokenizer = supratok.train(documents, recipe, progress=False)
    assert list(tokenizer.vocabulary) == reference.train(documents, recipe)
    assert tokenizer.vocab_size == 430
    assert any(token.born == "multiword" for token in tokenizer.vocabulary)


@pytest.mark.parametrize("whole_words", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_phrases_of_few_documents_are_dropped(whole_words: bool) -> None:
    """A phrase that fills two documents is frequent, but not spread; words take its place."""
    documents = [text[:60] for text in prose(5, 400)] + ["the gnu sat. " * 40, "the gnu sat! " * 40]
    recipe = Recipe(
        vocab_size=400,
        boundaries=Boundaries(whole_words=whole_words),
        screen=Screen(min_pmi=-99.0, min_count=2, min_documents=3),
        phrase_price=1.0,
    )
    tokenizer = supratok.train(documents, recipe, progress=False)
    assert list(tokenizer.vocabulary) == reference.train(documents, recipe)
    assert tokenizer.report["passes"]["multiword"]["too_few_documents"] > 0
    open_ = replace(recipe, screen=Screen(min_pmi=-99.0, min_count=2))
    phrases = [token.text for token in supratok.train(documents, open_, progress=False).vocabulary]
    assert " gnu sat" in phrases
    assert " gnu sat" not in [token.text for token in tokenizer.vocabulary]


def test_seeds_pass_the_screen_and_equal_the_reference() -> None:
    """A screen that nothing passes leaves the seeds alone, with the shorter phrases they need."""
    recipe = Recipe(
        vocab_size=430,
        boundaries=Boundaries(whole_words=True),
        screen=Screen(min_pmi=99.0, min_count=2),
        seeds=Seeds(min_count=20, min_pmi=0.5),
    )
    documents = prose(4, 250)
    tokenizer = supratok.train(documents, recipe, progress=False)
    assert list(tokenizer.vocabulary) == reference.train(documents, recipe)
    phrases = {token.text for token in tokenizer.vocabulary if token.born == "multiword"}
    assert phrases
    report = tokenizer.report["passes"]["multiword"]
    assert report["screened"] > 0 and sum(report["seeds"]["chosen"].values()) > 0
    without = supratok.train(documents, replace(recipe, seeds=None), progress=False)
    assert not any(token.born == "multiword" for token in without.vocabulary)


def modules_called_by_train(documents: list[str], recipe: Recipe) -> list[str]:
    """The modules that train.py itself calls, in order, as in docs/how-it-works.md."""
    called: list[str] = []

    def watch(frame: FrameType, event: str, _: object) -> None:
        module, caller = frame.f_globals.get("__name__", ""), frame.f_back
        entered = event == "call" and frame.f_code.co_name != "__exit__"
        entered = entered and module != "supratok.train"  # its own helpers
        if entered and caller and caller.f_globals.get("__name__") == "supratok.train":
            called.append(module)

    sys.setprofile(watch)
    try:
        supratok.train(documents, recipe, threads=1, progress=False)
    finally:
        sys.setprofile(None)
    below = ("supratok.common.", "supratok.recipe")
    rooms = [module for module in called if module.startswith("supratok.")]
    return [module for module in rooms if not module.startswith(below)]


def test_a_run_enters_no_module_twice() -> None:
    """With every pass on, train.py enters the modules that docs/how-it-works.md lists, in that
    order, each once. (Helpers of the rooms below, common and recipe, are not listed.)"""
    recipe = Recipe(
        vocab_size=600, segmentation="fewest", curation=Curation(), seeds=Seeds(min_count=5),
        screen=Screen(min_documents=2), expressions=Expressions(min_pmi=1.0), refine=2,
    )  # fmt: skip
    called = modules_called_by_train(prose(5, 600), recipe)
    assert len(called) == len(set(called))
    page = Path(__file__).parents[1] / "docs" / "how-it-works.md"
    section = page.read_text(encoding="utf-8").split("## A training run, module by module")[1]
    listed = re.findall(r"^\d+\. `(\w+)/(\w+)(?:\.py|/)`", section.split("\n## ")[0], re.MULTILINE)
    rooms = ("supratok.corpus.", "supratok.readings.", "supratok.learn.", "supratok.tokenizer.")
    assert [module for module in called if module.startswith(rooms)] == [
        f"supratok.{room}.{module}" for room, module in listed
    ]


def test_worked_example() -> None:
    """Checked by hand. The words are "ab" once, " cd" 3 times and " ab" 3 times."""
    documents = ["ab cd ab cd ab cd ab"]
    recipe = Recipe(vocab_size=256 + 5 + 5, character_coverage=1.0)
    tokenizer = supratok.train(documents, recipe, progress=False)
    assert [dataclasses.astuple(token) for token in tokenizer.vocabulary] == [
        (" ", 6, "alphabet"),
        ("a", 4, "alphabet"),
        ("b", 4, "alphabet"),
        ("c", 3, "alphabet"),
        ("d", 3, "alphabet"),
        ("ab", 4, "traditional"),  # in "ab" and " ab": 1 + 3
        (" c", 3, "traditional"),  # like "cd" and " ab": the shorter first, then by code points
        (" ab", 3, "traditional"),
        (" cd", 3, "traditional"),
        (
            " cd ab",
            3,
            "multiword",
        ),  # the run is ab| cd| ab| cd| ab| cd| ab; " ab cd" is there twice
    ]
    assert tokenizer.tokens("ab cd ab") == ["ab", " cd ab"]


@pytest.mark.parametrize("segmentation", ["merges", "fewest"])
def test_threads_and_order_do_not_matter(
    tmp_path: Path, segmentation: supratok.recipe.Segmentation
) -> None:
    documents = prose(1, 400) + corpus(7, 100)
    recipe = Recipe(vocab_size=900, segmentation=segmentation)
    files = []
    for threads, seed in ((1, None), (2, 1), (16, 2)):
        shuffled = list(documents)
        if seed is not None:
            random.Random(seed).shuffle(shuffled)
        path = tmp_path / f"{threads}.json"
        supratok.train(shuffled, recipe, threads=threads, progress=False).save(path)
        files.append(path.read_bytes())
    assert files[0] == files[1] == files[2]


def test_shards_in_any_order(tmp_path: Path) -> None:
    documents = [text for text in prose(2, 400) if "\n" not in text]
    recipe = Recipe(vocab_size=700)
    for shard in range(4):
        (tmp_path / f"{shard}.txt").write_text("\n\n".join(documents[shard::4]), encoding="utf-8")
    paths = sorted(tmp_path.glob("*.txt"))
    saved = []
    for order in (paths, paths[::-1]):
        supratok.train(order, recipe, progress=False).save(tmp_path / "out.json")
        saved.append((tmp_path / "out.json").read_bytes())
    assert saved[0] == saved[1]


@pytest.mark.parametrize("segmentation", ["merges", "fewest"])
@pytest.mark.parametrize("boundaries", [Boundaries.open(), Boundaries.careful()])
def test_no_token_breaks_the_boundaries(
    boundaries: Boundaries, segmentation: supratok.recipe.Segmentation
) -> None:
    recipe = Recipe(
        vocab_size=800, segmentation=segmentation, boundaries=boundaries, character_coverage=1.0,
        min_count=1,
    )  # fmt: skip
    tokenizer = supratok.train(corpus(11, 300), recipe, progress=False)
    for token in tokenizer.vocabulary:
        words = reference_words.split_words(token.text)
        kinds = [reference_words.kind_of(word) for word in words]
        assert len(token.text.encode()) <= boundaries.max_bytes
        assert len(words) == 1 or set(kinds) <= {0, 1, 2}, token
        assert sum(kind in (0, 2) for kind in kinds) <= boundaries.max_words
        assert all(sum(c.isdigit() for c in word) <= boundaries.max_digits for word in words)
        assert len({reference_words.script_of(word) for word in words} - {0}) < 2
        for left, right in zip(words, words[1:], strict=False):
            assert reference_words.may_neighbour(left, right, boundaries), token
        assert tokenizer.tokens(token.text) == [token.text]  # each token encodes to itself


def test_careful_forbids_what_open_allows() -> None:
    documents = ["Yes. The cat: the 12 cats."] * 50
    open_, careful = (
        supratok.train(documents, Recipe(vocab_size=330, boundaries=b), progress=False)
        for b in (Boundaries.open(), Boundaries.careful())
    )
    assert open_.count(documents[0]) == 2  # at most five words to a token
    for token in careful.vocabulary:
        for broken in (". T", ": t", " 12 c"):
            assert broken not in token.text


@pytest.mark.parametrize("segmentation", ["merges", "fewest"])
def test_finishes_at_exactly_the_size_asked_for(
    segmentation: supratok.recipe.Segmentation,
) -> None:
    for size in (300, 401, 512):
        recipe = Recipe(vocab_size=size, segmentation=segmentation, special_tokens=("<s>", "</s>"))
        tokenizer = supratok.train(prose(4, 200), recipe, progress=False)
        assert tokenizer.vocab_size == size


def test_stops_where_nothing_is_left_to_learn() -> None:
    tokenizer = supratok.train(["ab ab ab"] * 3, Recipe(vocab_size=5_000), progress=False)
    assert tokenizer.vocab_size < 300
    assert tokenizer.tokens("ab ab ab") == ["ab ab ab"]


def test_crossover_can_be_set_and_plain_bpe_has_no_phrases() -> None:
    documents = prose(5, 300)
    recipe = Recipe(vocab_size=700)
    plain = supratok.train(documents, replace(recipe, crossover=1.0), progress=False)
    assert all(token.born != "multiword" for token in plain.vocabulary)
    most = supratok.train(documents, replace(recipe, crossover=0.5), progress=False)
    assert most.report["passes"]["traditional"]["merges"] == 350
    ours = supratok.train(documents, recipe, progress=False)
    text = "\n".join(documents)
    assert ours.count(text) < plain.count(text)


def test_parity_example() -> None:
    """The example in its docstring, and its ends."""
    words, phrases = np.array([90, 60, 40, 20, 10]), np.array([70, 30, 15])
    assert find_parity(words, phrases, 5, 1) == 3
    assert find_parity(words, np.array([], dtype=np.int64), 5, 1) == 5  # no phrases: all words
    assert find_parity(np.array([1, 1]), np.array([9, 9, 9]), 3, 1) == 0  # phrases are worth more
    assert find_parity(words, phrases, 5, 15) == 3  # known well enough
    assert find_parity(words, phrases[:1], 5, 70) is None  # not known far enough


def test_a_share_of_the_saving_keeps_more_words() -> None:
    """Phrases and words that leave their places: 100 - 30, then 70 - 10, then nothing."""
    words, phrases = np.array([90, 60, 40, 20, 10]), np.array([70, 30, 15])
    kept = {share: keep_saving(words, phrases, 5, 3, share) for share in (1.0, 0.86, 0.85, 0.1, 0)}
    assert kept == {1.0: 3, 0.86: 3, 0.85: 4, 0.1: 4, 0: 5}
    assert keep_saving(words, phrases, 9, 5, 0.5) == 5  # room for all: nothing to give back
    none = np.array([], dtype=np.int64)
    assert keep_saving(words, none, 5, 5, 0.5) == 5
    assert keep_saving(none, phrases, 3, 0, 0.0) == 0  # no words to give places to


def test_saving_is_a_share_of_the_tokens_that_phrases_save() -> None:
    documents = prose(5, 2000)
    text = "\n".join(documents)

    def tokens(saving: float) -> int:
        recipe = Recipe(vocab_size=900, saving=saving)
        return supratok.train(documents, recipe, hold_out=0, progress=False).count(text)

    most, plain = tokens(1.0), tokens(0.0)
    assert plain > most
    for share in (0.9, 0.75, 0.5, 0.25):
        assert (plain - tokens(share)) / (plain - most) == pytest.approx(share, abs=0.01)


def test_counts_of_64_bits() -> None:
    """The merge loop keeps counts of more than 32 bits."""
    table = _core.WordTable(10)
    huge = 5_000_000_000
    table.count(["ab", "abc"], 1)
    alphabet = [ord(char) for char in "abc"]
    limits = _core.Limits(bytes=64, digits=3)
    by = np.array([2 * huge - 1, 2])
    merger = _core.Merger.over_characters(
        _core.Sequences.of_words(table, alphabet, changes=["ab", "abc"], by=by), alphabet, limits, 1
    )
    assert merger.run(5) == 2
    assert merger.texts() == ["ab", "abc"]
    assert merger.counts().tolist() == [2 * huge + 3, 3]


def test_a_very_long_word_is_learnt_from() -> None:
    tokenizer = supratok.train(["a" * 1_000_000], Recipe(vocab_size=300), progress=False)
    assert max(len(token.text) for token in tokenizer.vocabulary) == 64
    assert tokenizer.count("a" * 640) == 10


def test_characters_beyond_the_coverage_become_bytes() -> None:
    documents = ["abc abc abc"] * 500 + ["日"]
    tokenizer = supratok.train(
        documents, Recipe(vocab_size=300, character_coverage=0.99), progress=False
    )
    assert "日" not in [token.text for token in tokenizer.vocabulary]
    assert tokenizer.encode("日") == list("日".encode())
    assert tokenizer.decode(tokenizer.encode("日本")) == "日本"


def test_a_single_document_is_trained_on_even_if_it_would_be_held_out() -> None:
    from supratok.corpus.split import digest, is_held_out

    held = next(
        t for t in (f"the cat\nthe cat\nthe cat {i}" for i in range(999)) if is_held_out(digest(t))
    )
    tokenizer = supratok.train([held], Recipe(vocab_size=300), progress=False)
    assert "the cat" in [token.text for token in tokenizer.vocabulary]


@pytest.mark.parametrize(
    ("documents", "vocab_size", "message"),
    [
        ([], 300, "empty"),
        ([""], 300, "empty"),
        (["abcdefgh"], 260, "vocab_size=260 is too small"),
    ],
)
def test_refused_at_the_door(documents: list[str], vocab_size: int, message: str) -> None:
    with pytest.raises((CorpusError, ValueError), match=message):
        supratok.train(iter(documents), Recipe(vocab_size=vocab_size), progress=False)


def test_threads_must_be_positive() -> None:
    with pytest.raises(ValueError, match="threads=0"):
        supratok.train(["a b"], Recipe(vocab_size=300), threads=0, progress=False)


def test_tokens_are_tuples_of_text_count_and_birth() -> None:
    tokenizer = supratok.train(prose(6, 50), Recipe(vocab_size=320), progress=False)
    assert isinstance(tokenizer.vocabulary[0], Token)
    assert {token.born for token in tokenizer.vocabulary} <= {
        "alphabet", "traditional", "multiword",
    }  # fmt: skip


@pytest.mark.parametrize("rule", ["merges", "fewest"])
@pytest.mark.parametrize("curriculum", [True, False])
def test_no_token_reads_like_a_special_token_or_a_byte(rule: Any, curriculum: bool) -> None:
    """Other runtimes could not tell them apart. This corpus has many of both."""
    texts = ["<s> and </s> and <0x41> <0x41> ¤ in a <s>row</s>"] * 60
    recipe = Recipe(
        vocab_size=340,
        segmentation=rule,
        curriculum=curriculum,
        special_tokens=("<s>", "</s>", "¤"),
        refine=1,
    )
    tokenizer = supratok.train(texts, recipe, progress=False)
    learnt = set(tokenizer.texts)
    assert not learnt & {"<s>", "</s>", "<0x41>", "¤"}
    assert any("<s" in text for text in learnt)
    if not curriculum:  # where characters of several words join, it would be one
        plain = replace(recipe, special_tokens=())
        assert "<s>" in supratok.train(texts, plain, progress=False).texts
    assert tokenizer.decode(tokenizer.encode(texts[0])) == texts[0]


# --- Called as people call it


def test_a_size_is_enough() -> None:
    texts = prose(3, 200)
    assert supratok.train(texts, vocab_size=400, progress=False).recipe == Recipe(vocab_size=400)
    dense = supratok.train(texts, Recipe.dense(), progress=False, vocab_size=400)
    assert dense.recipe == Recipe.dense(400)


@pytest.mark.parametrize(
    ("recipe", "remedy"),
    [
        (4000, r"not int; write train\(\.\.\., vocab_size=4000\)"),
        ("dense", r"not str; write Recipe\.from_preset\('dense'\)"),
        ({"vocab_size": 400}, "not dict"),
    ],
)
def test_what_is_no_recipe_is_named(recipe: Any, remedy: str) -> None:
    with pytest.raises(TypeError, match=f"recipe must be a Recipe, {remedy}"):
        supratok.train(["a b"], recipe)


def test_a_vocabulary_that_falls_short_is_said(recwarn: pytest.WarningsRecorder) -> None:
    with pytest.warns(supratok.ShortVocabularyWarning) as caught:
        tokenizer = supratok.train(prose(3, 50), vocab_size=100_000, progress=False)
    found = f"{tokenizer.vocab_size:,}"
    assert str(caught[0].message).startswith(f"100,000 tokens were asked for and {found} found")
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        supratok.train(prose(3, 50), vocab_size=400, progress=False)


def test_tokens_that_no_file_may_hold_are_refused() -> None:
    with pytest.raises(ValueError, match="max_bytes=5000: a token has at most 4,096 bytes"):
        supratok.train(["a"], Recipe(boundaries=Boundaries(max_bytes=5000)))
