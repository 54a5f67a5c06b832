"""Refinement keeps the promises of a vocabulary after each round."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import pytest

from supratok import Boundaries, Recipe, Token, Tokenizer, train
from supratok.common import _core
from supratok.learn.prune import HeldOutText
from supratok.learn.refine import Texts, find_leaves, phrase_price_of, refine
from supratok.learn.words import are_words, may_be_token
from supratok.readings import Reading, Room
from supratok.recipe import Scripts
from texts import corpus, prose

RULES = ["merges", "fewest"]


@functools.cache
def trained(rule: Any, seed: int) -> Tokenizer:
    """Trained on other text than it is refined on, so that there is much to swap."""
    recipe = Recipe(vocab_size=800, segmentation=rule, crossover=0.75)
    return train(prose(seed, 300) + corpus(seed, 100), recipe, threads=1, progress=False)


def deciding(training: list[str], held_out: HeldOutText) -> Texts:
    """Counts over these texts."""

    def read(reading: Reading[Any]) -> Any:
        table = reading.table(Room())
        reading.count(table, training, held_out.threads, lambda _: None)
        return table

    return Texts(read, held_out)


def texts(seed: int, threads: int = 1) -> Texts:
    documents = prose(seed, 500) + corpus(seed + 1, 100)
    held_out, training = documents[::10], [text for i, text in enumerate(documents) if i % 10]
    scale = sum(map(len, training)) / sum(map(len, held_out))
    return deciding(training, HeldOutText(held_out, scale, threads))


def encoder_of(tokens: list[Token], recipe: Recipe) -> _core.Encoder:
    texts, counts = [token.text for token in tokens], [token.count for token in tokens]
    return _core.Encoder(texts, counts, fewest=recipe.segmentation == "fewest", first_id=0)


def held_out_tokens(tokens: list[Token], recipe: Recipe, text: Texts) -> int:
    return int(encoder_of(tokens, recipe).usage(text.held_out.texts, 1).sum())


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(4))
def test_promises_after_each_round(rule: Any, seed: int) -> None:
    tokenizer, text = trained(rule, seed), texts(seed)
    recipe, before = tokenizer.recipe, list(tokenizer.vocabulary)
    swaps = 0
    for _ in range(4):
        after, story = refine(before, recipe, 1, text)
        check_round(before, after, recipe)
        assert len(story) == 1
        swaps += story[0]["accepted"] * story[0]["kept"]
        used = [
            int(encoder_of(t, recipe).usage(text.held_out.texts, 1).sum()) for t in (before, after)
        ]
        assert story[0]["held_out_tokens_before"] == used[0]
        if story[0]["kept"]:
            assert story[0]["held_out_tokens_after"] == used[1] < used[0]
        else:
            assert after == before
        before = after
    assert swaps > 0


def check_round(before: list[Token], after: list[Token], recipe: Recipe) -> None:
    assert len(after) == len({token.text for token in after}) == len(before)
    assert not encoder_of(after, recipe).states().any()  # each encodes to itself
    assert [t for t in after if t.born == "alphabet"] == [t for t in before if t.born == "alphabet"]
    old = {token.text for token in before}
    stays = [token for token in after if token.text in old]
    assert stays == [token for token in before if token in set(stays)]  # in the same order
    new = [token for token in after if token.text not in old]
    assert after[len(stays) :] == new  # new ones rank last
    assert all(token.born == "refined" and may_be_token(token.text, recipe, old) for token in new)
    if recipe.segmentation == "merges":
        leaves = find_leaves(encoder_of(before, recipe), before)
        assert old - {token.text for token in after} <= {before[place].text for place in leaves}


@pytest.mark.parametrize("rule", RULES)
def test_rounds_end_by_themselves(rule: Any) -> None:
    """Refinement keeps every round but the last; a second run finds nothing more."""
    tokenizer, text = trained(rule, 1), texts(1)
    tokens, story = refine(list(tokenizer.vocabulary), tokenizer.recipe, 50, text)
    assert 1 < len(story) < 50
    assert [one["kept"] for one in story] == [True] * (len(story) - 1) + [False]
    for one, following in zip(story, story[1:], strict=False):
        assert one["held_out_tokens_after"] == following["held_out_tokens_before"]
    last = story[-1]
    assert not last["accepted"] or last["held_out_tokens_after"] >= last["held_out_tokens_before"]
    again, _ = refine(tokens, tokenizer.recipe, 50, text)
    assert again == tokens


@pytest.mark.parametrize("rule", RULES)
def test_the_threads_do_not_matter(rule: Any) -> None:
    tokenizer = trained(rule, 2)
    found = [
        refine(list(tokenizer.vocabulary), tokenizer.recipe, 3, texts(2, threads))
        for threads in (1, 2, 7)
    ]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("rule", "learnt", "held_out_tokens"),
    [("merges", ["ab", " ab"], [6, 4]), ("fewest", ["ab", "ab ab"], [6, 4, 2])],
)
def test_worked_example(rule: Any, learnt: list[str], held_out_tokens: list[int]) -> None:
    """By hand. In 20 documents "ab ab", " " and "ab" are neighbours 20 times, and "cd" is never
    used: so " ab" takes its place. Then "ab" " ab" are neighbours 20 times. Under `merges` both are
    needed for it, so no leaf is left to go; under `fewest` neither is, and " ab" goes, for of two
    that are not used the earlier one stays."""
    tokens = [Token(text, 9, "alphabet") for text in ("a", "b", "c", "d", " ")]
    tokens += [Token("ab", 9, "traditional"), Token("cd", 9, "traditional")]
    recipe = Recipe(vocab_size=300, segmentation=rule)
    text = deciding(["ab ab"] * 20, HeldOutText(["ab ab"] * 2, 10.0, 1))
    after, story = refine(tokens, recipe, 9, text)
    assert after[:5] == tokens[:5]
    assert [token.text for token in after[5:]] == learnt
    assert [one["held_out_tokens_before"] for one in story] == held_out_tokens
    assert [one["accepted"] for one in story] == [1] * (len(story) - 1) + [0]


def test_without_held_out_text_nothing_is_swapped() -> None:
    tokenizer, text = trained("merges", 1), texts(1)
    text.held_out = HeldOutText([], 1.0, 1)
    tokens = list(tokenizer.vocabulary)
    assert refine(tokens, tokenizer.recipe, 5, text)[0] == tokens


def test_a_swap_asks_the_rules_that_training_asks() -> None:
    """Words cut at whitespace alone hold their full stop, and `careful` still sees it."""
    blind = Recipe(vocab_size=300, scripts=None, boundaries=Boundaries.careful())
    assert may_be_token(" the end", blind, ())
    assert not may_be_token(" end. The", blind, ())
    assert not may_be_token(" end: the", blind, ())
    assert not may_be_token(" of 12", replace(blind, scripts=Scripts()), ())


def test_refinement_leaves_out_what_the_saving_left_out() -> None:
    """Phrases must be worth as many words as at the crossover; with a fixed price, one."""
    documents, recipe = prose(5, 2000), Recipe(vocab_size=900, saving=0.5)
    tokenizer = train(documents, recipe, threads=1, progress=False)
    tokens, text = list(tokenizer.vocabulary), texts(5)
    price = phrase_price_of(tokens, recipe)
    assert price > 5

    def phrases(found: list[Token]) -> int:
        return sum(not one for one in are_words([token.text for token in found], recipe))

    kept, all_of_it = (
        phrases(refine(tokens, by, 2, text)[0]) for by in (recipe, replace(recipe, saving=1.0))
    )
    assert phrases(tokens) <= kept < all_of_it


def test_the_price_of_a_phrase_by_the_rarest_tokens() -> None:
    tokens = [
        Token("a", 9, "alphabet"), Token("ab", 30, "traditional"), Token("b c", 99, "multiword"),
        Token("c", 2, "refined"), Token("cd", 20, "traditional"), Token("d e", 60, "multiword"),
    ]  # fmt: skip
    assert phrase_price_of(tokens, Recipe()) == 3.0
    assert phrase_price_of(tokens[::-1], Recipe(saving=1.0)) == 1.0
    assert phrase_price_of(tokens, Recipe.balanced()) == 1.0
    assert phrase_price_of(tokens, Recipe(crossover=0.5)) == 1.0
    assert phrase_price_of(tokens[:2], Recipe()) == float("inf")  # no phrase was wanted
