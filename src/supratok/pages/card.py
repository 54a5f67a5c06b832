"""A tokenizer of any kind, as the pages show it: a name, a letter, a colour, facts of its tokens.

    first, second = open_cards(["my.json", "o200k_base.tiktoken"])
    first.letter, first.name             # "A", "my.json"
    first.facts(288)                     # {"id": 288, "text": " New York", "letter": "m", ...}

A token of ours is born in a pass of training. Other programs do not say how they made theirs: a
token of theirs is a piece (of one word) or a phrase (with a blank between two words).
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..common.text import visible
from ..formats.peer import Locating, Spelling, open_any
from ..formats.runtime import Ours
from ..tokenizer import Tokenizer
from ..tokenizer.display import BIRTHS, OTHER
from .look import colour, letter, places

# By the birth of a token: its letter, its colour and its meaning.
MARKS = BIRTHS | {
    "piece": ("w", "120,140,165", "a word, or a piece of one"),
    "phrase": ("p", "240,150,30", "a phrase: it crosses a word boundary"),
}
_GENERAL = {"supratok.json", "tokenizer.json", "tokenizer.model"}  # names that say nothing
_BYTE = re.compile(r"(?:<0x[0-9A-F]{2}>)+")
_PHRASE = re.compile(r"\w\W*\s\W*\w")


@dataclass(frozen=True, eq=False)
class Card:
    """A tokenizer, the name that people read, and its place among the others."""

    name: str
    place: int
    peer: Locating

    @property
    def letter(self) -> str:
        return letter(self.place)

    @property
    def colour(self) -> str:
        return colour(self.place)

    @property
    def ours(self) -> Tokenizer | None:
        """The tokenizer, if it is one of ours."""
        return self.peer.tokenizer if isinstance(self.peer, Ours) else None

    @property
    def vocab_size(self) -> int:
        return self.peer.vocab_size

    def text(self, id: int) -> str:
        """The text of a token; a byte is written <0xE2>. Empty if no token has this id."""
        if isinstance(self.peer, Spelling):
            return self.peer.token_text(id)
        return self.peer.decode([id])

    def born(self, id: int) -> str:
        """The pass of training; of other programs' tokens, whether it is a piece or a phrase."""
        if self.ours is not None:
            return self.ours.birth(id)
        text = self.text(id)
        if _BYTE.fullmatch(text):
            return "byte"
        return "phrase" if _PHRASE.search(text) else "piece"

    def facts(self, id: int) -> dict[str, Any]:
        """What a page says of one token."""
        born = self.born(id)
        return {
            "id": id,
            "text": safe(self.text(id)),
            "born": born,
            "letter": mark(born)[0],
            "count": self.counts.get(id),
        }

    @functools.cached_property
    def counts(self) -> dict[int, int]:
        """By id, the count of a token when it was made; empty if none was kept."""
        if self.ours is None or not any(token.count for token in self.ours.vocabulary):
            return {}
        counts = (token.count for token in self.ours.vocabulary)
        return dict(zip(self.ours.entry_ids, counts, strict=True))


def mark(born: str) -> tuple[str, str, str]:
    """The letter, the colour and the meaning of a birth."""
    return MARKS.get(born, OTHER)


def safe(text: str) -> str:
    """A token as a page may show it: blanks as they are, what does not print as an escape, so that
    no token can turn the direction of the text around it."""
    return "".join(c if c in " \t\n" else visible(c) for c in text)


def open_cards(paths: Sequence[str | os.PathLike[str]]) -> list[Card]:
    """Open tokenizers of any kind. The page names files, and never the folders above them."""
    return cards_of((_name(path), open_any(path)) for path in paths)


def cards_of(named: Iterable[tuple[str, Locating]]) -> list[Card]:
    """Tokenizers with names; a name that comes again gets a number."""
    given: dict[str, Locating] = {}
    for name, peer in named:
        again = sum(other == name or other.startswith(f"{name} (") for other in given)
        given[f"{name} ({again + 1})" if again else name] = peer
    found = places(given)
    return [Card(name, found[name], peer) for name, peer in given.items()]


def our_card(name: str, tokenizer: Tokenizer) -> tuple[str, Locating]:
    """A tokenizer in memory, for `cards_of`."""
    return name, Ours(name, tokenizer)


def _name(path: str | os.PathLike[str]) -> str:
    path = Path(path)
    return str(Path(path.parent.name, path.name)) if path.name in _GENERAL else path.name
