"""A tokenization to look at: coloured in a notebook, with bars between the tokens elsewhere.

Shown(tokenizer.explain("in New York"))      # in| New York

The HTML stands alone: no script, no network, nothing but its own style. The colours let the page
shine through, so that they suit light and dark pages; a letter says the same, since not everyone
sees colours.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Sequence

from ..common.text import visible
from .token import Piece

# By the birth of a token: its letter, its colour and its meaning.
BIRTHS = {
    "byte": ("b", "128,128,128", "one byte of a character outside the alphabet"),
    "alphabet": ("a", "150,150,60", "one character"),
    "traditional": ("t", "60,130,220", "merged inside a word"),
    "multiword": ("m", "240,150,30", "a phrase: it crosses a word boundary"),
    "expression": ("e", "210,80,160", "a phrase of the expression pass"),
    "refined": ("r", "60,170,110", "swapped in by refine"),
    "imported": ("i", "110,110,200", "from another program's tokenizer"),
    "special": ("s", "220,60,60", "a special token"),
    "always": ("c", "160,90,60", "cut out of the text first"),
}
OTHER = ("?", "128,128,128", "of another origin")
_MOST = 5_000  # tokens drawn: a browser is slow with more
_SIGNS = str.maketrans({" ": "·", "\t": "→\t", "\n": "⏎\n"})  # what a blank looks like
_STYLE = """\
.supratok-show{font-family:monospace;line-height:2;white-space:pre-wrap;overflow-wrap:anywhere}
.supratok-show span{unicode-bidi:isolate;border:1px solid;border-radius:3px;padding:1px 2px;\
margin:0 1px}
.supratok-show sub{opacity:.7;font-size:65%;margin-left:2px;user-select:none}
"""


class Shown:
    """The tokens of a text. Prints as text; a notebook draws it."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = tuple(pieces)

    def __repr__(self) -> str:
        return "|".join(visible(piece.text) for piece in self.pieces)

    def _repr_html_(self) -> str:
        return tokens_html(self.pieces)


def tokens_html(pieces: Sequence[Piece]) -> str:
    """HTML of a tokenization: each token in the colour and with the letter of the pass that made
    it; its id, place and parts in the text that a mouse brings up."""
    counts = Counter(piece.born for piece in pieces)
    births = [*(name for name in BIRTHS if name in counts), *sorted(counts.keys() - BIRTHS)]
    tokens = "".join(map(_token, pieces[:_MOST]))
    more = len(pieces) - _MOST
    rest = f" and {more:,} more tokens" if more > 0 else ""
    whole = f"{len(pieces):,} token{'' if len(pieces) == 1 else 's'}"
    legend = [whole, *(_legend(name, counts[name]) for name in births)]
    return (
        f"<div><style>{_STYLE}{''.join(map(_colour, births))}</style>"
        f'<div class="supratok-show" dir="auto">{tokens}{rest}</div>'
        f'<div class="supratok-show"><small>{"; ".join(legend)}</small></div></div>'
    )


def _token(piece: Piece) -> str:
    facts = [f"id {piece.id}", visible(piece.born), f"characters {piece.start} to {piece.end}"]
    if piece.parts:
        facts.append(" + ".join(f'"{visible(part)}"' for part in piece.parts))
    title = html.escape("; ".join(facts))
    shown = html.escape(_visible_blanks(piece.text))
    letter = _letter(piece.born)
    return f'<span class="{_class(piece.born)}" title="{title}">{shown}<sub>{letter}</sub></span>'


def _visible_blanks(text: str) -> str:
    """Blanks as signs; a newline also breaks the line, as in the text."""
    return "".join(c.translate(_SIGNS) if c in " \t\n" else visible(c) for c in text)


def _legend(born: str, count: int) -> str:
    meaning = html.escape(f"{visible(born)}, {BIRTHS.get(born, OTHER)[2]}")
    return f'{count:,} <span class="{_class(born)}">{_letter(born)}</span> {meaning}'


def _letter(born: str) -> str:
    return BIRTHS.get(born, OTHER)[0]


def _class(born: str) -> str:
    return f"supratok-{born if born in BIRTHS else 'other'}"


def _colour(born: str) -> str:
    colour = BIRTHS.get(born, OTHER)[1]
    return (
        f".supratok-show .{_class(born)}"
        f"{{background:rgba({colour},.25);border-color:rgba({colour},.8)}}\n"
    )
