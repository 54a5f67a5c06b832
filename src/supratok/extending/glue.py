"""Keep words together in a tokenizer whose regular expression cuts text into words.

Byte-level tokenizers cut by an expression P and join bytes inside the pieces, so no token is longer
than a piece. The new expression is `RUN|P`, where RUN matches a run of units:

    P       " New| York|,| and| so| on|!"
    RUN|P   " New York, and so on|!"

A unit is a plain word with its space, or a punctuation mark before a space. Invariant: where P
begins a piece, a unit is exactly the piece that P matches. So RUN only removes cuts, in three kinds
of places (`_crosses`), and adds none. No token of the base crosses such a place (`crossing_token`),
so the base's merges join in a run what they joined in its pieces.

We test the invariant: `find_run` compares both expressions on all short texts over an alphabet with
a character of every kind.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..formats.patterns import BYTE_LEVEL

PUNCTUATION = ",;:."

# Expressions for a unit, the most general first. In some P, `'` and marks continue a word.
_WORDS = (r"\p{L}+(?![\p{L}\p{M}])", r"(?:\p{Lu}?\p{Ll}+|\p{Lu}+|\p{Lo}+)(?![\p{L}\p{M}'’])")
RUNS = tuple(rf"(?: {word}{end})+" for end in (rf"|[{PUNCTUATION}](?= )", "") for word in _WORDS)

# One of every kind: letters (lower, upper and title case, modifier, without case), marks, digits,
# spaces, punctuation, symbols, and parts of contractions.
_ALPHABET = [*"aBsé中कǅʰ1 \n\t\u00a0,.'’-/😀\u0301\u093f", "'ll", "ſ"]

Cut = Callable[[str], set[int]]  # from a text to the places of its cuts


def find_run(before: Cut, after: Callable[[str], Cut], without: Iterable[str] = ()) -> str | None:
    """The first of RUNS that removes cuts where it may, and does nothing else. It does not match
    the words of `without`, which begin with their spaces."""
    probes = list(_probes())
    cuts = [before(text) for text in probes]
    words = "|".join(word[1:] for word in without)
    for run in RUNS:
        if words:
            run = run.replace("(?: ", rf"(?: (?!(?:{words})(?!\p{{L}}))", 1)
        changed = after(run)
        if all(
            _only_removes(text, old, changed(text)) for text, old in zip(probes, cuts, strict=True)
        ):
            return run
    return None


def _probes() -> Iterator[str]:
    for number in range(4):
        for some in itertools.product(_ALPHABET, repeat=number):
            yield f"is it{''.join(some)}"
            yield f"{''.join(some)} it is"


def _only_removes(text: str, before: set[int], after: set[int]) -> bool:
    return after <= before and all(_is_inside(text, place) for place in before - after)


def _is_inside(text: str, place: int) -> bool:
    """Whether a run may continue here: between letter and space, letter and punctuation, or
    punctuation and space."""
    return _crosses(text[place - 1], text[place])


def _crosses(left: str, right: str) -> bool:
    if right != " " and right not in PUNCTUATION:
        return False
    if left in PUNCTUATION:
        return right == " "
    # A byte of an incomplete character (Cs) may end a letter, and so may a character that is newer
    # than this Python (Cn).
    kind = unicodedata.category(left)
    return kind[0] == "L" or kind in ("Cs", "Cn")


def crossing_token(tokens: Iterable[bytes]) -> bytes | None:
    """A token that crosses a place inside a run, if there is one."""
    for token in tokens:
        text = token.decode("utf-8", "surrogateescape")
        if any(itertools.starmap(_crosses, itertools.pairwise(text))):
            return token
    return None


def may_be_word(text: str) -> bool:
    """Whether a text is a space and letters, some of them perhaps newer than this Python."""
    kinds = [unicodedata.category(letter) for letter in text[1:]]
    return text[:1] == " " and bool(kinds) and all(kind[0] == "L" or kind == "Cn" for kind in kinds)


def pattern_of(step: dict[str, Any]) -> str | None:
    """The expression by which a step cuts, if a run may go before it."""
    if step["type"] == "ByteLevel":
        return BYTE_LEVEL if step.get("use_regex", True) else None
    if step["type"] != "Split" or "Regex" not in step["pattern"]:
        return None
    keeps = (step["behavior"], step.get("invert", False))
    return step["pattern"]["Regex"] if keeps in (("Isolated", False), ("Removed", True)) else None


def glued(step: dict[str, Any], run: str) -> list[dict[str, Any]]:
    """The step with the run before its expression; ByteLevel becomes two steps."""
    pattern = f"{run}|(?:{pattern_of(step)})"
    if step["type"] == "Split":
        return [step | {"pattern": {"Regex": pattern}}]
    split = {
        "type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False,
    }  # fmt: skip
    return [split, step | {"use_regex": False, "add_prefix_space": False}]


def is_unit(run: str | None, word: str) -> bool:
    """Whether a word is a unit of the run; `None` is the run of a base that cuts nothing."""
    if word in PUNCTUATION:
        return run is None or f"[{PUNCTUATION}]" in run
    letters = word[1:]
    if not letters or word[0] != " ":
        return False
    if run is None:
        return all(unicodedata.category(letter)[0] in "LM" for letter in letters)
    return letters.isalpha() and (_WORDS[0] in run or bool(_CASES.fullmatch(_cases(letters))))


def as_counted(run: str | None, text: str) -> str:
    """The text for counting. A word or punctuation mark that is no unit because of its right
    neighbour gets a combining mark, so that it counts as another word."""
    if run is None:
        return text
    text = _NO_SPACE.sub(r"\g<0>" + _MARK, text)
    return text.replace("'", _MARK + "'").replace("’", _MARK + "’") if "'" in run else text


_MARK = "\u0301"
_NO_SPACE = re.compile(f"[{PUNCTUATION}](?! )")

_CASES = re.compile("u?l+|u+|o+")


def _cases(letters: str) -> str:
    kinds = {"Lu": "u", "Ll": "l", "Lo": "o"}
    return "".join(kinds.get(unicodedata.category(letter), "x") for letter in letters)
