"""The bound on tokens: below every vocabulary, and at the optimum of the linear relaxation."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supratok import Recipe
from supratok.lab.measure import spans
from supratok.lab.measure.bound import ONE, evaluated, lower_bound
from supratok.lab.measure.spans import LONGEST, Spans, Text, find_spans
from supratok.learn.words import may_be_token
from supratok.recipe import Boundaries
from supratok.reference.merges import encode_by_fewest

DENSE = Recipe.dense()
small_texts = st.lists(st.text("ab ", min_size=1, max_size=9), min_size=1, max_size=3)


def strings_of(texts: list[str]) -> set[str]:
    """All strings of two or more characters."""
    ends = (
        (text, i, j)
        for text in texts
        for i in range(len(text))
        for j in range(i + 2, len(text) + 1)
    )
    return {text[i:j] for text, i, j in ends}


def fewest(texts: list[str], vocabulary: tuple[str, ...]) -> int:
    known = {*vocabulary, *"".join(texts)}
    return sum(len(encode_by_fewest(text, known)) for text in texts)


def best(texts: list[str], tokens: int) -> int:
    """The fewest tokens of all vocabularies, by trying each."""
    strings = sorted(strings_of(texts))
    sizes = itertools.combinations(strings, min(tokens, len(strings)))
    return min(fewest(texts, chosen) for chosen in sizes)


# --- Strings


def test_strings_of_a_text_that_are_worth_more_than_the_least() -> None:
    spans = find_spans(Text.of(["abab", "ab"]), least=0)
    assert spans.strings == ["ab"]
    assert spans.starts.tolist() == [0, 2, 5]
    assert find_spans(Text.of({"abc": 5, "xbc": 1}), least=5).strings == ["bc", "abc"]
    assert find_spans(Text.of({"abc": 5, "xbc": 1}), least=6).strings == ["abc"]


ascii_texts = st.text(st.sampled_from("ab,.1 \n\t\x01:"), min_size=1, max_size=24)


@settings(max_examples=400, deadline=None)
@given(ascii_texts)
def test_reach_is_that_of_the_rules_for_tokens(text: str) -> None:
    """Both ways: none of the rules' strings is left out, and no other is in."""
    found = find_spans(Text.within([text, text], DENSE.boundaries), least=0)
    allowed = {string for string in strings_of([text]) if may_be_token(string, DENSE, ())}
    assert set(found.strings) == allowed


def test_limits_of_words_digits_and_characters() -> None:
    rules = Boundaries(max_words=2, max_digits=3, max_bytes=9)
    recipe = Recipe(boundaries=rules)
    text = "one two, three 12345 (a b c) longerthannine, 2026-11-18x"
    found = set(find_spans(Text.within([text, text], rules), least=0).strings)
    assert found == {s for s in strings_of([text]) if may_be_token(s, recipe, ())}


def test_the_rules_of_other_scripts_are_refused() -> None:
    with pytest.raises(ValueError, match="not ASCII"):
        Text.within(["naïve"], DENSE.boundaries)


# --- The bound


def test_the_example_of_the_page() -> None:
    """docs/how-far.md: three texts, weights of 1, one string, then two."""
    texts = ["the cat", "the dog", "the end"]
    spans = find_spans(Text.of(texts), least=0, times=1)
    ones = np.full(len(spans.text.characters), ONE)
    assert evaluated(spans, 1, ones).tokens == best(texts, 1) == fewest(texts, ("the ",)) == 12
    assert evaluated(spans, 2, ones).tokens == 6
    assert relaxed(spans, 2) == pytest.approx(7.5)
    assert lower_bound(spans, 2).tokens == 8
    assert best(texts, 2) == 9


@settings(max_examples=60, deadline=None)
@given(small_texts, st.integers(0, 2), st.integers(1, 2))
def test_no_vocabulary_takes_fewer_tokens(texts: list[str], tokens: int, times: int) -> None:
    spans = find_spans(Text.of(texts), least=0, times=times)
    assert lower_bound(spans, tokens, rounds=60).tokens <= best(texts, tokens)


@settings(max_examples=100, deadline=None)
@given(small_texts, st.integers(0, 2), st.integers(0, 9), st.randoms(use_true_random=False))
def test_any_weights_prove_a_bound(
    texts: list[str], tokens: int, least: int, random: object
) -> None:
    spans = find_spans(Text.of(texts), least)
    size = len(spans.text.characters)
    weights = np.array([random.randint(-ONE, 2 * ONE) for _ in range(size)])  # type: ignore[attr-defined]
    assert evaluated(spans, tokens, weights).tokens <= best(texts, tokens)


def test_a_long_string_that_occurs_once_counts() -> None:
    """All weights 1: 40 characters that one string could be."""
    text = "".join(map(chr, range(200, 240)))
    spans = find_spans(Text.of([text]), least=0)
    assert spans.number == 0
    weights = np.full(len(spans.text.characters), ONE)
    assert evaluated(spans, 1, weights).tokens <= 1
    assert lower_bound(spans, 0, rounds=200).tokens == len(text)


def test_copies_count_as_often_as_they_occur() -> None:
    words = Counter({" the": 6, " then": 2, " hen": 1})
    apart = find_spans(Text.of(list(words.elements())), least=0, times=1)
    together = find_spans(Text.of(words), least=0, times=1)
    assert together.text.size == apart.text.size
    for tokens in range(3):
        one, other = (lower_bound(spans, tokens, 300).tokens for spans in (apart, together))
        assert abs(one - other) <= 1
        assert other <= best(list(words.elements()), tokens)


def relaxed(spans: Spans, tokens: int) -> float:
    """The optimum of the linear relaxation, by HiGHS: each character is covered once, by itself or
    by a string, which covers no more than its share in the vocabulary."""
    optimize = pytest.importorskip("scipy.optimize")
    sparse = pytest.importorskip("scipy.sparse")
    size, edges, number = len(spans.text.characters), len(spans.starts), spans.number
    inside = spans.text.copies > 0
    cover = sparse.lil_matrix((size, size + edges + number))
    limit = sparse.lil_matrix((edges + 1, size + edges + number))
    for place in np.flatnonzero(inside):
        cover[place, place] = 1
    for edge, (start, end, string) in enumerate(
        zip(spans.starts, spans.ends, spans.string, strict=True)
    ):
        cover[start:end, size + edge] = 1
        limit[edge, size + edge], limit[edge, size + edges + string] = 1, -1
    limit[edges, size + edges :] = 1
    costs = np.concatenate([np.ones(size + edges), np.zeros(number)])
    found = optimize.linprog(
        costs, limit.tocsr(), [*[0] * edges, tokens], cover.tocsr(), inside.astype(float),
        bounds=(0, 1), method="highs",
    )  # fmt: skip
    return float(found.fun)


PROSE = [
    "The cat sat on the mat, and the dog sat on the cat.",
    "On the mat the cat and the dog sat; the end of the cat.",
    "And the dog, and the cat, and the mat: on and on to the end.",
]


@pytest.mark.parametrize("tokens", [3, 10, 25])
def test_the_bound_is_the_optimum_of_the_relaxation(tokens: int) -> None:
    spans = find_spans(Text.within(PROSE, DENSE.boundaries), least=0, times=1)
    optimum = relaxed(spans, tokens)
    found = lower_bound(spans, tokens, rounds=1500).tokens
    assert 0.985 * optimum - 1 <= found <= np.ceil(optimum - 1e-6)
    assert found < sum(map(len, PROSE)) - tokens


def test_a_bound_in_many_blocks_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_spans(Text.within(PROSE * 4, DENSE.boundaries), least=100)
    whole = lower_bound(found, 3, rounds=200)
    monkeypatch.setattr(spans, "_BLOCK", 1)
    assert len(list(found.blocks())) > 3
    again = evaluated(found, 3, whole.weights)
    assert (again.tokens, again.margin) == (whole.tokens, whole.margin)
    assert abs(lower_bound(found, 3, rounds=200).tokens - whole.tokens) <= 1


def test_occurrences_of_some_strings() -> None:
    found = find_spans(Text.of(["abab", "ab ba ba"]), least=0)
    assert found.strings == [" b", "ab", "ba", " ba"]
    some = found.kept(np.array([False, True, False, True]))
    assert (some.number, some.strings) == (2, ["ab", " ba"])
    assert some.starts.tolist() == [0, 2, 5, 7, 10]
    assert (some.ends - some.starts).tolist() == [2, 2, 2, 3, 3]
    assert some.string.tolist() == [0, 0, 0, 1, 1]


def test_fewer_strings_are_looked_at_but_the_bound_holds() -> None:
    every = lower_bound(find_spans(Text.of(PROSE), least=0, times=1), 5, rounds=800)
    some = lower_bound(find_spans(Text.of(PROSE), int(every.margin), times=1), 5, rounds=800)
    none = lower_bound(find_spans(Text.of(PROSE), least=LONGEST * 200), 5, rounds=50)
    assert abs(some.tokens - every.tokens) <= 2
    assert none.tokens <= every.tokens
