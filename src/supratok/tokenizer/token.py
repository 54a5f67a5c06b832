"""`Token`, the unit that training learns, and `Piece`, a token at its place in a text."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

# The pass that made a token; "imported": another program made it.
Birth = Literal["alphabet", "traditional", "multiword", "expression", "refined", "imported"]


@dataclass(frozen=True, slots=True)
class Token:
    """A text, its count when it was made, and the pass that made it. Its place in the list of
    tokens is its rank."""

    text: str
    count: int
    born: Birth


class Columns(NamedTuple):
    """The alphabet and the tokens, in rank order. Columns, not objects: a hundred thousand objects
    would slow down Python's garbage collection."""

    texts: list[str]
    counts: array[int]  # of 64 bits
    births: list[Birth]


def columns_of(rows: Iterable[tuple[str, int, Birth]]) -> Columns:
    rows = list(rows)
    return Columns(
        [text for text, _, _ in rows],
        array("q", [count for _, count, _ in rows]),
        [born for _, _, born in rows],
    )


@dataclass(frozen=True)
class Piece:
    """One token of an explained text."""

    id: int
    text: str  # a byte symbol is written <0xE2>
    born: str  # the pass, or "byte"; see Tokenizer.birth
    start: int  # in characters
    end: int
    parts: tuple[str, ...]  # the two tokens it is joined from, under the merges rule


def alphabet_size(tokens: Iterable[Token]) -> int:
    """The number of tokens that are single characters of the alphabet; they come first."""
    return sum(token.born == "alphabet" for token in tokens)
