"""Bytes and records become documents, or faults that say why not.

    open file → blocks → unpacked blocks → lines → documents

A document is a non-empty `str` that UTF-8 can write. A record that is no document stops the
reading with a `CorpusError` or, with `skip_bad`, is left out and counted by reason. Every step is
a generator, so memory does not grow with the file.
"""

from __future__ import annotations

import io
import itertools
import json
import lzma
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeGuard

import zstandard

_FORMATS = {
    **dict.fromkeys((".txt", ".text", ".md"), "text"),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "json"),
    ".parquet": "parquet",
}
# Each makes a decompressor with `decompress`, `eof` and `unused_data`.
_UNPACKERS: dict[str, Callable[[], Any]] = {
    ".gz": lambda: zlib.decompressobj(wbits=31),
    ".xz": lzma.LZMADecompressor,
    ".zst": lambda: zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj(),
}
KNOWN = f"known are {' '.join(_FORMATS)}, each also with {' '.join(_UNPACKERS)} appended"

_BLOCK = 1 << 16  # larger ones are slower: each would be a fresh mapping of memory
# Choice: little at a time, since 8 KiB of zstd may already unpack to 256 MiB. It costs no speed.
_PACKED_BLOCK = 1 << 13
_BOM = b"\xef\xbb\xbf"


class CorpusError(ValueError):
    """What cannot be read: the message names the file, the line or row, and the remedy."""


class _Fault(Exception):
    """Why something is no document: the reason it is counted by, and the story for people."""

    def __init__(self, reason: str, story: str) -> None:
        self.reason, self.story = reason, story


class Document(NamedTuple):
    """A text and, where its record says so, its language."""

    text: str
    lang: str | None = None


@dataclass
class Pass:
    """One reading of a corpus: how to read, and what was read and skipped so far."""

    text_key: str
    lang_key: str
    whole_files: bool
    skip_bad: bool
    bytes_read: int = 0
    line: bytes | None = None  # the JSON that the latest document came from
    skipped: Counter[str] = field(default_factory=Counter)

    def bad(self, place: str, fault: _Fault, count: int = 1) -> None:
        """Count a bad record, or stop at it."""
        if not self.skip_bad:
            raise CorpusError(
                f"{place}: {fault.story}, or pass --skip-bad / skip_bad=True"
                " to leave such records out and count them"
            ) from fault
        self.skipped[fault.reason] += count


def kind(name: str | Path) -> tuple[str, str] | None:
    """The format and the packing that a name promises: "a.jsonl.gz" is ("json", ".gz")."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    packing = suffixes.pop() if suffixes and suffixes[-1] in _UNPACKERS else ""
    form = _FORMATS.get(suffixes[-1]) if suffixes else None
    return (form, packing) if form else None


def json_line(record: Mapping[str, str | None]) -> bytes:
    """A document as a line of JSON, without its newline."""
    return json.dumps(record, ensure_ascii=False).encode()


# --- From bytes to lines ---------------------------------------------------------------------


def _raw(file: BinaryIO, now: Pass, size: int) -> Iterator[bytes]:
    while block := file.read(size):
        now.bytes_read += len(block)
        yield block


def _unpacked(blocks: Iterator[bytes], packing: str) -> Iterator[bytes]:
    """Decompress. Members (frames, streams) that follow one another are one text."""
    unpacker = _UNPACKERS[packing]()
    padding = b"" if packing == ".zst" else b"\0"  # gzip and xz allow zeros after a member
    for block in blocks:
        while block:
            if unpacker.eof:
                block = block.lstrip(padding)
                if not block:
                    break
                unpacker = _UNPACKERS[packing]()
            try:
                data = unpacker.decompress(block)
            except (zlib.error, lzma.LZMAError, zstandard.ZstdError) as error:
                story = f"a corrupt archive ({error}); fetch or pack it again"
                raise _Fault("corrupt archive", story) from error
            for start in range(0, len(data), _BLOCK):
                yield data[start : start + _BLOCK]
            block = unpacker.unused_data if unpacker.eof else b""
    if not unpacker.eof:
        story = "a truncated archive (its end is missing); fetch or pack it again"
        raise _Fault("truncated archive", story)


def split_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    r"""Lines without their "\n" or "\r\n"."""
    pieces: list[bytes] = []  # of a line that has not ended
    for block in blocks:
        if end := block.rfind(b"\n") + 1:
            pieces.append(block[:end])
            for line in io.BytesIO(b"".join(pieces)):  # twice as fast as `split`
                yield line[:-1].removesuffix(b"\r")
            pieces.clear()
        pieces.append(block[end:])
    yield b"".join(pieces)


# --- From lines, rows and items to documents -------------------------------------------------


def read_file(path: Path, form: str, packing: str, now: Pass) -> Iterator[Document]:
    """The documents of a file. What ends it early, such as a corrupt archive, is one bad record."""
    try:
        with path.open("rb", buffering=_BLOCK) as file:
            blocks = _raw(file, now, _PACKED_BLOCK if packing else _BLOCK)
            if packing:
                blocks = _unpacked(blocks, packing)
            if form != "parquet":
                yield from _read_blocks(blocks, form == "json", str(path), now)
            elif not packing:
                yield from _read_parquet(file, str(path), now, path.stat().st_size)
            else:
                with tempfile.TemporaryFile() as unpacked:  # parquet is read from its end
                    unpacked.writelines(blocks)
                    yield from _read_parquet(unpacked, str(path), now, 0)
    except _Fault as fault:
        now.bad(str(path), fault)


def read_stdin(now: Pass) -> Iterator[Document]:
    """Standard input: JSON lines if it begins with "{", and text otherwise."""
    blocks = _raw(sys.stdin.buffer, now, _BLOCK)
    head = b""
    while not (start := head.removeprefix(_BOM).lstrip()) and (block := next(blocks, b"")):
        head += block
    blocks = itertools.chain([head], blocks)
    yield from _read_blocks(blocks, start.startswith(b"{"), "standard input", now)


def _read_blocks(
    blocks: Iterator[bytes], is_json: bool, name: str, now: Pass
) -> Iterator[Document]:
    if now.whole_files and not is_json:
        return _read_whole(blocks, name, now)
    lines = split_lines(blocks)
    lines = itertools.chain([next(lines).removeprefix(_BOM)], lines)
    return (_read_json if is_json else read_text)(lines, name, now)


def read_text(lines: Iterator[bytes], name: str, now: Pass) -> Iterator[Document]:
    """Each line that is not blank is a document."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            text = _decoded(line)
            if isinstance(text, str):
                yield Document(text)
            else:
                now.bad(f"{name}, line {number}", _value_fault(text, now.text_key))


def _read_whole(blocks: Iterator[bytes], name: str, now: Pass) -> Iterator[Document]:
    text = _decoded(b"".join(blocks).removeprefix(_BOM))
    if not isinstance(text, str):
        line = text.object.count(b"\n", 0, text.start) + 1
        now.bad(f"{name}, line {line}", _value_fault(text, now.text_key))
    elif text:
        yield Document(text)


def _read_json(lines: Iterator[bytes], name: str, now: Pass) -> Iterator[Document]:
    decode, key = json.JSONDecoder().decode, now.text_key
    for number, line in enumerate(lines, 1):
        try:
            record = decode(line.decode())
            text = record[key]
        except (ValueError, TypeError, KeyError, RecursionError):
            text = None
        if _is_text(text):
            if text:
                now.line = line
                yield Document(text, _language(record.get(now.lang_key)))
        elif line.strip():
            now.bad(f"{name}, line {number}", _line_fault(line, key))
    now.line = None


def read_items(items: Iterable[object], now: Pass) -> Iterator[Document]:
    """Each item is a document, or a mapping that holds one."""
    key = now.text_key
    for number, item in enumerate(items, 1):
        text = item.get(key) if isinstance(item, Mapping) else item
        if not _is_text(text):
            now.bad(f"item {number}", _record_fault(item, key))
        elif text:
            lang = item.get(now.lang_key) if isinstance(item, Mapping) else None
            yield Document(text, _language(lang))


def _language(value: object) -> str | None:
    """What a record says of its language; what is no string says nothing."""
    return value if _is_text(value) and value else None


def _read_parquet(file: BinaryIO, name: str, now: Pass, size: int) -> Iterator[Document]:
    """The column `text_key`, some rows at a time; `size` bytes are counted as the rows pass by."""
    arrow, key = _pyarrow(), now.text_key
    start, row = now.bytes_read, 0
    try:
        table = arrow.parquet.ParquetFile(file, buffer_size=_BLOCK)
        rows, names = table.metadata.num_rows, table.schema_arrow.names
        if key not in names:
            now.bad(name, _record_fault(dict.fromkeys(names), key), count=rows)
            return
        spoken = now.lang_key in names and now.lang_key != key
        for batch in table.iter_batches(256, columns=[key, now.lang_key] if spoken else [key]):
            texts = _values(batch.column(key))
            langs = _values(batch.column(now.lang_key)) if spoken else itertools.repeat(None)
            for value, lang in zip(texts, langs, strict=False):
                row += 1
                if not _is_text(value):
                    now.bad(f"{name}, row {row}", _value_fault(value, key))
                elif value:
                    yield Document(value, _language(lang))
            now.bytes_read = start + size * row // rows
    except (arrow.ArrowException, OSError) as error:
        story = f"a corrupt parquet file ({error}); fetch or write it again"
        raise _Fault("corrupt parquet", story) from error


def _pyarrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        message = "reading parquet needs pyarrow: pip install supratok[parquet]"
        raise CorpusError(message) from error
    return pyarrow


def _values(column: Any) -> list[object]:
    """The values of a column; where one is not UTF-8, the error in its place."""
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        values = column.cast("binary").to_pylist()
        return [value if value is None else _decoded(value) for value in values]


def _decoded(data: bytes) -> str | UnicodeDecodeError:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return error


# --- Why a record is no document -------------------------------------------------------------


def _is_text(value: object) -> TypeGuard[str]:
    """A string without a lone surrogate. `isascii` costs nothing, and `encode` little."""
    try:
        return isinstance(value, str) and (value.isascii() or bool(value.encode()))
    except UnicodeEncodeError:
        return False


def _line_fault(line: bytes, key: str) -> _Fault:
    try:
        return _record_fault(json.loads(line.decode()), key)
    except UnicodeDecodeError as error:
        return _value_fault(error, key)
    except json.JSONDecodeError as error:
        what = f"{error.msg} at column {error.colno}"
    except (ValueError, RecursionError) as error:  # a number or a nesting beyond Python's limits
        what = str(error)
    return _Fault("malformed JSON", f"malformed JSON ({what}); write one object on each line")


def _record_fault(record: object, key: str) -> _Fault:
    if isinstance(record, Mapping):
        if key in record:
            return _value_fault(record[key], key)
        story = f'no key "{key}" (there are: {keys(record)}); name the right one with --text-key'
        return _Fault("missing key", story)
    if isinstance(record, str) and not _is_text(record):
        return _value_fault(record, key)
    what = type(record).__name__
    story = f'a value of type {what}, not an object; give each record a string under "{key}"'
    return _Fault("not an object", story)


def _value_fault(value: object, key: str) -> _Fault:
    if isinstance(value, UnicodeDecodeError):
        story = f"invalid UTF-8 at byte offset {value.start}; convert it to UTF-8"
        return _Fault("invalid UTF-8", story)
    if value is None:
        return _Fault("null", f'"{key}" is null; give it a text')
    if isinstance(value, str):
        story = "a lone surrogate (half a character, such as \\ud800); write the whole character"
        return _Fault("lone surrogate", story)
    story = f'"{key}" is of type {type(value).__name__}, not a string; name another with --text-key'
    return _Fault("not a string", story)


def keys(names: Iterable[object]) -> str:
    return ", ".join(map(str, itertools.islice(names, 20)))
