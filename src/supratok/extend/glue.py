"""How words are kept together, in a tokenizer that cuts its text into words first.

Byte-level tokenizers cut by a regular expression P and join bytes inside the pieces, so no token is
longer than a piece. The new expression is `RUN|P`, where RUN matches units in a row:

    P       " New| York|,| and| so| on|!"
    RUN|P   " New York, and so on|!"

A unit is a plain word with its space, or a mark of punctuation with a space after it. Invariant: at
a place where P cuts, a unit is exactly what P matches there. So RUN only takes cuts away, in three
kinds of places (`_crosses`), and adds none. As no token of the base lies across such a place
(`crossing_token`), the base's own merges join in a run what they joined in its pieces.

The invariant is looked at, not believed: `find_run` compares both expressions on all short texts of
an alphabet that has a character of every kind.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any

PUNCTUATION = ",;:."

# What a unit may be, the most generous first. `'` and marks may go on with a word in some P.
_WORDS = (r"\p{L}+(?![\p{L}\p{M}])", r"(?:\p{Lu}?\p{Ll}+|\p{Lu}+|\p{Lo}+)(?![\p{L}\p{M}'’])")
RUNS = tuple(rf"(?: {word}{end})+" for end in (rf"|[{PUNCTUATION}](?= )", "") for word in _WORDS)

# One of every kind: letters small, large, of title case, modifying, without case; marks, digits,
# spaces, punctuation, symbols, and what contractions are made of.
_ALPHABET = [*"aBsé中कǅʰ1 \n\t\u00a0,.'’-/😀\u0301\u093f", "'ll", "ſ"]

Cut = Callable[[str], set[int]]  # a text → the places where it is cut


def find_run(before: Cut, after: Callable[[str], Cut], without: Iterable[str] = ()) -> str | None:
    """The first of RUNS that takes cuts away where it may, and does nothing else. Some words, with
    their spaces, are kept out of it."""
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
    """Whether the place is one of the three kinds that a run has inside: letter and space, letter
    and punctuation, punctuation and space."""
    return _crosses(text[place - 1], text[place])


def _crosses(left: str, right: str) -> bool:
    if right != " " and right not in PUNCTUATION:
        return False
    if left in PUNCTUATION:
        return right == " "
    # A byte of a character that is not whole (Cs) may end a letter, and so may a character that is
    # newer than this Python (Cn).
    kind = unicodedata.category(left)
    return kind[0] == "L" or kind in ("Cs", "Cn")


def crossing_token(tokens: Iterable[bytes]) -> bytes | None:
    """A token that lies across a place inside a run, if there is one."""
    for token in tokens:
        text = token.decode("utf-8", "surrogateescape")
        if any(itertools.starmap(_crosses, itertools.pairwise(text))):
            return token
    return None


def may_be_word(text: str) -> bool:
    """Whether a text is a space and letters, of which some may be newer than this Python."""
    kinds = [unicodedata.category(letter) for letter in text[1:]]
    return text[:1] == " " and bool(kinds) and all(kind[0] == "L" or kind == "Cn" for kind in kinds)


# What the ByteLevel step cuts by, if it is told to cut.
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def pattern_of(stage: dict[str, Any]) -> str | None:
    """The expression a step cuts by, if a run may go before it."""
    if stage["type"] == "ByteLevel":
        return _GPT2 if stage.get("use_regex", True) else None
    if stage["type"] != "Split" or "Regex" not in stage["pattern"]:
        return None
    keeps = (stage["behavior"], stage.get("invert", False))
    return stage["pattern"]["Regex"] if keeps in (("Isolated", False), ("Removed", True)) else None


def glued(stage: dict[str, Any], run: str) -> list[dict[str, Any]]:
    """The step with the run before its expression; ByteLevel becomes two steps."""
    pattern = f"{run}|(?:{pattern_of(stage)})"
    if stage["type"] == "Split":
        return [stage | {"pattern": {"Regex": pattern}}]
    split = {
        "type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False,
    }  # fmt: skip
    return [split, stage | {"use_regex": False, "add_prefix_space": False}]


def is_unit(run: str | None, word: str) -> bool:
    """Whether a word of the corpus is a unit of the run; of any run, if the base cuts nothing."""
    if word in PUNCTUATION:
        return run is None or f"[{PUNCTUATION}]" in run
    letters = word[1:]
    if not letters or word[0] != " ":
        return False
    if run is None:
        return all(unicodedata.category(letter)[0] in "LM" for letter in letters)
    return letters.isalpha() and (_WORDS[0] in run or bool(_CASES.fullmatch(_cases(letters))))


def as_counted(run: str | None, text: str) -> str:
    """A text in which words and punctuation that are no units where they stand, because of what
    comes after them, are other words: they get a combining mark."""
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
