"""The halves of a target text: they depend on the texts alone, and share nothing."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supratok.corpus.target import TargetText, halves, read_target
from texts import prose

WORDS = st.text(alphabet="ab .\n", min_size=1, max_size=40)


@given(st.lists(WORDS, min_size=2, max_size=12, unique=True), st.randoms())
def test_the_halves_share_nothing_and_lose_nothing(texts: list[str], chance: random.Random) -> None:
    try:
        found = halves(texts)
    except ValueError:  # one document is longer than all others, and has no place to cut
        longest = max(texts, key=len)
        assert 2 * len(longest) > sum(map(len, texts)) and len(longest.split()) < 2
        return
    assert sorted("".join(found.deciding + found.measuring)) == sorted("".join(texts))
    again = [*texts, texts[0]]
    chance.shuffle(again)  # neither the order nor a repetition matters
    assert halves(again) == found and halves(again).identity == found.identity


@given(st.lists(st.text(alphabet="ab ", min_size=1, max_size=40), min_size=20, unique=True))
def test_neither_half_is_ahead_by_more_than_the_longest_document(texts: list[str]) -> None:
    found = halves(texts)
    sizes = [sum(map(len, half)) for half in (found.deciding, found.measuring)]
    assert abs(sizes[0] - sizes[1]) <= max(map(len, texts))


@pytest.mark.parametrize(("text", "deciding", "measuring"), [
    ("one two\n\nthree\nfour five six", "one two\n\n", "three\nfour five six"),
    ("one\ntwo three", "one\n", "two three"),
    ("One two three. Four", "One two three. ", "Four"),
    ("one two three", "one two ", "three"),
])  # fmt: skip
def test_one_document_is_cut_at_its_best_boundary(text: str, deciding: str, measuring: str) -> None:
    assert halves([text]) == TargetText([deciding], [measuring])


def test_what_cannot_be_halved_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"one word of 7 characters.*pass more text"):
        halves(["oneword"])
    empty = tmp_path / "empty.txt"
    empty.write_text(" \n\n", encoding="utf-8")
    for nothing in ([], ["", " "], empty):
        with pytest.raises(ValueError, match="the target is empty"):
            read_target(nothing)
    with pytest.raises(ValueError, match="the target is empty"):
        read_target(TargetText([], ["text"]))


def test_files_and_lists_give_the_same_halves(tmp_path: Path) -> None:
    texts = prose(3, 30)
    path = tmp_path / "target.jsonl"
    lines = (json.dumps({"text": text}) + "\n" for text in texts)
    path.write_text("".join(lines), encoding="utf-8")
    assert read_target(path) == read_target(texts) == halves(texts)
    assert read_target(halves(texts)) == halves(texts)


def test_the_identity_tells_the_halves_apart() -> None:
    names = [TargetText(["ab"], ["c"]), TargetText(["a"], ["b", "c"]), TargetText(["ab", "c"], [])]
    assert len({target.identity for target in names}) == 3
