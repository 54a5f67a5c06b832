"""A tokenizer as every format writes it: one row an id, and the role of each special token.

    listing = listing_of(tokenizer, Roles(eos="</s>"))
    listing.rows[0]            # Row("</s>", Kind.CONTROL, 0)

Other formats have one map from texts to ids, where we have three: for tokens, bytes and special
tokens. They would take a token that reads `<0x41>` for the byte, and one that reads `</s>` for the
special token. `listing_of` refuses such a tokenizer.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from ..common.reserved import byte_name
from ..tokenizer import Tokenizer
from ..tokenizer.ids import house_layout

SPACE = "▁"  # how SentencePiece and llama.cpp write a space inside a piece


class Kind(enum.Enum):
    """The kinds of pieces, as SentencePiece and GGUF number them."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4  # cut out of a text before anything else
    UNUSED = 5  # no text makes it
    BYTE = 6


@dataclass(frozen=True, slots=True)
class Row:
    """One id."""

    text: str  # of a byte: <0xE2>
    kind: Kind
    rank: int  # of an ordinary token, tied ones share it; else 0


@dataclass(frozen=True)
class Roles:
    """The special tokens that begin a text, end it, pad a batch and mark the unknown, and how to
    use them."""

    bos: str | None = None
    eos: str | None = None
    pad: str | None = None
    unk: str | None = None
    add_bos: bool = False  # put it before each text
    add_eos: bool = False  # and this after it
    chat_template: str | None = None  # Jinja, as transformers reads it

    def __post_init__(self) -> None:
        for role, text in self.given().items():
            if not isinstance(text, str) or not text or re.search("[\ud800-\udfff]", text):
                raise ValueError(f"{role}={text!r}: must be the text of a special token")
        for role in ("bos", "eos"):
            if getattr(self, f"add_{role}") and getattr(self, role) is None:
                raise ValueError(f"add_{role} needs a special token to add: pass {role} as well")

    def given(self) -> dict[str, str]:
        roles = {role: getattr(self, role) for role in ("bos", "eos", "pad", "unk")}
        return {role: text for role, text in roles.items() if text is not None}

    def around(self) -> tuple[list[str], list[str]]:
        """The special tokens to put before and after each text."""
        before = [self.bos] if self.bos is not None and self.add_bos else []
        after = [self.eos] if self.eos is not None and self.add_eos else []
        return before, after


@dataclass(frozen=True)
class Listing:
    rows: list[Row]  # by id
    roles: Roles
    ids: dict[str, int]  # of the special tokens
    fewest: bool  # the rule; else `merges`
    prefix: bool = False  # a space is put before each text

    def id_of(self, role: str) -> int | None:
        text = self.roles.given().get(role)
        return None if text is None else self.ids[text]


def listing_of(tokenizer: Tokenizer, roles: Roles | None = None) -> Listing:
    roles = roles or Roles()
    for role, text in roles.given().items():
        if text not in tokenizer.special_tokens:
            known = ", ".join(map(repr, tokenizer.special_tokens)) or "none"
            raise ValueError(
                f"{role}={text!r} is no special token of this tokenizer, which has {known}; train"
                " with special_tokens, or add it with `supratok export` or `with_special_tokens`"
            )
    rows = _rows(tokenizer, roles)
    _refuse_clashes(rows)
    fewest = tokenizer.recipe.segmentation == "fewest"
    prefix = tokenizer.layout is not None and tokenizer.layout.prefix
    return Listing(rows, roles, dict(tokenizer.special_tokens), fewest, prefix)


def _rows(tokenizer: Tokenizer, roles: Roles) -> list[Row]:
    layout = tokenizer.layout or house_layout(len(tokenizer.special_tokens), len(tokenizer.texts))
    rows = {id: Row(byte_name(byte), Kind.BYTE, 0) for byte, id in enumerate(layout.bytes)}
    for text, id in tokenizer.special_tokens.items():
        rows[id] = Row(text, Kind.UNKNOWN if text == roles.unk else Kind.CONTROL, 0)
    for text, id, rank in zip(tokenizer.texts, layout.entries, layout.ranks(), strict=True):
        rows[id] = Row(text, Kind.NORMAL, rank)
    rows |= {id: Row(text, Kind.USER_DEFINED, 0) for text, id in layout.always.items()}
    rows |= {id: Row(text, Kind.UNUSED, 0) for text, id in layout.spare.items()}
    return _filled(rows)


def _filled(rows: dict[int, Row]) -> list[Row]:
    """All rows by id; an id without a token gets a name that no other row has."""
    taken = {row.text for row in rows.values()}
    for id in range(max(rows)):
        if id not in rows:
            name = f"<unused{id}>"
            while name in taken:
                name = f"<{name}>"
            rows[id] = Row(name, Kind.UNUSED, 0)
    return [rows[id] for id in range(len(rows))]


def _refuse_clashes(rows: list[Row]) -> None:
    taken = {row.text for row in rows if row.kind is not Kind.NORMAL}
    for id, row in enumerate(rows):
        if row.kind is Kind.NORMAL and row.text in taken:
            raise ValueError(
                f"token {id} reads {row.text!r}, which is also the name of a byte or a special"
                " token, and other programs cannot tell them apart; drop it with `supratok prune`,"
                " or train with another special token"
            )


def swap_spaces(text: str) -> str:
    """A piece as SentencePiece and llama.cpp write it: each space as U+2581. A literal U+2581
    becomes a space, so that no two pieces are written alike; no text holds such a piece, because
    these programs first replace every space of a text by U+2581."""
    return text.translate(_SWAP)


_SWAP = str.maketrans({" ": SPACE, SPACE: " "})
