"""Prompts that end inside tokens: where texts are cut, and every figure against brute force."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supratok import Tokenizer
from supratok.formats.runtime import Ours
from supratok.lab.measure import boundaries
from supratok.lab.measure.boundaries import (
    KINDS,
    AtCuts,
    Cuts,
    Spread,
    Subject,
    at_cut,
    characters,
    choose,
    line_ends,
    measure,
    sentence_ends,
    spread,
    word_ends,
)
from supratok.reference import boundaries as reference
from texts import any_text, tight_text
from vocabularies import RULES, made, rule_of

TEXT = "It's 3.5 m.\n\nYes, “no.” (東京。はい)\r\nดี end"


def prompts(text: str, kind: str) -> list[str]:
    return [text[:place] for place in KINDS[kind](text)]


# --- Where texts are cut


def test_cuts_by_hand() -> None:
    ends = ["It's", " 3.5", " m", ".\n\nYes", ", “no", ".” (東京。はい", ")\r\nดี"]
    assert prompts(TEXT, "word ends") == ["".join(ends[: size + 1]) for size in range(len(ends))]
    assert prompts(TEXT, "sentence ends") == [
        "It's 3.5 m.", "It's 3.5 m.\n\nYes, “no.”", "It's 3.5 m.\n\nYes, “no.” (東京。",
    ]  # fmt: skip
    assert prompts(TEXT, "line ends") == ["It's 3.5 m.", TEXT[: TEXT.index("\r")]]
    assert prompts("abc", "any character") == ["a", "ab"]


@pytest.mark.parametrize("text", ["", "a", ".", "\n", " "])
def test_texts_without_cuts(text: str) -> None:
    assert [list(find(text)) for find in KINDS.values()] == [[]] * 4
    assert choose([text]) == Cuts(1, dict.fromkeys(KINDS, 0), {})


def is_word_end(text: str, place: int) -> bool:
    """Behind a letter, digit or mark, and only other characters up to a space or the end."""
    if text[place - 1].isspace() or unicodedata.category(text[place - 1])[0] not in "LMN":
        return False
    behind = next((char for char in text[place:]
                   if char.isspace() or unicodedata.category(char)[0] in "LMN"), " ")  # fmt: skip
    return behind.isspace()


@given(any_text | tight_text | st.text("ab.,' \n\r1ี"))
def test_cuts_are_those_of_a_plain_loop(text: str) -> None:
    places = range(1, len(text))
    assert list(word_ends(text)) == [place for place in places if is_word_end(text, place)]
    breaks = "\r\n"
    ends = [at for at in places if text[at] in breaks and text[at - 1] not in breaks]
    assert list(line_ends(text)) == ends
    assert list(characters(text)) == list(places)
    assert set(sentence_ends(text)) <= set(places)


def all_cuts(texts: list[str]) -> dict[int, list[tuple[str, int]]]:
    found: dict[int, list[tuple[str, int]]] = {}
    for kind, find in KINDS.items():
        for number, text in enumerate(texts):
            for which in range(len(find(text))):
                found.setdefault(number, []).append((kind, which))
    return found


@given(st.lists(st.text("a. \n", min_size=1), max_size=6))
def test_all_cuts_are_chosen_if_there_are_few(texts: list[str]) -> None:
    assert choose(iter(texts), most=1000).chosen == all_cuts(texts)


def test_the_sample_is_even_and_follows_the_seed() -> None:
    texts = ["ab " * size for size in range(1, 101)]
    cuts = choose(texts, most=500)
    assert cuts == choose(texts, most=500) != choose(texts, most=500, seed=1)
    chosen = [(number, cut) for number, some in cuts.chosen.items() for cut in some]
    assert len(chosen) == len(set(chosen)) == 1000  # of words and of characters
    known = all_cuts(texts)
    assert all(cut in known[number] for number, cut in chosen)
    assert cuts.documents == 100 and cuts.all["word ends"] == 5050
    longer = sum(number >= 50 for number, (kind, _) in chosen if kind == "word ends")
    assert 330 < longer < 420  # 3 of 4 words are in the longer half


def test_wrong_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="cuts=0: must be at least 1"):
        choose(["ab"], most=0)


# --- What a tokenizer does there


def brute_cut(tokenizer: Tokenizer, text: str, place: int) -> tuple[bool, bool, int, int]:
    """By decoding, by trying all tokens, and by trying all continuations."""
    data, prompt = text.encode(), text[:place]
    ids = tokenizer.encode(text)
    size = len(prompt.encode())
    ends = [len(tokenizer.decode_bytes(ids[:number])) for number in range(len(ids) + 1)]
    kept = tokenizer.encode(prompt)
    dropped = tokenizer.decode_bytes(kept[-1:])
    healed = [
        [*kept[:-1], id] for id in tokenizer.ids if tokenizer.decode_bytes([id]).startswith(dropped)
    ]
    assert tokenizer.decode_bytes(ids) == data
    after = reference.continuations("ab é", 4)
    rule = rule_of(tokenizer)
    stable = tokenizer.decode_bytes(reference.stable(rule, prompt, after))
    return (
        size not in ends,
        not any(ids[: len(start)] == start for start in healed),
        len(reference.covers(rule, prompt, after)),
        size - len(stable),
    )


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=40, deadline=None)
@given(
    tokens=st.lists(st.text("ab ", min_size=2, max_size=4), max_size=8),
    text=st.text("abé ", min_size=2, max_size=8),
)
def test_a_cut_is_that_of_brute_force(rule: str, tokens: list[str], text: str) -> None:
    tokenizer = made(tokens, rule)
    subject = Subject(Ours("ours", tokenizer), tokenizer)
    encoded = subject.peer.encode_with_offsets(text)
    for place in characters(text):
        assert at_cut(subject, text, place, *encoded) == brute_cut(tokenizer, text, place)


def york(rule: Any = "merges") -> Tokenizer:
    tokens = ["in", " N", "ew", " New", " Y", "or", " Yor", " York", " New York"]
    return made(tokens, rule, alphabet="inNewYork. ")


@pytest.mark.parametrize("rule", RULES)
def test_an_example_by_hand(rule: str) -> None:
    """in| New York|. has cuts of words behind "in", "New" (inside a token) and "York"."""
    ours = Ours("ours", york(rule))
    texts = ["in New York.", ""]
    cuts = choose(texts)
    exact, other = measure([Subject(ours, ours.tokenizer), Subject(ours, None)], texts, cuts)
    words = exact.at["word ends"]
    assert (words.cuts, words.inside, words.missed) == (3, 1 / 3, 0)
    # "in" is whole, or a new "in" never grows; " New" or " New York"; the same with York.
    assert words.covers == Spread(mean=4 / 3, p95=2, max=2)
    assert words.bytes_back == Spread(mean=4 / 3, p95=4, max=4)
    assert other.at["word ends"].covers is other.at["word ends"].bytes_back is None
    assert other.at["word ends"].inside == words.inside
    assert exact.at["line ends"] == AtCuts(0, None, None, None, None)


def test_one_token_back_is_not_enough() -> None:
    """The prompt "a b" is a| b, its text is "a b c" in one token: two tokens back."""
    tokenizer = made([" b", "a b c"], "fewest", alphabet="abc ")
    ours = Ours("ours", tokenizer)
    assert tokenizer.tokens("a b") == ["a", " b"] and tokenizer.tokens("a b c") == ["a b c"]
    cut = at_cut(Subject(ours, tokenizer), "a b c", 3, *ours.encode_with_offsets("a b c"))
    assert cut == (True, True, 2, 3)


def test_long_texts_count_as_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boundaries, "LONGEST", 12)
    text = "in New York."
    ours = Subject(Ours("ours", york()), york())
    (whole,) = measure([ours], [text] * 3, choose([text] * 3))
    (long,) = measure([ours], [text * 3], choose([text * 3]))
    assert long == whole and long.at["any character"].cuts == 33


def test_spread() -> None:
    assert spread([]) is None
    assert spread([7]) == Spread(7, 7, 7)
    assert spread([*range(20, 0, -1)]) == Spread(10.5, 19, 20)
    assert spread([*range(21)]) == Spread(10, 19, 20)  # 20 of 21 are at most 19
