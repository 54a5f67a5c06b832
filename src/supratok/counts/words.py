"""Words that others counted, as rows."""

from __future__ import annotations

import itertools
import struct
import zlib
from collections.abc import Iterable, Iterator

from ..common import _core
from ..common._core import split_words as split_words  # for those who count elsewhere

_AT_ONCE = 50_000  # words


def word_rows(
    counts: Iterable[tuple[str, int]], *, memory: int | None = None, folder: str = ""
) -> Iterator[bytes]:
    """Words with counts, in any order and with repetitions, as the member `words.rows`.

    With `memory`, the rows that need more bytes go to files in `folder`.
    """
    table = _core.WordTable(1)
    if memory is not None:
        table.limit(memory, folder)
    pairs = iter(counts)
    while some := list(itertools.islice(pairs, _AT_ONCE)):
        for word, count in some:
            if not word or count < 1:
                raise ValueError(f"{word!r}: {count}: a word has a letter and a count from 1")
        table.add_rows(_block(some))
    return table.rows_blocks()


def _block(pairs: list[tuple[str, int]]) -> bytes:
    sums: dict[bytes, int] = {}
    for word, count in pairs:
        text = word.encode()
        sums[text] = sums.get(text, 0) + count
    body = b"".join(
        b"\0" + _varint(len(text)) + text + _varint(sums[text]) for text in sorted(sums)
    )
    head = struct.pack("<2I", len(body), len(sums))
    return head + struct.pack("<I", zlib.crc32(body, zlib.crc32(head))) + body


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])
