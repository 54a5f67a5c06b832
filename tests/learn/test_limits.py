"""The smallest and the largest vocabularies, and texts without words."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import supratok
from supratok import Recipe
from supratok.learn.crossover import find_parity
from supratok.recipe import Segmentation

RECIPES: list[Callable[[int], Recipe]] = [
    lambda size: Recipe(vocab_size=size),
    lambda size: Recipe(vocab_size=size, curriculum=False),
    Recipe.paper,
    Recipe.dense,
]
recipes = pytest.mark.parametrize("recipe", RECIPES)


@recipes
@pytest.mark.parametrize("text", ["aaaa", "a b", "\n \n", "。"])
def test_the_alphabet_may_fill_the_vocabulary(recipe: Callable[[int], Recipe], text: str) -> None:
    size = 256 + len(set(text))
    tokenizer = supratok.train([text] * 30, recipe(size), progress=False)
    assert tokenizer.vocab_size == size
    assert {token.text for token in tokenizer.vocabulary} == set(text)


@recipes
@pytest.mark.parametrize("text", [" ", "\n \n", "\x01", "!!!"])
def test_a_text_without_words_is_no_cause_for_warnings(
    recipe: Callable[[int], Recipe], text: str
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", supratok.ShortVocabularyWarning)
        tokenizer = supratok.train([text] * 50, recipe(300), progress=False)
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize(("size", "rule"), [(10**9, "merges"), (5_000_000, "fewest")])
def test_a_vocabulary_that_cannot_be_held_is_refused(size: int, rule: Segmentation) -> None:
    """Before any text is read; `fewest` learns twice as many tokens as asked for."""

    def unread() -> Iterator[str]:
        yield "seen to be a text"
        raise AssertionError("was read")

    with pytest.raises(ValueError, match=r"too large: .* at most 8,388,608; ask for fewer"):
        supratok.train(unread(), Recipe(vocab_size=size, segmentation=rule), progress=False)


def test_memory_follows_the_corpus_and_not_the_size_asked_for() -> None:
    words, phrases = np.array([9.0, 5.0, 2.0]), np.array([7, 3])
    assert find_parity(words, phrases, 10**15, 1) == 3  # an array of this size would not fit
    small = supratok.train(["a b c a b"] * 50, Recipe(vocab_size=1000), progress=False)
    large = supratok.train(["a b c a b"] * 50, Recipe(vocab_size=8_000_000), progress=False)
    assert large.vocabulary == small.vocabulary
