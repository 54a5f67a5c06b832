"""Draw the covers of a prompt: the ways in which "I live in New" may go on.

    python tools/covers_picture.py docs/pictures/covers.svg

The covers are those that a tokenizer of a few tokens finds. The picture is written as SVG without
any library, so it is the same everywhere; a test draws it again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

from supratok import Recipe, Token, Tokenizer

PROMPT = "I live in New"
TOKENS = (
    "I", " live", " in", " New", " Ne", "wton", " New York", " New Zealand", " in New England",
)  # fmt: skip
CELL, ROW, BOX = 15, 46, 34  # the width of a character, the height of a row and of a token
LEFT, TOP, WIDTH = 24, 100, 760
END = LEFT + CELL * len(PROMPT)  # of the prompt
NOTE = END + CELL * 9  # where the words about a row begin
INK, GREY, EDGE, PANEL, SURE = "#16191d", "#59636e", "#8b949e", "#ffffff", "#e8ebee"
MONO, SANS = "DejaVu Sans Mono, Menlo, Consolas, monospace", "DejaVu Sans, Helvetica, sans-serif"


def tokenizer() -> Tokenizer:
    alphabet = sorted(set("".join(TOKENS)))
    tokens = [Token(text, 0, "alphabet") for text in alphabet]
    tokens += [Token(text, 0, "multiword") for text in TOKENS if text not in alphabet]
    recipe = Recipe(vocab_size=256 + len(tokens), segmentation="fewest")
    return Tokenizer(tokens, recipe)


def text(x: float, y: float, words: str, size: float = 14, **style: object) -> str:
    given = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in style.items())
    return f'<text x="{x}" y="{y}" font-family="{SANS}" font-size="{size}"{given}>{words}</text>'


def token(x: float, y: float, letters: str, crosses: bool) -> Iterator[str]:
    """A box with its letters, each in its own cell, so that any font fits."""
    look = (
        f'fill="url(#crossing)" stroke="{INK}" stroke-width="1.8" stroke-dasharray="6 3"'
        if crosses
        else f'fill="{SURE}" stroke="{EDGE}" stroke-width="1.2"'
    )
    width = CELL * len(letters) - 2
    yield f'<rect x="{x + 1}" y="{y}" width="{width}" height="{BOX}" rx="6" {look}/>'
    for place, letter in enumerate(letters):
        if letter != " ":
            yield (
                f'<text x="{x + CELL * (place + 0.5)}" y="{y + 22}" font-family="{MONO}"'
                f' font-size="17" text-anchor="middle" fill="{INK}">{escape(letter)}</text>'
            )


def quoted(letters: str) -> str:
    return f"&#8220;{escape(letters)}&#8221;"


def rows() -> Iterator[tuple[list[str], str, str]]:
    """Of each cover: the tokens of its ids, one that crosses the end (or none), and a note."""
    ours = tokenizer()
    for cover in ours.covers(PROMPT):
        before = [ours.token_text(id) for id in cover.ids]
        if cover.rest:
            first, *others = [ours.token_text(int(id)) for id in ours.may_come(cover)]
            also = "".join(f", or {quoted(other)}" for other in others)
            yield before, first, f"{quoted(first)} crosses the end{also}"
        else:
            yield before, "", "no token crosses the end"


def stable_line(y: float) -> Iterator[str]:
    """A bracket under the tokens that all covers share."""
    end = END - CELL * len(tokenizer().stable(PROMPT).rest)
    path = f"M {LEFT + 2} {y} v 8 H {end - 2} v -8"
    yield f'<path d="{path}" fill="none" stroke="{GREY}" stroke-width="1.5"/>'
    yield text(LEFT, y + 26, "stable: no continuation changes these ids", fill=GREY)


def picture() -> str:
    covers = list(rows())
    bottom = TOP + ROW * len(covers)
    height = bottom + 44
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"'
        f' height="{height}" role="img">',
        f"<title>The {len(covers)} covers of the prompt {PROMPT}</title>",
        '<defs><pattern id="crossing" width="7" height="7" patternUnits="userSpaceOnUse"'
        ' patternTransform="rotate(45)"><rect width="7" height="7" fill="#ffe3a8"/>'
        '<path d="M 0 0 V 7" stroke="#d9a441" stroke-width="1.2"/></pattern></defs>',
        f'<rect x="1" y="1" width="{WIDTH - 2}" height="{height - 2}" rx="10" fill="{PANEL}"'
        f' stroke="{EDGE}"/>',
        text(LEFT, 36, f"The covers of the prompt {quoted(PROMPT)}: {len(covers)} ways to go on",
             18, fill=INK, font_weight="bold"),
        text(END, 74, "the prompt ends here", fill=INK, text_anchor="middle"),
    ]  # fmt: skip
    line = f'x1="{END}" y1="81" x2="{END}" y2="{bottom}"'
    for number, (before, crossing, note) in enumerate(covers):
        x, y = float(LEFT), TOP + ROW * number
        for letters in before:
            parts += token(x, y, letters, crosses=False)
            x += CELL * len(letters)
        if crossing:
            parts += token(x, y, crossing, crosses=True)
        parts.append(text(NOTE, y + 22, note, fill=INK))
    parts.append(f'<line {line} stroke="{INK}" stroke-width="2"/>')
    parts += stable_line(bottom - 8)
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture(), encoding="utf-8")
