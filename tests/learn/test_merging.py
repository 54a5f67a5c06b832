"""The parts and uses of merges: by hand, and equal to a merge loop that stops early."""

from __future__ import annotations

import numpy as np
import pytest

from supratok import Recipe
from supratok.common import _core
from supratok.common.progress import Progress
from supratok.learn.alphabet import choose_alphabet
from supratok.learn.merging import (
    PhraseMerges,
    lower_floor_until_exact,
    run_merges,
    uses_without,
)
from supratok.learn.scripts import ScriptRules
from supratok.learn.traditional import learn_traditional
from supratok.learn.words import Kind
from texts import corpus, prose


def merger_over(words: dict[str, int], alphabet: str) -> _core.Merger:
    table = _core.WordTable(10)
    table.count((word for word, count in words.items() for _ in range(count)), 1)
    codes = [ord(char) for char in alphabet]
    limits = _core.Limits(bytes=64, digits=3)
    sequences = _core.Sequences.of_words(table, codes)
    return _core.Merger.over_characters(sequences, codes, limits, 1)


def test_uses_without_a_merge_go_to_its_parts() -> None:
    """The example of the docstring."""
    uses = np.array([1, 0, 5, 9, 2])  # a b c ab abc
    parts = (np.array([0, 3], dtype=np.uint32), np.array([1, 2], dtype=np.uint32))
    assert uses_without(uses, parts, []).tolist() == [1, 0, 5, 9, 2]
    assert uses_without(uses, parts, [1]).tolist() == [1, 0, 7, 11, 0]
    assert uses_without(uses, parts, [1, 0]).tolist() == [12, 11, 7, 0, 0]


@pytest.mark.parametrize("seed", range(3))
def test_uses_after_some_merges_equal_those_of_a_loop_that_stops_there(seed: int) -> None:
    table = _core.WordTable(16)
    table.count(prose(seed, 80) + corpus(seed, 40), 1)
    recipe = Recipe(vocab_size=700)
    alphabet = choose_alphabet(table, recipe)
    words = learn_traditional(alphabet, table, ScriptRules(), recipe, 1, Progress())
    codes = [ord(token.text) for token in alphabet]
    limits = _core.Limits(bytes=64, digits=3, names=sorted(recipe.names))
    for merges in (0, 1, 7, len(words.texts) // 2, len(words.texts)):
        sequences = _core.Sequences.of_words(table, codes)
        merger = _core.Merger.over_characters(sequences, codes, limits, recipe.min_count)
        merger.run(merges)
        assert words.uses_after(merges).tolist() == merger.usage().tolist()


def test_merges_by_hand() -> None:
    """ "abc" 5 times, "ab" 4 times, "bc" 3 times: ab joins, then abc, then bc."""
    merges = PhraseMerges(merger_over({"abc": 5, "ab": 4, "bc": 3}, "abc"), ["a", "b", "c"])
    assert not run_merges(merges.merger, 9, Progress())
    assert merges.merger.texts() == ["ab", "abc", "bc"]
    assert len(merges) == 3 and run_merges(merges.merger, 3, Progress())
    assert list(merges.parts()) == [(-3, -2), (0, -1), (-2, -1)]
    assert merges.pairs([0, 1, 2]) == [("a", "b"), ("ab", "c"), ("b", "c")]
    assert merges.with_parts([1]) == {0, 1} and merges.with_parts([2]) == {2}
    assert merges.without_wholes([0, 1, 2], {0}) == [2]
    assert merges.first_of_each_text() == [0, 1, 2]
    assert merges.rarest_units() == [1, 2, 2]
    assert merges.uses_of([0, 2]).tolist() == [0, 0, 5, 9, 3]  # a b c ab bc


@pytest.mark.parametrize(
    ("enough", "floors"), [(100, [100]), (30, [100, 25]), (3, [100, 25, 6, 3]), (0, None)]
)
def test_the_floor_falls_to_a_quarter_until_there_is_a_result(
    enough: int, floors: list[int] | None
) -> None:
    tried: list[int] = []

    def attempt(floor: int) -> str | None:
        tried.append(floor)
        return "result" if floor <= enough else None

    if floors is None:
        with pytest.raises(AssertionError, match="no result with all pairs seen 3 times"):
            lower_floor_until_exact(attempt, 100, 3)
    else:
        assert lower_floor_until_exact(attempt, 100, 3) == "result"
        assert tried == floors


def test_kinds_are_those_of_the_core() -> None:
    examples = {"a": "LETTER", ".": "PUNCTUATION", "7": "NUMBER", " ": "SPACE", "\n": "NEWLINE",
                "\x01": "CONTROL", "\u0301": "MARK"}  # fmt: skip
    assert {char: Kind(_core.char_class(char)[0]).name for char in examples} == examples
