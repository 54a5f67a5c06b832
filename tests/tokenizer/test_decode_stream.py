"""Decoding one id after the other gives what `decode` gives for all."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supratok import Recipe, Token, Tokenizer
from supratok.tokenizer.ids import Layout
from texts import HOSTILE, any_text, small_tokenizer

SPECIAL = ("<s>", "</s>", "<é>")


@functools.cache
def tokenizer(kind: str) -> Tokenizer:
    """In the house order, or with a prefix, a text that is cut out and an id in no encoding."""
    if kind != "prefix":
        return small_tokenizer(kind, special_tokens=SPECIAL)
    texts = [" ", "a", "b", "é", " a", "ab", "  "]
    layout = Layout(
        special=(2, 0, 1),
        bytes=tuple(range(10, 266)),
        entries=tuple(range(300, 300 + len(texts))),
        always={"é b": 400},
        spare={" x": 401},
        prefix=True,
    )
    recipe = Recipe(vocab_size=402, special_tokens=SPECIAL)
    return Tokenizer([Token(text, 0, "alphabet") for text in texts], recipe, None, layout)


KINDS = ["merges", "fewest", "prefix"]


def streamed(one: Tokenizer, ids: list[int], **options: bool) -> list[str]:
    stream = one.decode_stream(**options)
    return [*map(stream.step, ids), stream.finish()]


@given(st.data(), st.sampled_from(KINDS), st.booleans())
def test_all_steps_together_are_the_text(data: Any, kind: str, skip: bool) -> None:
    """Any ids: bytes in any order, special tokens anywhere, spaces at the beginning."""
    one = tokenizer(kind)
    some = st.sampled_from(one.ids)
    first = st.sampled_from([*one.special_tokens.values(), *one.ids[:300]])
    ids = data.draw(st.lists(first | some, max_size=12))
    parts = streamed(one, ids, skip_special_tokens=skip)
    assert "".join(parts) == one.decode(ids, skip_special_tokens=skip)
    stream = one.decode_stream(skip_special_tokens=skip)
    cut = data.draw(st.integers(0, len(ids)))
    by_lists = stream.step(ids[:cut]) + stream.step(ids[cut:]) + stream.finish()
    assert by_lists == "".join(parts)


@given(any_text, st.sampled_from(KINDS))
def test_no_step_returns_half_a_character(text: str, kind: str) -> None:
    """What is complete is returned at once, and nothing is taken back."""
    one = tokenizer(kind)
    ids, stream, said = one.encode(text), one.decode_stream(), ""
    for count, id in enumerate(ids, 1):
        said += stream.step(id)
        whole = one.decode_bytes(ids[:count])
        assert said.encode() == whole[: len(said.encode())] and len(whole) - len(said.encode()) < 4
        assert said == text[: len(said)]
    assert stream.finish() == "" and said == text


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_texts(kind: str) -> None:
    one = tokenizer(kind)
    stream = one.decode_stream()
    for text in HOSTILE:  # one stream for all: a finished one begins anew
        assert stream.step(one.encode(text, allow_special=True)) + stream.finish() == text


def test_bytes_wait_for_their_character() -> None:
    one = tokenizer("merges")
    vocab, stream = one.get_vocab(), one.decode_stream()
    byte = [vocab[f"<0x{value:02X}>"] for value in "🝮".encode()]
    assert list(map(stream.step, byte)) == ["", "", "", "🝮"]
    assert [stream.step(byte[:2]), stream.step(vocab["a"]), stream.finish()] == ["", "\ufffda", ""]
    assert [stream.step(byte[:3]), stream.finish(), stream.finish()] == ["", "\ufffd", ""]


def test_an_unknown_id_changes_nothing() -> None:
    one = tokenizer("prefix")
    stream = one.decode_stream()
    ids = one.encode("ab é")
    for wrong in (999, [*ids, 999], -1):
        with pytest.raises(ValueError, match="no token has the id"):
            stream.step(wrong)
    with pytest.raises(TypeError, match="ids must be"):
        stream.step("12")  # type: ignore[arg-type]
    assert stream.step(np.array(ids)) + stream.step(np.int64(301)) + stream.finish() == "ab éa"
