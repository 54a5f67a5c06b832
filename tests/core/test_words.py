"""How a text is cut into words."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given

from supratok.common import _core
from supratok.reference import words as reference_words
from texts import HOSTILE, any_text, corpus


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, big  world\n", ["Hello", ",", " big", " ", " world", "\n"]),
        ("don't", ["don", "'", "t"]),
        ("x1 22b", ["x", "1", " 22", "b"]),
        ("a\u0301b", ["a\u0301b"]),  # a mark stays with its letter
        ("❤\ufe0f!", ["❤\ufe0f!"]),  # and with its symbol
        ("日本語とカナ", ["日本語とカナ"]),  # Chinese characters and kana: one script
        ("abcдеж", ["abc", "деж"]),  # two scripts: two words
        ("a \n\n b", ["a", " \n\n", " b"]),
        ("tab\there", ["tab", "\t", "here"]),
        ("", []),
    ],
)
def test_examples(text: str, words: list[str]) -> None:
    assert _core.split_words(text) == words
    assert reference_words.split_words(text) == words


@given(any_text)
def test_words_add_up_to_the_text_and_equal_the_reference(text: str) -> None:
    words = _core.split_words(text)
    assert "".join(words) == text
    assert words == reference_words.split_words(text)


@pytest.mark.parametrize("text", HOSTILE + corpus(1))
def test_hostile_texts(text: str) -> None:
    assert _core.split_words(text) == reference_words.split_words(text)


def test_a_word_is_one_word_by_itself() -> None:
    """Runs are kept as text and cut again: that must give the same words."""
    for text in corpus(2) + HOSTILE:
        for word in _core.split_words(text):
            assert _core.split_words(word) == [word]


def test_character_classes_are_those_of_unicode() -> None:
    """Python's own Unicode version may be newer: characters unknown to ours count as controls."""
    kinds = {"L": 0, "P": 1, "S": 1, "N": 2, "Z": 3, "C": 5, "M": 6}
    special = {"\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\u200c", "\u200d"}
    differing = [
        char
        for char in map(chr, range(sys.maxunicode + 1))
        if not 0xD800 <= ord(char) < 0xE000
        and char not in special
        and _core.char_class(char)[0] not in (kinds[unicodedata.category(char)[0]], 5)
    ]
    assert len(differing) < 30, differing  # a few changed category between versions
    assert all(_core.char_class(char)[0] == 4 for char in "\n\r\x0b\x0c\x85\u2028\u2029")


def test_char_class_wants_one_character() -> None:
    with pytest.raises(ValueError, match="one character"):
        _core.char_class("ab")
