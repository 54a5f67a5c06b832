"""Whether a text may be a token, by the rules of the recipe alone.

The passes of training never make a token that breaks the rules. What comes from elsewhere (a join
proposed by surgery) is asked here:

    may_be_token(" in the", recipe, {" in", " the"})  -> True
    may_be_token("12345", recipe, ())                 -> False
"""

from __future__ import annotations

import itertools
from collections.abc import Container

from ..common import _core
from ..recipe import Recipe
from .count import joints
from .scripts import UNSPACED

LETTER, _, NUMBER = range(3)  # core/text.hpp
_EXTEND = 6


def may_be_token(text: str, recipe: Recipe, known: Container[str]) -> bool:
    """Whether all its words may neighbour each other, and it is not too large. With whole words
    asked for, each of them must be `known`, apart from scripts without spaces."""
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
    kinds = [kind_of(word) if by_class else LETTER for word in words]
    scripts = {script_of(word) for word in words} - {0} if by_class else set()
    return (
        sum(kind in (LETTER, NUMBER) for kind in kinds) <= rules.max_words
        and (len(scripts) < 2 or not rules.one_script)
        and all(itertools.starmap(joints(recipe).allow, itertools.pairwise(words)))
        and (not rules.whole_words or all(w in known or script_of(w) in UNSPACED for w in words))
    )


def most_digits(text: str) -> int:
    """The longest row of digits in a text."""
    rows = itertools.groupby(text, lambda char: _core.char_class(char)[0] == NUMBER)
    return max((len(list(row)) for digits, row in rows if digits), default=0)


def kind_of(word: str) -> int:
    """The class of a word: that of its first character behind the leading space."""
    kind = _core.char_class(word[1] if word[0] == " " and len(word) > 1 else word[0])[0]
    return LETTER if kind == _EXTEND else kind


def script_of(text: str) -> int:
    """The first script in the text; 0 if all its characters are common to all scripts."""
    return next((s for s in (_core.char_class(char)[1] for char in text) if s), 0)
