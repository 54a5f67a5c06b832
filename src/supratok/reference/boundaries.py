"""The ends of texts, by trying every continuation: what `Tokenizer.covers`, `stable`, `next_mask`
and `is_canonical` find without trying.

A continuation of a text matters only as far as the token that crosses the text's end reaches. So
all texts over the alphabet that are shorter than the longest token are enough, with one character
outside the alphabet among them.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple


class Rule(NamedTuple):
    """A way to encode: the ids of a text, the bytes of an id, the ids of the 256 bytes."""

    encode: Callable[[str], list[int]]
    bytes_of: Callable[[int], bytes]
    bytes: list[int]


def continuations(chars: str, longest: int) -> list[str]:
    """All texts of these characters, up to a length."""
    return [
        "".join(some)
        for length in range(longest + 1)
        for some in itertools.product(chars, repeat=length)
    ]


def stable(rule: Rule, text: str, after: Iterable[str]) -> list[int]:
    """The ids that the encodings of all continuations begin with."""
    common = rule.encode(text)
    for more in after:
        ids = rule.encode(text + more)
        same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(common, ids, strict=False))
        common = [id for id, _ in same]
    return common


# A cover: the ids before the token that crosses the end of a text, and what it begins with.
Covered = tuple[tuple[int, ...], str]


def cover_of(rule: Rule, text: str, more: str) -> tuple[Covered, int | None]:
    """The cover into which one continuation falls, and the id that comes next."""
    data, at = text.encode(), 0
    ids = rule.encode(text + more)
    for place, id in enumerate(ids):
        end = at + len(rule.bytes_of(id))
        if end > len(data):
            return (tuple(ids[:place]), data[at:].decode()), id
        at = end
    return (tuple(ids), ""), None


def covers(rule: Rule, text: str, after: Iterable[str]) -> dict[Covered, set[int]]:
    """The covers into which the continuations fall, by growing rest, and the next ids of each."""
    found: dict[Covered, set[int]] = {}
    for more in after:
        cover, id = cover_of(rule, text, more)
        found.setdefault(cover, set()).update(() if id is None else (id,))
    return dict(sorted(found.items(), key=lambda item: len(item[0][1])))


def pair(rule: Rule, text: str, more: str) -> tuple[list[int], int, bool]:
    """The ids of both texts joined, how many end within the first text, and whether the next one
    begins there."""
    ids, border = rule.encode(text + more), len(text.encode())
    ends = list(itertools.accumulate(len(rule.bytes_of(id)) for id in ids))
    at = sum(end <= border for end in ends)
    return ids, at, at < len(ids) and [0, *ends][at] < border


def is_canonical(rule: Rule, ids: list[int]) -> bool:
    """Whether a text has this encoding."""
    try:
        return rule.encode(b"".join(map(rule.bytes_of, ids)).decode()) == ids
    except UnicodeDecodeError:
        return False


def canonical_prefix(rule: Rule, ids: list[int]) -> int:
    """How many ids, at most, are canonical together, from the first on."""
    return max(size for size in range(len(ids) + 1) if is_canonical(rule, ids[:size]))


def may_come_next(rule: Rule, ids: list[int], id: int) -> bool:
    """Whether these ids and one more are canonical, or become so with more bytes."""
    ids = [*ids, id]
    if is_canonical(rule, ids):
        return True
    values = [rule.bytes.index(id) if id in rule.bytes else None for id in ids]
    size = 1  # of the bytes at the end, from the last one that begins a character
    while size < len(ids) and (value := values[-size]) is not None and 0x80 <= value < 0xC0:
        size += 1
    if None in values[-size:] or not is_canonical(rule, ids[:-size]):
        return False
    return any(
        is_canonical(rule, ids[:-size] + [rule.bytes[byte] for byte in char.encode()])
        for char in characters(bytes(value for value in values[-size:] if value is not None))
    )


def characters(begin: bytes) -> Iterator[str]:
    """All characters whose bytes begin so. Bytes sort as characters do."""
    for codes in (range(0xD800), range(0xE000, 0x110000)):  # between them are halves of characters
        first = bisect.bisect_left(codes, begin, key=lambda code: chr(code).encode())
        chars = map(chr, codes[first:])
        yield from itertools.takewhile(lambda char: char.encode().startswith(begin), chars)


def split(rule: Rule, text: str, most: int) -> list[str]:
    """The text in pieces that are as long as possible: the first ends at the last place where the
    encodings of both sides are together that of the text, and takes at most so many ids."""
    ids, pieces = rule.encode(text), list[str]()
    while text:
        size = max(
            size
            for size in range(len(text) + 1)
            if len(rule.encode(text[:size])) <= most
            and rule.encode(text[:size]) + rule.encode(text[size:]) == ids
        )
        pieces.append(text[:size])
        text = text[size:]
        ids = rule.encode(text)
    return pieces
