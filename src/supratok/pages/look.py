"""The look of all pages and pictures: a letter and a colour for each tokenizer and each pass.

    places(["dense", "my.json"])      # {"dense": 0, "my.json": 1}
    letter(0), colour(0)              # "A", "#0b5cad"
    tokenizer_of("dense 100,000")     # "dense"

A tokenizer has the same letter and colour on every page and in every picture, and so have the
tokens of a pass. Colour is never the only sign: the letter stands beside it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from importlib import resources

# The colours of text on the light page: ground, text, text of less weight, lines.
GROUND, INK, MUTED, FAINT = "#ffffff", "#1d2024", "#565b63", "#dcdfe3"

# Each colour has a contrast of 4.5 to 1 or more on white, and on the dark page, which inverts it.
COLOURS = ("#0b5cad", "#b3460b", "#1a7340", "#7b3fa0", "#755a00", "#0a6f78", "#b0246b", "#6b4f3f")
# The place of a tokenizer decides its letter and its colour. Ours are first.
TOKENIZERS = (
    "dense", "default", "paper", "SuperBPE", "BPE-Standard", "BPE-Bytes-GPT4o",
    "SuperBPE-Documents", "SP-BPE-CrossBoundary", "BoundlessBPE", "WordPiece-BERT",
    "SentencePiece-BPE", "Unigram-SentencePiece", "BPE-Standard-NFD", "balanced",
    "SuperBPE-Early", "SuperBPE-Late",
)  # fmt: skip

# What a table or a legend may write around the name of a tokenizer: code marks, `Recipe.dense()` of
# our recipes, and its size at the end. Anything else is another tokenizer.
_RECIPE = re.compile(r"Recipe(?:\.(?P<preset>\w+))?\((?P<size>[\d_]*)\)")
_SIZED = re.compile(r"(?P<name>\S.*?),? \d[\d,_]*k?")


def tokenizer_of(cell: str) -> str:
    """The name of the tokenizer that a cell tells: "dense" of "dense", "dense 100,000", "dense,
    50k", "`Recipe.dense()`" and "`Recipe.dense(50_000)`"."""
    name = cell.strip().strip("`")
    if sized := _SIZED.fullmatch(name):
        name = sized["name"].strip("`")
    if recipe := _RECIPE.fullmatch(name):
        return recipe["preset"] or "default"
    return name


def places(names: Iterable[str]) -> dict[str, int]:
    """The place of each name; a name that is in no table takes the first place that is free."""
    names = list(dict.fromkeys(names))
    known = {name: TOKENIZERS.index(name) for name in names if name in TOKENIZERS}
    free = (place for place in itertools.count() if place not in known.values())
    return {name: known[name] if name in known else next(free) for name in names}


def letter(place: int) -> str:
    """A to Z, then AA, AB, ... as columns of a spreadsheet."""
    more, last = divmod(place, 26)
    return (letter(more - 1) if more else "") + chr(ord("A") + last)


def colour(place: int) -> str:
    """The colour of a place; places that share one differ by their letter."""
    return COLOURS[place % len(COLOURS)]


def style_sheet(*more: str) -> str:
    """What all pages share, as CSS: colours for light and dark, type, links, focus, letters. `more`
    are other style sheets of this room: "sheet" for reports."""
    return "".join(asset(f"{name}.css") for name in ("look", *more))


def asset(name: str) -> str:
    """A file of `assets/`: a template, a style sheet or a script."""
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")
