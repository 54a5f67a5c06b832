"""Draw the worked example of docs/how-it-works.md: "ab ab" under `merges`, join by join.

    python tools/worked_example_picture.py docs/pictures/worked-example.svg

The list is the one of the README. The joins are those that the tokenizer itself makes: the picture
begins with characters and each row does the next join, the earliest in the list first. The SVG is
written without any library, so it is the same everywhere; a test draws it again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from covers_picture import EDGE, INK, MONO, PANEL, SURE, quoted, text
from supratok import Recipe, Token, Tokenizer

TEXT = "ab ab"
TOKENS = ("a", "b", " ", "ab", " ab", "ab ab")
CELL, ROW, BOX = 34, 56, 38  # the width of a character, the height of a row and of a token
LEFT, TOP, WIDTH = 24, 164, 640
NOTE = LEFT + CELL * len(TEXT) + 40
JOINED = "#ffd27a"


def tokenizer() -> Tokenizer:
    tokens = [Token(each, 1, "alphabet" if len(each) == 1 else "multiword") for each in TOKENS]
    return Tokenizer(tokens, Recipe(vocab_size=256 + len(tokens)))


def rows() -> Iterator[tuple[list[str], str, str]]:
    """The tokens after each join, the token that was made, and a note."""
    pieces, made = list(TEXT), ""
    yield pieces, made, "start: characters"
    while True:
        joins = [a + b for a, b in pairwise(pieces)]
        known = [join for join in joins if join in TOKENS]
        if not known:
            return
        made = min(known, key=TOKENS.index)
        place = joins.index(made)  # the leftmost
        pieces = [*pieces[:place], made, *pieces[place + 2 :]]
        rank = TOKENS.index(made) + 1
        others = sorted({quoted(join) for join in known if join != made})
        also = f", before {others[0]}" if others else ""
        yield pieces, made, f"join {quoted(made)}, number {rank} of the list{also}"


def box(x: float, y: float, letters: str, fill: str) -> Iterator[str]:
    width = CELL * len(letters) - 4
    yield (
        f'<rect x="{x + 2}" y="{y}" width="{width}" height="{BOX}" rx="6" fill="{fill}"'
        f' stroke="{EDGE}" stroke-width="1.2"/>'
    )
    for place, letter in enumerate(letters):
        shown = "&#9251;" if letter == " " else letter  # an open box for a space
        yield (
            f'<text x="{x + CELL * (place + 0.5)}" y="{y + 25}" font-family="{MONO}"'
            f' font-size="19" text-anchor="middle" fill="{INK}">{shown}</text>'
        )


def list_of_tokens() -> Iterator[str]:
    x = float(LEFT)
    for number, each in enumerate(TOKENS, start=1):
        yield text(x + 3, 110, str(number), 12, fill="#59636e")
        yield from box(x, 56, each, SURE)
        x += CELL * len(each) + 14


def picture() -> str:
    drawn = list(rows())
    assert drawn[-1][0] == tokenizer().tokens(TEXT), "the picture and the tokenizer differ"
    height = TOP + ROW * len(drawn) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"'
        f' height="{height}" role="img">',
        f"<title>The text {TEXT} under merges, join by join</title>",
        f'<rect x="1" y="1" width="{WIDTH - 2}" height="{height - 2}" rx="10" fill="{PANEL}"'
        f' stroke="{EDGE}"/>',
        text(LEFT, 36, "The ordered list of tokens", 16, fill=INK, font_weight="bold"),
        *list_of_tokens(),
        text(LEFT, TOP - 12, f"{quoted(TEXT)}, join by join", 16, fill=INK, font_weight="bold"),
    ]
    for number, (pieces, made, note) in enumerate(drawn):
        x, y = float(LEFT), TOP + ROW * number
        for letters in pieces:
            parts += box(x, y, letters, JOINED if letters == made else SURE)
            x += CELL * len(letters)
        parts.append(text(NOTE, y + 24, note, fill=INK))
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture(), encoding="utf-8")
