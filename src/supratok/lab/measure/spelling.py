"""The text of WikiText-103 in other spellings, to tell what its own one costs.

    natural('a " well @-@ known " lobster , it \\'s ( 24 in ) long . ')
    # a "well-known" lobster, it's (24 in) long.

WikiText-103 has a space on both sides of punctuation, `@-@` for a hyphen inside a word, and a space
at both ends of a line. Training text has none of that, so tokens learnt from it fit badly.
"""

from __future__ import annotations

import re
import unicodedata

_INSIDE = re.compile(r" @([-,.])@ ")
_NATURAL = [
    (_INSIDE, r"\1"),
    (re.compile(r'(?<!\S)" ([^"\n]*) "(?!\S)'), r'"\1"'),
    (re.compile(r' ([,.;:!?%)\]}]|\.\.\.)(?=["\s]|$)'), r"\1"),
    (re.compile(r"(?<=[(\[{$£€]) "), ""),
    (re.compile(r" (n't|'(?:s|re|ve|ll|d|m))(?!\w)"), r"\1"),
    (re.compile(r"(?<=s) '(?= )"), "'"),
    (re.compile(r"^ | +$", re.MULTILINE), ""),
]


def natural(text: str) -> str:
    """As people write it: "it 's 1 @,@ 000 ( or so ) ." becomes "it's 1,000 (or so).". Nearly: a
    mark's own place is gone from the file, so some guesses are wrong."""
    for pattern, instead in _NATURAL:
        text = pattern.sub(instead, text)
    return text


def joined_inside(text: str) -> str:
    """Only `@-@`, `@,@` and `@.@` as people write them: "well-known", "1,000", "0.7"."""
    return _INSIDE.sub(r"\1", text)


def without_line_ends(text: str) -> str:
    """As SentencePiece normalises by default, which loses them: each row of whitespace, newlines
    included, is one space; NFKC."""
    return " ".join(unicodedata.normalize("NFKC", text).split())
