"""Text files become documents that, one after another, are exactly the file.

    text    a document ends after blank lines, if the next line is not indented: an indented block
            belongs to what precedes it. Without such a border it ends at the first line end after
            64 KiB.
    code    a document is the file; one beyond 1 MiB ends at the next line end.
    lines   each line that is not blank is a document, without its end.
    whole   a document is the file, up to 256 MiB.

Newlines and blank lines belong to the document before them, so training learns them. What a
document is depends on the content of a file alone, not on the blocks that it comes in.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator

from .faults import Fault

# Choice: 64 KiB are some 20 pages. Smaller documents are held out more evenly; but a document
# should show what follows what.
_TEXT = 64 << 10
_CODE = 1 << 20
# A longer line is cut after the next white space, and at the latest at _LONGEST, so that memory
# does not grow with a file that is one line.
_LONG = 1 << 20
_LONGEST = 2 << 20
# The longest text of a record, and of a file that is one document.
LONGEST_RECORD = 256 << 20

_SPACE = re.compile(rb"\s")


def split_text(blocks: Iterable[bytes], form: str) -> Iterator[bytes]:
    """The documents of a file of this form, not yet decoded."""
    if form == "whole":
        return _whole(blocks)
    lines = split_lines(blocks)
    if form == "lines":
        return lines
    return _documents(lines, _TEXT, True) if form == "text" else _documents(lines, _CODE, False)


def without_end(line: bytes) -> bytes:
    return line[:-1].removesuffix(b"\r") if line.endswith(b"\n") else line


def _documents(lines: Iterable[bytes], size: int, borders: bool) -> Iterator[bytes]:
    """Group lines. White space alone is no document: it stays with the text before it, or at the
    beginning with the text after it. (Only of white space that fills _LONGEST is this not true.)"""
    held = bytearray()
    has_text, blank, any_yet = False, False, False
    for line in lines:
        if line.isspace():
            ends, blank = len(held) >= _LONGEST, True
        else:
            is_border = borders and blank and line[0] not in b" \t"
            ends, blank = has_text and (is_border or len(held) >= size), False
        if ends:
            yield bytes(held)
            held.clear()
            has_text, any_yet = False, True
        held += line
        has_text = has_text or not blank
    if has_text or (any_yet and held):
        yield bytes(held)


def split_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines with their ends; a long one comes in pieces."""
    held: list[bytes] = []  # of a line that has not ended
    size = 0
    for block in blocks:
        if end := block.rfind(b"\n") + 1:
            held.append(block[:end])
            for line in io.BytesIO(b"".join(held)):  # twice as fast as `split`
                if len(line) <= _LONG:
                    yield line
                else:
                    yield from _cut(line, _LONG)
            held, size = [], 0
        held.append(block[end:])
        size += len(block) - end
        if size > _LONGEST:
            *pieces, rest = _cut(b"".join(held), _LONGEST)
            yield from pieces
            held, size = [rest], len(rest)
    yield from _cut(b"".join(held), _LONG)


def _cut(line: bytes, most: int) -> Iterator[bytes]:
    """Pieces of a line, while it is longer than this. Where the first one ends depends on the first
    _LONGEST bytes alone."""
    while len(line) > most:
        if found := _SPACE.search(line, _LONG, _LONGEST):
            end = found.end()
        else:
            end = min(len(line), _LONGEST)
            while end < len(line) and line[end] & 0xC0 == 0x80 and end > _LONGEST - 3:
                end -= 1  # to the beginning of a character
        yield line[:end]
        line = line[end:]
    if line:
        yield line


def _whole(blocks: Iterable[bytes]) -> Iterator[bytes]:
    held: list[bytes] = []
    size = 0
    for block in blocks:
        held.append(block)
        size += len(block)
        if size > LONGEST_RECORD:
            held.clear()
            message = f"more than {LONGEST_RECORD >> 20} MiB in one document"
            raise Fault("too long", f"{message}; read it without --whole-files")
    if size:
        yield b"".join(held)
