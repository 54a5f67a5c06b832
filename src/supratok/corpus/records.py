"""Records of JSON: lines of objects, or an array of objects or strings.

Both are read in bounded memory: a record longer than 256 MiB is a bad one.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .faults import Fault
from .texts import LONGEST_RECORD
from .unpack import BLOCK

# Choice: bytes in a portion of lines. A thread of the core takes some milliseconds for it.
PORTION = 1 << 21

_WHITE = re.compile(r"[ \t\n\r]*")
# An error this close to the end of what is read so far may be due to the missing rest: half a
# literal or an escape.
_NEAR = 16


def json_line(record: Mapping[str, str | None]) -> bytes:
    """A document as a line of JSON, without its newline."""
    return json.dumps(record, ensure_ascii=False).encode()


def too_long() -> Fault:
    message = f"a record of more than {LONGEST_RECORD >> 20} MiB; split it into several"
    return Fault("too long", message)


def json_lines(blocks: Iterable[bytes], most: int) -> Iterator[bytes | None]:
    """Lines without their ends; None in place of one that is too long."""
    held: list[bytes] = []  # of a line that has not ended
    size = 0
    for block in blocks:
        end = block.rfind(b"\n") + 1
        if end and size > most:  # the rest of a line that is too long
            yield None
            start = block.index(b"\n") + 1
            held, size = [], 0
            block, end = block[start:], end - start
        if end:
            held.append(block[:end])
            for line in io.BytesIO(b"".join(held)):  # twice as fast as `split`
                yield line[:-1].removesuffix(b"\r") if len(line) - 1 <= most else None
            held, size = [], 0
        size += len(block) - end
        if size <= most:
            held.append(block[end:])
        else:
            held.clear()
    yield b"".join(held) if size <= most else None


def json_portions(blocks: Iterable[bytes], most: int) -> Iterator[list[bytes] | None]:
    """The same lines, in portions for the core: blocks that add up to whole lines, or None. All
    that precedes an error comes before it."""
    whole: list[bytes] = []
    held: list[bytes] = []  # of a line that has not ended
    size = held_size = 0
    try:
        for block in blocks:
            end = block.rfind(b"\n") + 1
            if end and held_size > most:
                yield from ([whole] if whole else [])
                yield None
                whole, held, size, held_size = [], [], 0, 0
                start = block.index(b"\n") + 1
                block, end = block[start:], end - start
            if end:
                whole += [*held, block[:end]]
                size += held_size + end
                held, held_size = [], 0
            held_size += len(block) - end
            if held_size <= most:
                held.append(block[end:])
            else:
                held.clear()
            if size >= PORTION:
                yield whole
                whole, size = [], 0
    except Exception:
        if whole:
            yield whole
        raise
    if held_size > most:
        yield from ([whole] if whole else [])
        yield None
    elif whole or held_size:
        yield whole + held


class Item(NamedTuple):
    """A value of an array, and its JSON as one line; None if it is not UTF-8."""

    value: Any
    line: bytes | None


def json_array(blocks: Iterable[bytes], most: int) -> Iterator[Item]:
    """The values of a JSON array. A fault ends it: what follows cannot be told apart."""
    text = _Text(blocks)
    text.skip("[")
    separator = ""
    while not text.skip("]"):
        if separator and not text.skip(","):
            where = "" if text.peek() else ", at its end"
            raise _malformed(f"a comma or the end of the array is missing{where}")
        separator = ","
        yield text.value(most)
    if text.peek():
        raise _malformed("text follows the end of the array")


def _malformed(why: str) -> Fault:
    return Fault("malformed JSON", f"malformed JSON ({why}); write an array of records")


class _Text:
    """Text that is read as far as needed. Each reading doubles what is held of a value, so that
    decoding it again and again takes linear time in all."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = iter(blocks)
        # Bytes that are no UTF-8 must reach the record that holds them.
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._text, self._at, self._ended = "", 0, False
        self._decode = json.JSONDecoder().raw_decode

    def _read(self) -> None:
        """At least as much again as is held."""
        parts = [self._text[self._at :]]
        wanted = max(len(parts[0]), BLOCK)
        while wanted > 0 and not self._ended:
            block = next(self._blocks, b"")
            self._ended = not block
            parts.append(self._decoder.decode(block, final=self._ended))
            wanted -= len(parts[-1])
        self._text, self._at = "".join(parts), 0

    def peek(self) -> str:
        """The next character that is not white space; empty at the end."""
        while True:
            self._at = _WHITE.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._read()

    def skip(self, character: str) -> bool:
        """Whether this comes next; if so, go on behind it."""
        found = self.peek() == character
        self._at += found
        return found

    def value(self, most: int) -> Item:
        self.peek()
        while True:
            try:
                value, end = self._decode(self._text, self._at)
                after = self._text[end : end + _NEAR]
                if self._ended or after[:1] in tuple(" \t\n\r,]") or len(after) == _NEAR:
                    break  # else a number may go on
            except json.JSONDecodeError as error:
                unfinished = error.msg.startswith("Unterminated string")
                if self._ended:
                    raise _malformed(f"{error.msg}, at its end") from error
                if not unfinished and error.pos < len(self._text) - _NEAR:
                    raise _malformed(error.msg) from error
            except (ValueError, RecursionError) as error:  # beyond Python's limits
                raise _malformed(str(error)) from error
            if len(self._text) - self._at > most:
                raise too_long()
            self._read()
        raw = self._text[self._at : end]
        self._at = end
        try:  # No string of JSON holds these characters: they stand between its parts.
            return Item(value, raw.replace("\n", " ").replace("\r", " ").encode())
        except UnicodeEncodeError:
            return Item(value, None)
