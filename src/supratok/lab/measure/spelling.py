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
_BEFORE = re.compile(r" (?=(?:[,.;:!?%)\]}]|'(?:s|t|re|ve|ll|d|m)\b))")
_BEHIND = re.compile(r"(?<=[(\[{$£]) ")


def natural(text: str) -> str:
    """As people write it. What is ambiguous stays: single quotes, dashes, the marks of headings."""
    return "\n".join(map(_natural_line, joined_inside(text).split("\n")))


def joined_inside(text: str) -> str:
    """Only `@-@`, `@,@` and `@.@` as people write them: "well-known", "1,000", "0.7"."""
    return _INSIDE.sub(r"\1", text)


def without_line_ends(text: str) -> str:
    """As SentencePiece normalises by default, which loses them: each row of whitespace, newlines
    included, is one space; NFKC."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _natural_line(line: str) -> str:
    return _BEHIND.sub("", _BEFORE.sub("", _closed_quotes(line.strip(" "))))


def _closed_quotes(line: str) -> str:
    """Of the quotes of a line every other one opens."""
    parts = line.split('"')
    for place in range(1, len(parts), 2):
        parts[place] = parts[place].removeprefix(" ")
        if place + 1 < len(parts):
            parts[place] = parts[place].removesuffix(" ")
    return '"'.join(parts)
