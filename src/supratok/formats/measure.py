"""Tokens, characters and seconds that a tokenizer takes for some texts.

measure(open_any("tokenizer.json"), texts).characters_per_token
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .peer import Peer


@dataclass
class Measure:
    """The counts of one tokenizer on some texts."""

    name: str
    vocab_size: int
    tokens: int = 0
    characters: int = 0
    bytes: int = 0
    lossless: bool | None = None  # did decoding return every text? None: not tried
    seconds: float = 0.0  # for encoding, on one thread

    @property
    def characters_per_token(self) -> float | None:
        return self.characters / self.tokens if self.tokens else None

    @property
    def bytes_per_token(self) -> float | None:
        return self.bytes / self.tokens if self.tokens else None

    @property
    def megabytes_per_second(self) -> float | None:
        return self.bytes / 1e6 / self.seconds if self.seconds and self.bytes else None


def measure(peer: Peer, texts: Iterable[str], check: bool = True) -> Measure:
    """Encode each text and time it; with `check`, also decode it and compare."""
    found = Measure(peer.name, peer.vocab_size, lossless=True if check else None)
    peer.encode("The first call may have to get ready.")
    for text in texts:
        before = time.perf_counter()
        ids = peer.encode(text)
        found.seconds += time.perf_counter() - before
        found.tokens += len(ids)
        found.characters += len(text)
        found.bytes += len(text.encode())
        if check and found.lossless:
            found.lossless = peer.decode(ids) == text
    return found


def total(measures: Sequence[Measure]) -> Measure:
    """The sum of one tokenizer's measures on several files."""
    whole = Measure("total", measures[0].vocab_size)
    for part in measures:
        whole.tokens += part.tokens
        whole.characters += part.characters
        whole.bytes += part.bytes
        whole.seconds += part.seconds
    return whole
