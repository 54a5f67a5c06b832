"""Group many texts into batches, for programs that take several at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def batches(texts: Iterable[str], characters: int = 4_000_000) -> Iterator[list[str]]:
    """Lists of texts, each of about so many characters."""
    if isinstance(texts, str):
        raise TypeError("got one text instead of several; pass a list of texts")
    batch: list[str] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if size >= characters:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
