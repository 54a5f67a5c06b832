"""A recipe checks its values when it is made, and never guesses."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supratok import Boundaries, Recipe
from supratok.recipe import PRESETS, Curation, Expressions, Screen, Scripts, Seeds
from texts import any_text


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
        ({"special_tokens": ("<0x41>",)}, "the names of bytes"),
    ],
)
def test_bad_values_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Recipe(**{"vocab_size": 1000, **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"special_tokens": "</s>"}, "special_tokens='</s>': must be a list of strings"),
        ({"special_tokens": (1,)}, r"special_tokens=\(1,\): must be a list of strings"),
        ({"vocab_size": 300.0}, "vocab_size=300.0: must be a whole number"),
        ({"min_count": 2.5}, "min_count=2.5: must be a whole number"),
        ({"seeds": 3}, "seeds=3: must be a Seeds or None"),
    ],
)
def test_a_value_of_the_wrong_type_is_a_type_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Recipe(**options)


def test_a_recipe_has_a_size_of_its_own() -> None:
    assert Recipe().vocab_size == Recipe.dense().vocab_size == Recipe.paper().vocab_size == 64_000
    assert Recipe.from_preset("dense") == Recipe.dense()


def test_bad_boundaries_are_named() -> None:
    with pytest.raises(ValueError, match="max_words=0"):
        Boundaries(max_words=0)


@pytest.mark.parametrize("bits", [-0.1, float("nan"), "2", True])
def test_bad_bits_of_boundaries_are_named(bits: Any) -> None:
    with pytest.raises(ValueError, match=r"min_boundary_entropy=.*: must be a number"):
        Screen(min_boundary_entropy=bits)


def test_recipes_from_before_boundaries_were_screened(tmp_path: Path) -> None:
    values = Recipe(vocab_size=999).to_dict()
    del values["screen"]["min_boundary_entropy"]
    assert Recipe.from_dict(values) == Recipe(vocab_size=999)
    path = written(tmp_path, "vocab_size = 999\n[screen]\nmin_boundary_entropy = 2\n")
    screen = Recipe.from_toml(path).screen
    assert screen == Screen(min_pmi=0.0, min_count=2, min_documents=10, min_boundary_entropy=2)


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
    assert Boundaries.clauses() == Boundaries(cross_punctuation=False)
    assert {name: make(5000) for name, make in PRESETS.items()} == {
        "default": Recipe(vocab_size=5000, saving=0.75),
        "balanced": Recipe(vocab_size=5000, phrase_price=1.5),
        "dense": Recipe.dense(5000),
        "paper": Recipe.paper(5000),
    }


def test_saving_or_a_price() -> None:
    assert Recipe(saving=0.5).fixed_price is None
    assert Recipe(saving=1.0).fixed_price == 1.0  # phrases that save all they can
    assert Recipe(phrase_price=3.0).fixed_price == 3.0
    with pytest.raises(
        ValueError, match=r"saving=0\.5, phrase_price=1\.5: two ways.*leave out saving"
    ):
        Recipe(saving=0.5, phrase_price=1.5)
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match=r"saving=.*: a share from 0 to 1"):
            Recipe(saving=wrong)
    with pytest.raises(ValueError, match=r"phrase_price=0\.5: must be a number of at least 1"):
        Recipe(phrase_price=0.5)


def test_a_saving_replaces_the_price_of_a_preset(tmp_path: Path) -> None:
    dense = Recipe.from_preset("dense", 5000, saving=0.5)
    assert dense == dataclasses.replace(Recipe.dense(5000), phrase_price=None, saving=0.5)
    file = written(tmp_path, "preset = 'balanced'\nvocab_size = 5000\nsaving = 0.5")
    assert Recipe.from_toml(file) == Recipe(vocab_size=5000, saving=0.5)


@pytest.mark.parametrize("how", [{}, {"saving": 0.5}, {"phrase_price": 3.0}])
def test_files_name_the_saving_or_the_price(tmp_path: Path, how: dict[str, float]) -> None:
    recipe = Recipe(vocab_size=5000, **how)  # type: ignore[arg-type]
    values = recipe.to_dict()
    assert ("saving" in values) != ("phrase_price" in values)
    assert Recipe.from_dict(values) == recipe
    assert Recipe.from_toml(written(tmp_path, recipe.to_toml())) == recipe


def test_room_is_what_special_tokens_and_bytes_leave() -> None:
    recipe = Recipe(vocab_size=1000, special_tokens=("<s>", "</s>"), oversize=1.5)
    assert recipe.room(1000) == 1000 - 2 - 256
    assert recipe.learnt_size == 1000
    assert dataclasses.replace(recipe, segmentation="fewest").learnt_size == 1500


# --- Recipes in TOML files


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_says_everything(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        vocab_size = 5000
        segmentation = "fewest"
        scripts = false
        special_tokens = ["<s>"]
        [boundaries]
        max_words = 3
        [curation]
        keep = [0, 0.5, 1]
    """,
    )
    assert Recipe.from_toml(path) == Recipe(
        vocab_size=5000, segmentation="fewest", scripts=None, special_tokens=("<s>",),
        boundaries=Boundaries(max_words=3), curation=Curation(keep=(0, 0.5, 1)),
    )  # fmt: skip


def test_a_file_starts_from_a_preset(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        preset = "paper"
        vocab_size = 5000
        curation = false
        crossover = "parity"
        [expressions]
        in_place = true
    """,
    )
    paper = Recipe.paper(5000)
    assert paper.expressions is not None and paper.curation is not None
    changed = dataclasses.replace(paper.expressions, in_place=True)
    expected = Recipe.paper(5000, curation=None, crossover=None, expressions=changed)
    assert Recipe.from_toml(path) == expected
    more: dict[str, Any] = {"vocab_size": 600, "boundaries": Boundaries.careful()}
    assert Recipe.from_toml(path, **more) == dataclasses.replace(expected, **more)


def test_a_table_changes_single_values_of_its_component() -> None:
    """And starts from the defaults if the recipe has no such component."""
    assert Recipe(vocab_size=5000).seeds is None
    found = Recipe.from_preset("default", 5000, seeds={"min_count": 7}, scripts={"gate": 3})
    assert found.seeds == Seeds(min_count=7)
    assert found.scripts == dataclasses.replace(
        Recipe(vocab_size=5000).scripts or Scripts(), gate=3
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vocab_size = '5000'", "vocab_size='5000': must be a whole number"),
        ("vocab_size = 100", "vocab_size=100: must be a number of at least 257"),
        ("vocab_size = 5000\npreset = 'papre'", "preset='papre': choose one of default, balanced"),
        ("vocab_size = 5000\npreset = 3", "preset=3: choose one of"),
        ("vocab_size = 5000\nvocab = 3", "unknown Recipe option 'vocab'; known are vocab_size"),
        ("vocab_size = 5000\n[seeds]\nminimum = 3", r"\[seeds\] unknown Seeds option 'minimum'"),
        ("vocab_size = 5000\n[seeds]\nmin_count = 0", r"\[seeds\] min_count=0: must be"),
        ("vocab_size = 5000\n[curation]\nkeep = 1", r"\[curation\] keep=1: must be a list of num"),
        (
            "vocab_size = 5000\ncuration = true",
            r"curation=True: must be a Curation or None \(in TOML a table or false\)",
        ),
        ("vocab_size = 5000\nboundaries = false", "boundaries=False: must be a Boundaries"),
        ("vocab_size = 5000\ncrossover = false", "crossover=False: must be a number or None"),
        ("vocab_size = 5000\ncrossover = 'late'", "crossover='late': must be a number or"),
        ("vocab_size = 5000\ncurriculum = 1", "curriculum=1: must be true or false"),
        ("vocab_size = 5000\nsegmentation = 'x'", "segmentation='x': choose one of"),
        ("vocab_size = 5000\nspecial_tokens = '<s>'", "special_tokens='<s>': must be a list of st"),
        ("vocab_size = ", "Invalid value"),
    ],
)
def test_a_bad_file_is_named_with_the_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"recipe\.toml: .*" + message):
        Recipe.from_toml(written(tmp_path, text))


def test_false_takes_a_component_out() -> None:
    parts = dict.fromkeys(("curation", "seeds", "screen", "scripts", "expressions"), False)
    recipe = Recipe.from_dict({"vocab_size": 999, **parts})
    assert not any(getattr(recipe, name) is not None for name in parts)


RECIPES = st.builds(
    Recipe,
    vocab_size=st.integers(257, 10**9),
    segmentation=st.sampled_from(["merges", "fewest"]),
    boundaries=st.sampled_from([Boundaries(), Boundaries.careful(), Boundaries.clauses()]),
    curation=st.sampled_from([None, Curation(keep=(0.1, 1e-7, 1 / 3))]),
    seeds=st.sampled_from([None, Seeds()]),
    scripts=st.sampled_from([None, Scripts()]),
    expressions=st.none() | st.builds(Expressions, min_pmi=st.floats(allow_nan=False)),
    crossover=st.none() | st.floats(0, 1),
    curriculum=st.booleans(),
    special_tokens=st.lists(
        any_text.filter(lambda text: text and not text.startswith("<0x")), unique=True
    ).map(tuple),
)


@settings(deadline=None)
@given(RECIPES)
def test_to_toml_and_back(tmp_path_factory: pytest.TempPathFactory, recipe: Recipe) -> None:
    path = tmp_path_factory.getbasetemp() / "recipe.toml"
    path.write_text(recipe.to_toml(), encoding="utf-8")
    assert Recipe.from_toml(path) == recipe
