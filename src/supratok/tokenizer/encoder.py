"""Encoders over a list of entries."""

from __future__ import annotations

from ..common import _core
from .token import Token

BYTES = 256  # every encoder has a symbol for each byte, before its entries


def encoder_of(texts: list[str], fewest: bool, counts: list[int] | None = None) -> _core.Encoder:
    """An encoder of bare entries, in rank order, the alphabet first; ids: the bytes, the entries.
    `counts`, how often each is expected, only affect the speed."""
    return _core.Encoder(texts, counts or [1] * len(texts), fewest=fewest, first_id=0)


def encoder_of_tokens(tokens: list[Token], fewest: bool) -> _core.Encoder:
    return encoder_of([token.text for token in tokens], fewest, [token.count for token in tokens])
