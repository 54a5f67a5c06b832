"""Many texts in portions, for programs that take several at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def portions(texts: Iterable[str], characters: int = 4_000_000) -> Iterator[list[str]]:
    """Lists of texts, each of about so many characters."""
    if isinstance(texts, str):
        raise TypeError("one text was passed for the documents; pass a list of texts")
    portion: list[str] = []
    size = 0
    for text in texts:
        portion.append(text)
        size += len(text)
        if size >= characters:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion
