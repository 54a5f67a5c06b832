"""A recipe is checked when it is made, and never guesses."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from supratok import Boundaries, Recipe


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab_size": 100}, "vocab_size=100: must be a number of at least 257"),
        ({"vocab_size": "many"}, "vocab_size='many'"),
        (
            {"segmentation": "greedy"},
            r"segmentation='greedy': choose one of \('merges', 'fewest'\)",
        ),
        ({"character_coverage": 0.0}, "character_coverage=0.0"),
        ({"character_coverage": 1.5}, "character_coverage=1.5"),
        ({"crossover": 2.0}, "crossover=2.0"),
        ({"min_count": 0}, "min_count=0"),
        ({"oversize": 0.5}, "oversize=0.5"),
        ({"special_tokens": ("<s>", "<s>")}, "special_tokens"),
        ({"special_tokens": ("",)}, "special_tokens"),
    ],
)
def test_bad_values_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Recipe(**{"vocab_size": 1000, **options})


def test_bad_boundaries_are_named() -> None:
    with pytest.raises(ValueError, match="max_words=0"):
        Boundaries(max_words=0)


def test_a_recipe_does_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Recipe(vocab_size=1000).vocab_size = 2  # type: ignore[misc]


def test_there_and_back() -> None:
    recipe = Recipe(vocab_size=999, segmentation="fewest", boundaries=Boundaries.careful())
    assert Recipe.from_dict(recipe.to_dict()) == recipe


def test_unknown_options_are_an_error() -> None:
    with pytest.raises(TypeError, match="vocabulary"):
        Recipe(vocab_size=999, vocabulary=3)  # type: ignore[call-arg]
    with pytest.raises(
        ValueError, match="unknown Recipe option 'vocabulary'; known are vocab_size"
    ):
        Recipe.from_dict({"vocab_size": 999, "vocabulary": 3})
    with pytest.raises(ValueError, match="unknown Boundaries option 'words'"):
        Recipe.from_dict({"vocab_size": 999, "boundaries": {"words": 3}})


def test_presets() -> None:
    assert Boundaries() == Boundaries.open()
    careful = Boundaries.careful()
    assert not (careful.cross_sentence or careful.cross_colon or careful.numbers_in_phrases)
