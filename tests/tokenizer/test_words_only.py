"""Encoding with phrases switched off, or dropped at random."""

from __future__ import annotations

import functools
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supratok import Recipe, Token, Tokenizer
from supratok.common import _core
from supratok.reference.merges import encode_by_fewest, encode_by_merges, ranks_of
from supratok.reference.words import split_words
from supratok.tokenizer.ids import Layout
from texts import small_tokenizer
from vocabularies import RULES, made

tokens = st.lists(st.text("ab .", min_size=2, max_size=5), max_size=14)
vocabularies = st.builds(made, tokens, st.sampled_from(RULES), st.just("ab ."))
texts = st.text("ab .é", max_size=14) | st.sampled_from(["ab<s>a ab", "<s><s>", ""])
many = settings(max_examples=300, deadline=None)


@functools.cache
def trained(rule: str) -> Tokenizer:
    return small_tokenizer(rule)


def ids_of(one: Tokenizer, pieces: list[str]) -> list[int]:
    found = [[one.token_to_id(piece)] if piece in one else None for piece in pieces]
    bytes_of = [[one._ids.bytes[byte] for byte in piece.encode()] for piece in pieces]
    return [id for a, b in zip(found, bytes_of, strict=True) for id in a or b if id is not None]


@many
@given(vocabularies, texts)
def test_words_only_is_the_encoding_without_phrases(one: Tokenizer, text: str) -> None:
    words = [entry for entry in one.texts if len(split_words(entry)) == 1]
    if one.recipe.segmentation == "merges":
        expected = encode_by_merges(text, ranks_of(words))
    else:
        expected = encode_by_fewest(text, set(words))
    ids = one.encode(text, words_only=True)
    assert ids == ids_of(one, expected)
    assert one.decode(ids) == text
    assert one.encode(text, words_only=True, numpy=True).tolist() == ids
    assert one.encode_batch([text, "a"], words_only=True)[0] == ids
    assert one.encode(text, words_only=True, dropout=0.5) == ids


@many
@given(vocabularies, texts, st.integers(-5, 2**70))
def test_dropout_goes_from_all_phrases_to_none(one: Tokenizer, text: str, seed: int) -> None:
    for allow in (False, True):
        assert one.encode(text, dropout=0.0, seed=seed, allow_special=allow) == one.encode(
            text, allow_special=allow
        )
        assert one.encode(text, dropout=1.0, seed=seed, allow_special=allow) == one.encode(
            text, words_only=True, allow_special=allow
        )
        some = one.encode(text, dropout=0.5, seed=seed, allow_special=allow)
        assert one.decode(some) == text
        assert one.encode(text, dropout=0.5, seed=seed, allow_special=allow) == some
        alone = one.encode_batch([text], 1, dropout=0.5, seed=seed, allow_special=allow)
        assert alone == [some]


@pytest.mark.parametrize("rule", RULES)
def test_each_phrase_is_dropped_by_itself(rule: str) -> None:
    """` New York` a thousand times: about 300 of them are written as words, in no order, and the
    tokens beside them stay."""
    tokens = [" N", "ew", " New", " Y", "or", "ork", " York", " New York"]
    one = made(tokens, rule, "NewYork .")
    phrase, words = one.encode(" New York."), one.encode(" New York.", words_only=True)
    assert len(phrase) == 2 < len(words)
    ids = one.encode(" New York." * 1000, dropout=0.3, seed=1)
    dropped = []
    while ids:
        dropped.append(ids[:2] != phrase)
        del ids[: len(words) if dropped[-1] else 2]
    assert len(dropped) == 1000 and 250 < sum(dropped) < 350
    changes = sum(a != b for a, b in zip(dropped, dropped[1:], strict=False))
    assert 360 < changes < 480  # 999 * 2 * 0.3 * 0.7 = 420


@pytest.mark.parametrize("rule", RULES)
def test_the_place_in_a_batch_decides_and_not_the_threads(rule: str) -> None:
    one = trained(rule)
    batch = ["We met in New York as well as in Paris, New York." * 40] * 60
    one_thread = one.encode_batch(batch, 1, dropout=0.4, seed=7)
    assert one.encode_batch(batch, 4, dropout=0.4, seed=7) == one_thread
    assert len({tuple(ids) for ids in one_thread}) == len(batch)
    assert one.decode_batch(one_thread) == batch
    arrays = one.encode_batch(batch, 2, dropout=0.4, seed=7, numpy=True)
    assert arrays[0].dtype == np.int64 and [array.tolist() for array in arrays] == one_thread
    assert one.encode_batch(batch, dropout=0.4, seed=8) != one_thread
    assert one.encode_batch(batch, dropout=0.4) != one.encode_batch(batch, dropout=0.4)


def test_a_phrase_that_ranks_before_a_word() -> None:
    """`a b` is joined before ` bc`, so the words cut elsewhere: the two parts swap together."""
    one = made([" b", "a b", " bc"], "merges", "abc ")
    assert one.tokens("a bc") == ["a b", "c"]
    texts = {tuple(map(one.token_text, one.encode("a bc", dropout=0.5, seed=s))) for s in range(9)}
    assert texts == {("a b", "c"), ("a", " bc")}


def test_layouts() -> None:
    """Other ids, ties, a prefix, texts that are cut out: words only there too."""
    entries = [" ", "a", "b", "aa", "aaa", " a", "a b", " aa b"]
    layout = Layout(
        special=(1,), bytes=tuple(range(10, 266)), entries=(9, 8, 7, 6, 5, 4, 3, 2), tied=(4,),
        always={"é b": 400}, prefix=True,
    )  # fmt: skip
    states = _core.Encoder.states_of(entries)
    entries = [text for text, bad in zip(entries, states, strict=True) if not bad]
    layout = Layout(**{**layout.to_dict(), "entries": layout.entries[: len(entries)]})
    recipe = Recipe(vocab_size=401, special_tokens=("<s>",))
    vocabulary = [Token(text, 0, "imported") for text in entries]
    one = Tokenizer(vocabulary, recipe, None, layout)
    rng = random.Random(4)
    for _ in range(300):
        text = "".join(rng.choices(["a", " ", "b", "é b", "<s>", "aa"], k=rng.randint(0, 9)))
        for allow in (False, True):
            options: Any = {"allow_special": allow, "seed": 3}
            words = one.encode(text, words_only=True, allow_special=allow)
            assert not {one.token_to_id("a b")} & set(words)
            assert one.encode(text, dropout=1, **options) == words
            assert one.decode(words) == one.decode(one.encode(text, dropout=0.5, **options)) == text


def test_wrong_values() -> None:
    one = made(["ab"], "merges")
    for wrong in (-0.1, 1.5, float("nan")):
        with pytest.raises(ValueError, match="a probability is between 0 and 1"):
            one.encode("ab", dropout=wrong)
    with pytest.raises(TypeError, match="text must be a str, not int"):
        one.encode(5, dropout=0.5)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="item 1 of texts must be a str"):
        one.encode_batch(["a", 5], dropout=0.5)  # type: ignore[list-item]
    with pytest.raises(TypeError, match="seed"):
        one.encode("a", dropout=0.5, seed="7")  # type: ignore[call-overload]
