"""Read files of every known format: bytes become documents, or faults with a reason.

    open file → blocks → unpacked blocks → lines or records → documents

A document is a non-empty `str` that UTF-8 can encode. A record that is no document stops the
reading with a `CorpusError`; with `skip_bad` the reader skips it and counts it by reason. Every
step is a generator, so memory does not grow with the file.
"""

from __future__ import annotations

import io
import itertools
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from .faults import CorpusError, Fault, is_text, line_fault, record_fault, value_fault
from .kinds import BOM, is_wide
from .parquet import read_parquet
from .reading import Document, Reading, decoded, language
from .records import json_array, json_lines, json_portions, too_long
from .remote import Url
from .texts import LONGEST_RECORD, split_text, without_end
from .unpack import BLOCK, PACKED_BLOCK, unpacked

_HEAD = 1 << 16  # bytes that say which encoding a file has
_MOST_WHITE = 2 << 20  # white space at the beginning, after which to decide what standard input is


# --- Files and standard input ------------------------------------------------------------------


def read_file(path: Path | Url, form: str, packing: str, reading: Reading) -> Iterator[Document]:
    """The documents of a file. A fault that ends it early (a corrupt archive) is one bad record."""
    try:
        with path.open("rb", buffering=BLOCK) as file:
            blocks = _blocks(file, packing, reading)
            if form != "parquet":
                yield from _read_blocks(_peek(blocks, _HEAD), form, str(path), reading)
                return
            if not packing:
                size = (path.bytes or 0) if isinstance(path, Url) else path.stat().st_size
                yield from read_parquet(file, str(path), reading, size)
            else:
                import tempfile  # here, since it loads a dozen modules

                with tempfile.TemporaryFile() as whole:  # parquet is read from its end
                    whole.writelines(blocks)
                    yield from read_parquet(whole, str(path), reading, 0)
    except Fault as fault:
        reading.bad(str(path), fault)


def read_portions(path: Path | Url, packing: str, reading: Reading) -> Iterator[list[bytes] | None]:
    """A file of JSON lines as portions of whole lines, for the core (see records.py)."""
    with path.open("rb", buffering=BLOCK) as file:
        blocks = _checked(_peek(_blocks(file, packing, reading), _HEAD), str(path))
        first = True
        for portion in json_portions(blocks, LONGEST_RECORD):
            if first and portion is not None:
                lines = (line for line in io.BytesIO(b"".join(portion)) if line.strip())
                line = next((line for line in lines if len(line) - 1 <= LONGEST_RECORD), b"")
                refuse_spread(line)
                first = not line
            yield portion


def read_head(path: Path | Url, packing: str) -> bytes:
    """The first bytes of a file, unpacked; fewer if an archive is corrupt."""
    reading = Reading("", "", True)
    try:
        with path.open("rb", buffering=BLOCK) as file:
            return _peek(_blocks(file, packing, reading), _HEAD)[0][:_HEAD]
    except Fault:
        return b""


def read_stdin(form: str, whole: bool, reading: Reading) -> Iterator[Document]:
    """Standard input. In the format "auto", JSON lines if it begins with "{", and text if not."""
    blocks = _raw(sys.stdin.buffer, reading, BLOCK)
    if form == "parquet":
        raise CorpusError("standard input: parquet is read from its end; pass it as a file")
    start = _peek(blocks, _HEAD if form != "auto" else _MOST_WHITE)
    if form == "auto":
        form = "jsonl" if start[0].lstrip().startswith(b"{") else "text"
    form = "whole" if whole and form in ("text", "code") else form
    yield from _read_blocks(start, form, "standard input", reading)


def _blocks(file: BinaryIO, packing: str, reading: Reading) -> Iterator[bytes]:
    if packing:
        return unpacked(_raw(file, reading, PACKED_BLOCK), packing)
    return _raw(file, reading, BLOCK)


def _raw(file: BinaryIO, reading: Reading, size: int) -> Iterator[bytes]:
    while block := file.read(size):
        reading.bytes_read += len(block)
        yield block


def _peek(blocks: Iterator[bytes], most: int) -> tuple[bytes, Iterator[bytes]]:
    """The beginning without its mark of UTF-8: _HEAD bytes, and more, up to `most`, if they are
    white space alone. Then all blocks, the beginning included."""
    held: list[bytes] = []
    size, blank = 0, True
    while size < _HEAD or (blank and size < most):
        block = next(blocks, None)
        if block is None:
            break
        held.append(block)
        size += len(block)
        blank = blank and not block.removeprefix(BOM).strip()
    head = b"".join(held).removeprefix(BOM)
    return head, itertools.chain([head], blocks)


def _checked(start: tuple[bytes, Iterator[bytes]], name: str) -> Iterator[bytes]:
    """All blocks of a file that begins as text does."""
    if is_wide(start[0][:_HEAD]):  # with skip_bad as well: what is left would be garbage
        raise CorpusError(f"{name}: not UTF-8 (it may be UTF-16, or no text); convert it to UTF-8")
    return start[1]


def _read_blocks(
    start: tuple[bytes, Iterator[bytes]], form: str, name: str, reading: Reading
) -> Iterator[Document]:
    blocks = _checked(start, name)
    if form == "json" and start[0].lstrip().startswith(b"["):
        return _read_array(blocks, name, reading)
    if form in ("json", "jsonl", "copy"):
        # A copy of our own holds what was read already, of any length.
        most = sys.maxsize if form == "copy" else LONGEST_RECORD
        return _read_json(json_lines(blocks, most), name, reading)
    return read_text(blocks, form, name, reading)


# --- From lines and records to documents -------------------------------------------------------


def read_text(
    blocks: Iterable[bytes], form: str, name: str, reading: Reading
) -> Iterator[Document]:
    """The documents of a file of text, lines, code, or of one that is whole."""
    line, offset = 1, 0
    is_lines = form == "lines"
    for data in split_text(blocks, form):
        if not (is_lines and data.isspace()):
            text = decoded(without_end(data) if is_lines else data)
            if isinstance(text, str):
                yield Document(text)
            else:
                number = line + data.count(b"\n", 0, text.start)
                reading.bad(f"{name}, line {number}", value_fault(text, reading.text_key, offset))
        line += data.count(b"\n")
        offset += len(data)


def _read_json(lines: Iterator[bytes | None], name: str, reading: Reading) -> Iterator[Document]:
    first = True
    for number, line in enumerate(lines, 1):
        if first and line is not None:
            refuse_spread(line)
            first = not line.strip()
        document = read_line(line, f"{name}, line {number}", reading)
        if document is not None:
            yield document
    reading.line = None


_decode = json.JSONDecoder().decode


def read_line(line: bytes | None, place: str, reading: Reading) -> Document | None:
    """The document of a line of JSON, which is None if it is too long; None if it has none."""
    if line is None:
        reading.bad(place, too_long())
        return None
    try:
        record = _decode(line.decode())
        text = record[reading.text_key]
    except (ValueError, TypeError, KeyError, RecursionError):
        text = None
    if is_text(text):
        reading.line = line
        return Document(text, language(record.get(reading.lang_key))) if text else None
    if line.strip():
        reading.bad(place, line_fault(line, reading.text_key))
    return None


def refuse_spread(line: bytes) -> None:
    """Raise if the first line of a file begins a value that goes on over several lines."""
    start = line.strip()
    if start not in (b"{", b"["):
        return
    if start == b"[":
        message = "a JSON array, not JSON lines; pass --format json / format='json'"
    else:
        message = "one JSON object over several lines; write each record on one line, or an array"
    raise Fault("malformed JSON", message)


def _read_array(blocks: Iterator[bytes], name: str, reading: Reading) -> Iterator[Document]:
    """Each value of a JSON array is a record, or a text."""
    key = reading.text_key
    for number, (value, line) in enumerate(json_array(blocks, LONGEST_RECORD), 1):
        record = value if isinstance(value, dict) else {key: value} if is_text(value) else {}
        text = record.get(key)
        if line is None:
            message = "invalid UTF-8; convert it to UTF-8"
            reading.bad(f"{name}, record {number}", Fault("invalid UTF-8", message))
        elif not is_text(text):
            reading.bad(f"{name}, record {number}", record_fault(value, key))
        elif text:
            reading.line = line if record is value else None
            yield Document(text, language(record.get(reading.lang_key)))
    reading.line = None


def read_items(items: Iterable[object], reading: Reading) -> Iterator[Document]:
    """Each item is a document, or a mapping that holds one."""
    key = reading.text_key
    for number, item in enumerate(items, 1):
        text = item.get(key) if isinstance(item, Mapping) else item
        if not is_text(text):
            reading.bad(f"item {number}", record_fault(item, key))
        elif text:
            lang = item.get(reading.lang_key) if isinstance(item, Mapping) else None
            yield Document(text, language(lang))
