"""Words and characters: their kinds and scripts, and what may be a token.

The passes of training never make a token that breaks the rules of the recipe. Joins that surgery
proposes come from the encoded text, so `may_be_token` checks them:

    may_be_token(" in the", recipe, {" in", " the"})  -> True
    may_be_token("12345", recipe, ())                 -> False
"""

from __future__ import annotations

import itertools
from collections.abc import Container
from enum import IntEnum

from ..common import _core
from ..readings import UNSPACED, joints
from ..recipe import Recipe


class Kind(IntEnum):
    """The classes of characters, numbered as in core/text.hpp. A word has the class of its first
    character after the space; a mark makes it one of letters."""

    LETTER = 0
    PUNCTUATION = 1
    NUMBER = 2
    SPACE = 3
    NEWLINE = 4
    CONTROL = 5
    MARK = 6


def kind_of(word: str) -> Kind:
    """The kind of a word, as `_core.split_words` cuts them.

    >>> kind_of(" the").name, kind_of(" ").name
    ('LETTER', 'SPACE')
    """
    kind = Kind(_core.char_class(word[word[0] == " " and len(word) > 1])[0])
    return Kind.LETTER if kind == Kind.MARK else kind


def script_of(text: str) -> int:
    """The first script in the text; 0 if all its characters are common to all scripts."""
    return next((s for s in (_core.char_class(char)[1] for char in text) if s), 0)


def most_digits(text: str) -> int:
    """The length of the longest row of digits in a text."""
    rows = itertools.groupby(text, lambda char: _core.char_class(char)[0] == Kind.NUMBER)
    return max((len(list(row)) for digits, row in rows if digits), default=0)


def are_words(texts: list[str], recipe: Recipe) -> list[bool]:
    """Of each text, whether it is one word."""
    return [bool(whole) for whole in _core.are_words(texts, recipe.scripts is not None)]


def may_be_token(text: str, recipe: Recipe, known: Container[str]) -> bool:
    """Whether the rules allow a token with this text. If they ask for whole words, each word must
    be `known`, except in scripts without spaces."""
    rules, by_class = recipe.boundaries, recipe.scripts is not None
    if len(text.encode()) > rules.max_bytes or most_digits(text) > rules.max_digits:
        return False
    if text in recipe.names:
        return False
    words = _core.split_words(text, by_class)
    if len(words) == 1:
        return True
    if recipe.crossover == 1.0:
        return False
    kinds = [kind_of(word) if by_class else Kind.LETTER for word in words]
    scripts = {script_of(word) for word in words} - {0} if by_class else set()
    return (
        sum(kind in (Kind.LETTER, Kind.NUMBER) for kind in kinds) <= rules.max_words
        and (len(scripts) < 2 or not rules.one_script)
        and all(itertools.starmap(joints(recipe).allow, itertools.pairwise(words)))
        and (not rules.whole_words or all(w in known or script_of(w) in UNSPACED for w in words))
    )
