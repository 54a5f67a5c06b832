"""The tokens of a text as facts for a page: counts of the whole, tokens of a window.

    encoded = encode(card, text)
    window(card, encoded, 0, 3000)    # the tokens that begin in the first 3,000 characters

A window is a range of the text, not of tokens: so the cards of all tokenizers show the same text.
Offsets count characters as Python does; the script of the page counts in units of UTF-16 and
converts them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tokenizer.arguments import wrong_text
from .card import Card, mark, safe

WINDOW = 3_000  # characters that a page shows at a time
_DECODED = 200_000  # characters up to which decoding is tried with every text


@dataclass(frozen=True)
class Encoded:
    """A tokenization, in columns."""

    ids: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    lossless: bool | None  # whether decoding gave the text back; None: not tried

    def __len__(self) -> int:
        return len(self.ids)


def encode(card: Card, text: str) -> Encoded:
    """All tokens of a text. A lone surrogate is a ValueError, whatever the tokenizer."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise wrong_text(text, error) from error
    ids, offsets = card.peer.encode_with_offsets(text)
    spans = np.asarray(offsets, dtype=np.int64).reshape(-1, 2)
    lossless = card.peer.decode(ids) == text if len(text) <= _DECODED else None
    return Encoded(np.asarray(ids, dtype=np.int64), spans[:, 0], spans[:, 1], lossless)


def window(card: Card, encoded: Encoded, first: int, last: int) -> dict[str, Any]:
    """The count of all tokens, and those that begin at the characters from `first` to `last`.

    `spans` lists id, start and end of each; `known` has the text and the birth of each id once."""
    begin, end = np.searchsorted(encoded.starts, [first, last], side="left").tolist()
    rows = np.stack([encoded.ids, encoded.starts, encoded.ends], axis=1)[begin:end].tolist()
    ids = dict.fromkeys(row[0] for row in rows)
    return {
        "count": len(encoded),
        "lossless": encoded.lossless,
        "first": begin,
        "spans": rows,
        "known": {id: [safe(card.text(id)), born, mark(born)[0]]
                  for id in ids for born in [card.born(id)]},
    }  # fmt: skip


def clamp(first: int, size: int) -> tuple[int, int]:
    """The window that begins at a character, moved into a text of this size."""
    first = max(0, min(first, max(0, size - 1)))
    return first, min(size, first + WINDOW)
