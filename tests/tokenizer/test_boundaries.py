"""The laws of docs/boundaries.md, against brute force: both rules, any small vocabulary."""

from __future__ import annotations

import functools
import pickle
import random
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seeds import seeds
from supratok import Recipe, Token, Tokenizer
from supratok.reference import boundaries as plain
from supratok.tokenizer import Cover, Pair, Patch, Stable
from supratok.tokenizer.ids import Layout
from texts import HOSTILE, any_text, small_tokenizer
from vocabularies import RULES, made, rule_of

FOREIGN = "é"  # outside the alphabet


@functools.cache
def trained(rule: str) -> Tokenizer:
    return small_tokenizer(rule)


def after(tokenizer: Tokenizer) -> list[str]:
    """Continuations that show everything: a token that crosses has one character before the end."""
    longest = max(map(len, tokenizer.texts), default=1)
    chars = sorted({FOREIGN, *"".join(tokenizer.texts)})
    return plain.continuations("".join(chars), longest - 1)


tokens = st.lists(st.text("ab ", min_size=2, max_size=4), max_size=12)
# Under fewest tokens may hold characters that the alphabet has not.
outside = st.lists(st.text("abé", min_size=2, max_size=4), max_size=8)
vocabularies = st.builds(
    made, tokens, st.sampled_from(RULES), st.sampled_from(["ab ", "ab", "a ", ""])
) | st.builds(made, outside, st.sampled_from(RULES), st.sampled_from(["ab", "b", "abé"]))
short_text = st.text("ab é", max_size=9)
many = settings(max_examples=300, deadline=None)


# --- Texts that go on


@many
@given(vocabularies, short_text, st.text("ab é", max_size=12))
def test_no_continuation_changes_what_is_stable(one: Tokenizer, text: str, more: str) -> None:
    """Law 1. And no longer ids have this."""
    ids, rest = one.stable(text)
    assert ids == plain.stable(rule_of(one), text, after(one))
    assert one.encode(text + more)[: len(ids)] == ids
    assert one.decode(ids) + rest == text


@many
@given(vocabularies, short_text, st.text("ab é", max_size=12))
def test_every_continuation_falls_in_one_cover(one: Tokenizer, text: str, more: str) -> None:
    """Law 2. And every cover has a continuation, and its next ids are those of them all."""
    rule, found = rule_of(one), one.covers(text)
    expected = plain.covers(rule, text, after(one))
    assert [(tuple(ids), rest) for ids, rest in found] == list(expected)
    assert found[0] == Cover(one.encode(text), "")
    cover, _ = plain.cover_of(rule, text, more)
    assert [(tuple(ids), rest) for ids, rest in found].count(cover) == 1
    for one_cover, next_ids in zip(found, expected.values(), strict=True):
        if one_cover.rest:
            assert set(one.may_come(one_cover).tolist()) == next_ids
    possible = set(one.may_come(found[0]).tolist())
    assert next(iter(expected.values())) <= possible
    assert possible == {id for id in one.ids[1:] if plain.may_come_next(rule, found[0].ids, id)}


@many
@given(vocabularies, st.lists(st.text("ab é<s>", max_size=5), max_size=8))
def test_patches_give_the_encoding_of_the_whole(one: Tokenizer, pieces: list[str]) -> None:
    """Law 3."""
    stream, ids, text = one.encode_stream(), list[int](), ""
    for piece in pieces:
        patch = stream.append(piece)
        assert patch.keep <= len(ids)
        ids[patch.keep :] = patch.ids
        text += piece
        assert ids == one.encode(text) == stream.ids
        assert stream.bytes == len(text.encode())


@many
@given(vocabularies, st.lists(st.text("abc é", max_size=5), max_size=8), st.integers(0, 8))
def test_one_patch_for_many_pieces(one: Tokenizer, pieces: list[str], first: int) -> None:
    stream, ids = one.encode_stream(), list[int]()
    for some in (pieces[:first], iter(pieces[first:])):
        patch = stream.extend(some)
        assert type(patch) is Patch and patch.keep <= len(ids)
        ids[patch.keep :] = patch.ids
    assert ids == one.encode("".join(pieces)) == stream.ids


# Special tokens that begin, end and hold each other.
written = st.lists(
    st.sampled_from(["<a>", "<a>b", "b<a", "a<", "<a><s>", "<s>b<s", "é", "<<", "a<a>a<a>"]),
    unique=True, max_size=4,
)  # fmt: skip


@many
@given(vocabularies, written, st.lists(st.text("ab é<s>", max_size=4), max_size=12))
def test_patches_of_a_text_with_special_tokens(
    plain: Tokenizer, special: list[str], pieces: list[str]
) -> None:
    """The text of a special token may come in pieces, and turn out to be that of a longer one."""
    one = plain.with_special_tokens([text for text in special if text not in plain])
    stream, ids, text = one.encode_stream(allow_special=True), list[int](), ""
    for piece in pieces:
        patch = stream.append(piece)
        assert patch.keep <= len(ids)
        ids[patch.keep :] = patch.ids
        text += piece
        assert ids == one.encode(text, allow_special=True) == stream.ids
        assert stream.bytes == len(text.encode())
    whole = one.encode_stream(allow_special=True)
    assert whole.extend(pieces) == Patch(0, ids)


@pytest.mark.parametrize("rule", RULES)
def test_a_chat_comes_character_by_character(rule: str) -> None:
    one = trained(rule).with_special_tokens(["<|im_start|>", "<|im_end|>"])
    text = "<|im_start|>user in New York<|im_end|><|im_st as well as" * 9
    stream, taken, ids = one.encode_stream(allow_special=True), 0, list[int]()
    for char in text:
        keep, fresh = stream.append(char)
        taken, ids = taken + len(ids) - keep, ids[:keep] + fresh
    assert ids == one.encode(text, allow_special=True)
    start, end = one.special_tokens["<|im_start|>"], one.special_tokens["<|im_end|>"]
    assert (ids.count(start), ids.count(end)) == (9, 9)
    ordinary = one.encode_stream()  # text of strangers makes no special token
    ordinary.extend(text)
    assert ordinary.ids == one.encode(text) and start not in ordinary.ids


def test_an_error_leaves_a_stream_with_special_tokens_as_it_was() -> None:
    stream = made(["ab"], "merges").encode_stream(allow_special=True)
    stream.append("ab<")
    wrong: Any
    for wrong in (5, b"s>", "s>\ud800"):
        with pytest.raises((TypeError, ValueError), match=r"must be a str|lone surrogate"):
            stream.append(wrong)
    with pytest.raises(TypeError, match="item 1 of texts must be a str"):
        stream.extend(["s>", 5])  # type: ignore[list-item]
    stream.append("s>")
    assert stream.ids == made(["ab"], "merges").encode("ab<s>", allow_special=True)


@pytest.mark.parametrize("rule", RULES)
def test_a_stream_of_characters_and_of_long_pieces(rule: str) -> None:
    one, rng = trained(rule), random.Random(3)
    text = "".join(rng.choice(HOSTILE[:-1]) for _ in range(60)) + "in New York\n" * 40
    for most in (1, 7, 4000):
        stream, ids, at = one.encode_stream(), list[int](), 0
        while at < len(text):
            size = rng.randint(1, most)
            keep, fresh = stream.append(text[at : at + size])
            ids[keep:] = fresh
            at += size
            if most > 1 or at % 50 == 0:
                assert ids == one.encode(text[:at])
        assert ids == one.encode(text) == stream.ids


def by_characters(one: Tokenizer, text: str, every: int = 1) -> None:
    """The ids of a stream of characters are those of `encode`, at every so many places."""
    stream, ids = one.encode_stream(), list[int]()
    for place, char in enumerate(text, 1):
        patch = stream.append(char)
        ids[patch.keep :] = patch.ids
        if place % every == 0 or place == len(text):
            assert ids == one.encode(text[:place])


@pytest.mark.parametrize("rule", RULES)
def test_a_stream_of_tokens_of_more_shapes_than_are_noted(rule: str) -> None:
    """Of a state's last tokens the sizes are noted, up to 511 kinds of them."""
    one = made(["a" * size for size in range(2, 700)], rule, "ab")
    assert len({len(one.token_text(id)) for id in one.entry_ids}) > 511
    by_characters(one, "a" * 1_500 + "b" + "a" * 730, every=61)


@pytest.mark.parametrize("rule", RULES)
@seeds(range(12), 60)
def test_a_stream_of_tokens_that_take_in_parts_of_others(rule: str, seed: int) -> None:
    rng, texts = random.Random(seed), list("ab ")
    while len(texts) < 60:
        joined = rng.choice(texts) + rng.choice(texts)
        if len(joined) <= 24 and joined not in texts:
            texts.append(joined)
    one = made(texts, rule)
    by_characters(one, "".join(rng.choices(texts, k=60)))


def test_a_stream_corrects_a_token_whose_place_has_the_bytes_of_a_character() -> None:
    """`abcd` has three tokens, `abcdeé` two and then two bytes, of which one is the third id. With
    `eéx` the text begins like `abcd` again, but only the first of its three tokens is there."""
    one = made(["bc", "bcde", "eéx"], "fewest", "abcdex")
    by_characters(one, "abcdeéx")
    assert one.tokens("abcde") == ["a", "bcde"] and one.tokens("abcdeéx") == ["a", "bc", "d", "eéx"]


@many
@given(vocabularies, short_text, short_text)
def test_pairs(one: Tokenizer, a: str, b: str) -> None:
    assert one.encode_pair(a, b) == plain.pair(rule_of(one), a, b)


@many
@given(vocabularies, short_text, st.integers(2, 5))
def test_split(one: Tokenizer, text: str, most: int) -> None:
    pieces = one.split(text, most)
    assert "".join(pieces) == text
    assert [id for piece in pieces for id in one.encode(piece)] == one.encode(text)
    assert all(0 < len(one.encode(piece)) <= most for piece in pieces)
    assert pieces == plain.split(rule_of(one), text, most)


def test_split_needs_room_for_a_character() -> None:
    one = made(["ab"], "merges")
    assert one.split("é", 2) == ["é"] and one.split("") == []
    assert one.split("aé", 2) == ["a", "é"]
    with pytest.raises(ValueError, match=r"max_tokens=2: the character '🙂' alone takes 4 tokens"):
        one.split("ab🙂", 2)
    with pytest.raises(ValueError, match="max_tokens=0: must be at least 1"):
        one.split("a", 0)


# --- Ids that go on


@many
@given(vocabularies, st.data())
def test_canonical_ids(one: Tokenizer, data: Any) -> None:
    """Law 4, for any ids: encodings, encodings side by side, bytes of anything."""
    rule = rule_of(one)
    some = short_text.map(one.encode) | st.lists(st.sampled_from(one.ids[1:]), max_size=3)
    some |= short_text.map(lambda text: [rule.bytes[byte] for byte in text.encode()][:3])
    ids = [id for part in data.draw(st.lists(some, max_size=4)) for id in part]
    assert one.is_canonical(ids) == plain.is_canonical(rule, ids)
    assert one.canonical_prefix(ids) == plain.canonical_prefix(rule, ids)


@many
@given(vocabularies, short_text, st.text("aéü🙂", min_size=1, max_size=1), st.integers(0, 3))
def test_the_next_id(one: Tokenizer, text: str, char: str, size: int) -> None:
    """Law 4, one id further: behind an encoding, and behind some bytes of a character."""
    rule = rule_of(one)
    ids = one.encode(text) + [rule.bytes[byte] for byte in char.encode()[:size]]
    may = [plain.may_come_next(rule, ids, id) for id in one.ids[1:]]
    if len(ids) == len(one.encode(text)) or any(may):  # the bytes may be wrong here
        assert one.next_mask(ids).tolist() == [True, *may]


@many
@given(vocabularies)
def test_neighbours(one: Tokenizer) -> None:
    rule, ids = rule_of(one), [*one.ids[257:], *one.ids[190:210], one.ids[0]]
    for left in ids:
        expected = [one.is_canonical([left, right]) for right in ids]
        assert one.may_follow(left, ids).tolist() == expected
        assert [one.may_follow(left, right) for right in ids] == expected
        assert one.may_follow(left, np.array(ids)).tolist() == expected
        for right, may in zip(ids, expected, strict=True):
            if 0 not in (left, right):
                assert may == plain.is_canonical(rule, [left, right])


def test_special_tokens_are_borders() -> None:
    one = made(["ab", "aba"], "merges")
    a, b, ab, special = one.encode("a")[0], one.encode("b")[0], one.encode("ab")[0], 0
    assert not one.is_canonical([a, b])
    assert one.is_canonical([a, special, b]) and one.is_canonical([special, special, ab])
    assert one.canonical_prefix([ab, special, a, b]) == 3
    lead, tail = (one._ids.bytes[byte] for byte in "é".encode())
    assert one.canonical_prefix([a, lead, special, tail]) == 1
    assert one.may_follow(special, ab) and not one.may_follow(special, lead)
    assert one.next_mask([a, special]).tolist() == one.next_mask([]).tolist()
    assert one.next_mask([a])[special] and one.next_mask([a, lead])[special]
    assert one.covers("a<s>a", allow_special=True)[1:] == [Cover([a, special], "a")]
    assert one.stable("<s>a", allow_special=True) == Stable([special], "a")
    assert one.stable("<s>é", allow_special=True) == Stable([special, lead, tail], "")
    assert one.may_come(Cover([a, special], "a")).tolist() == [ab, one.encode("aba")[0]]
    assert one.encode_pair("<s>a", "b", allow_special=True) == Pair([special, ab], 1, True)


def test_ids_that_left_the_encoding_count_from_there() -> None:
    """As if a text began there: nothing repairs them, and generation goes on."""
    for rule in RULES:
        one = made(["ab", "aba", "bb"], rule)
        a, b = one.encode("a")[0], one.encode("b")[0]
        assert one.canonical_prefix([a, b]) == 1
        assert one.next_mask([a, b]).tolist() == one.next_mask([b]).tolist()
        wrong = one._ids.bytes[0x80]
        assert one.next_mask([a, wrong]).tolist() == one.next_mask([]).tolist()


def test_no_window_is_enough_for_fewest() -> None:
    """A(bcde)^n F is no encoding, though all its proper parts are: A bc de bc .. wins by one."""
    one = made(["bcde", "Abc", "debc", "deF"], "fewest", "AbcdeF")
    for n in (1, 2, 5, 40):
        ids = [one.encode(piece)[0] for piece in ["A", *["bcde"] * n, "F"]]
        assert not one.is_canonical(ids)
        assert one.is_canonical(ids[1:]) and one.is_canonical(ids[:-1])
        assert one.canonical_prefix(ids) == n + 1
        assert not one.next_mask(ids[:-1])[ids[-1]] and one.next_mask(ids[1:-1])[ids[-1]]
        stream = one.encode_stream()
        stream.append("A" + "bcde" * n)
        assert stream.append("F").keep == 0


# --- By hand


def test_the_covers_of_new() -> None:
    """Tokens N, e, w, Y, space, ` New`, ` New Y`: behind "a New" come ` New` and anything, or
    ` New Y` whole."""
    one = made([" N", "ew", " New", " Y", " New Y"], "merges", "aNewY ")
    ids = {token: one.encode(token)[0] for token in one.texts}
    assert one.tokens("a New Y") == ["a", " New Y"]
    assert one.covers("a New") == [
        Cover([ids["a"], ids[" New"]], ""),
        Cover([ids["a"]], " New"),
    ]
    assert one.may_come(one.covers("a New")[1]).tolist() == [ids[" New Y"]]
    assert one.stable("a New") == Stable([ids["a"]], " New")
    mask = one.next_mask(one.encode("a New"))
    assert mask[ids[" "]] and mask[ids["Y"]] and not mask[ids[" Y"]]
    stream = one.encode_stream()
    assert stream.append("a Ne") == Patch(0, one.encode("a Ne"))
    assert stream.append("w") == Patch(1, [ids[" New"]])
    assert stream.append(" Y") == Patch(1, [ids[" New Y"]])
    assert stream.append("") == Patch(2, [])
    assert one.encode_pair("a New", " Y") == Pair([ids["a"], ids[" New Y"]], 1, True)
    assert one.encode_pair("a", " New") == Pair([ids["a"], ids[" New"]], 1, False)
    assert one.encode_pair("a New", "") == Pair(one.encode("a New"), 2, False)
    assert one.encode_pair("", "") == Pair([], 0, False)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(RULES),
    any_text | st.sampled_from(["in New", " as well", "The cat", "New York"]),
    any_text | st.sampled_from([" York", " as", "s", " "]),
)
def test_trained_tokenizers(rule: str, text: str, more: str) -> None:
    one = trained(rule)
    ids, rest = one.stable(text)
    assert one.encode(text + more)[: len(ids)] == ids and one.decode(ids) + rest == text
    covers = [(tuple(ids), rest) for ids, rest in one.covers(text)]
    cover, id = plain.cover_of(rule_of(one), text, more)
    assert covers.count(cover) == 1
    assert id is None or id in one.may_come(Cover(list(cover[0]), cover[1]))
    whole = one.encode(text + more)
    assert one.is_canonical(whole)
    for place, id in enumerate(whole):
        assert one.next_mask(whole[:place])[id]


# --- What is refused, and what is kept


def test_layouts() -> None:
    """Ids of any order, ties and unused ids are exact; a prefix and texts cut out are refused."""
    texts = ["a", " ", "aa", "aaa", "aaaa", " a"]
    layout = Layout(
        special=(600,),
        bytes=tuple(range(300, 556)),
        entries=(5, 9, 7, 3, 2, 8),
        tied=(3, 4),
        spare={"x": 700},
    )
    entries = [Token(text, 0, "imported") for text in texts]
    recipe = Recipe(vocab_size=701, special_tokens=("<s>",))
    one = Tokenizer(entries, recipe, None, layout)
    rule = rule_of(one)
    for text in ("", "a", "aaaaa", " a", "aaaaaa aé"):
        expected = plain.covers(rule, text, plain.continuations("a é", 3))
        assert [(tuple(ids), rest) for ids, rest in one.covers(text)] == list(expected)
        assert one.is_canonical(one.encode(text))
    assert not one.is_canonical([700]) and not one.next_mask([])[700] and one.next_mask([])[600]
    assert len(one.next_mask([])) == one.vocab_size
    for more, pair in (
        ({"prefix": True}, Pair([9, 3], 1, True)),
        ({"always": {"aé": 701}}, Pair([3], 0, True)),
    ):
        odd = Tokenizer(entries, recipe, None, replace(layout, **more))
        with pytest.raises(ValueError, match=r"not supported for a tokenizer that (puts|cuts)"):
            odd.covers("a")
        assert odd.encode_pair("aa", "a") == pair


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda one: one.is_canonical([10**6]), "no token has the id 1000000"),
        (lambda one: one.is_canonical([-1]), "no token has the id -1"),
        (lambda one: one.next_mask([2**70]), "no token has the id"),
        (lambda one: one.may_follow(10**6, [1]), "no token has the id 1000000"),
        (lambda one: one.may_follow(1, [10**6]), "no token has the id 1000000"),
        (lambda one: one.canonical_prefix("12"), "ids must be a sequence"),
        (lambda one: one.canonical_prefix([1.5]), "ids must be whole numbers"),
        (lambda one: one.covers(5), r"text must be a str, not int \(5\)"),
        (lambda one: one.stable("\ud800"), "lone surrogate"),
        (lambda one: one.encode_pair("a", 5), r"text must be a str, not int \(5\)"),
        (lambda one: one.encode_pair("a", "\ud800"), "lone surrogate"),
        (lambda one: one.split(None), "text must be a str, not None"),
        (lambda one: one.may_come(([], 5)), r"text must be a str, not int \(5\)"),
        (lambda one: one.may_come(Cover([257, 258], "")), "the ids of a cover are an encoding"),
        (lambda one: one.encode_stream().append(b"a"), "text must be a str, not bytes"),
        (lambda one: one.encode_stream().extend(["a", 5]), "item 1 of texts must be a str"),
        (lambda one: one.encode_stream().extend(["a", "\ud800"]), "lone surrogate"),
    ],
)
def test_wrong_arguments(call: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call(made(["ab"], "merges"))


def test_an_error_leaves_a_stream_as_it_was() -> None:
    stream = made(["ab"], "merges").encode_stream()
    stream.append("a")
    for wrong in ("b\ud800", 5):
        with pytest.raises((ValueError, TypeError)):
            stream.append(wrong)  # type: ignore[arg-type]
        with pytest.raises((ValueError, TypeError)):
            stream.extend(["b", wrong])  # type: ignore[list-item]
    assert stream.append("b").keep == 0 and len(stream.ids) == 1


def test_it_pickles_and_threads_share_it() -> None:
    one = trained("merges")
    expected = one.covers("in New")
    assert "_ends" in vars(one) and "_ends" not in vars(pickle.loads(pickle.dumps(one)))
    assert pickle.loads(pickle.dumps(one)).covers("in New") == expected
    found: list[Any] = []
    workers = [
        threading.Thread(target=lambda: found.append(one.covers("in New"))) for _ in range(8)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [expected] * 8


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("unit", ["a", "ab", "aab", "é", "a b"])
def test_a_megabyte_of_anything(rule: str, unit: str) -> None:
    """Quadratic work would not come back from this."""
    long = ["aa", "a" * 4, "a" * 8, "a" * 64, "ab", "aab", "abab", " b", "b a"]
    one = made(long, rule)
    text = unit * (1_000_000 // len(unit.encode()))
    ids = one.encode(text)
    assert one.is_canonical(ids) and one.covers(text)[0].ids == ids
    stable = one.stable(text)
    assert one.decode(stable.ids) + stable.rest == text
    stream = one.encode_stream()
    for at in range(0, len(text), 99_999):
        stream.append(text[at : at + 99_999])
    assert stream.ids == ids
