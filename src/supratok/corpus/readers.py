"""Read files of every known format: bytes become documents, or faults with a reason.

    open file → blocks → unpacked blocks → lines → documents

A document is a non-empty `str` that UTF-8 can encode. A record that is no document stops the
reading with a `CorpusError`; with `skip_bad` the reader skips it and counts it by reason. Every
step is a generator, so memory does not grow with the file.
"""

from __future__ import annotations

import io
import itertools
import json
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ..common.packages import package
from .faults import CorpusError, Fault, is_text, line_fault, record_fault, value_fault

_FORMATS = {
    **dict.fromkeys((".txt", ".text", ".md"), "text"),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "json"),
    ".parquet": "parquet",
}
_PACKINGS = (".gz", ".xz", ".zst")
KNOWN = f"known are {' '.join(_FORMATS)}, each also with {' '.join(_PACKINGS)} appended"

_BLOCK = 1 << 16  # larger blocks are slower: each would be a fresh mapping of memory
# Choice: small blocks, since 8 KiB of zstd may unpack to 256 MiB. It costs no speed.
_PACKED_BLOCK = 1 << 13
_BOM = b"\xef\xbb\xbf"


class Document(NamedTuple):
    """A text and, if its record names it, its language."""

    text: str
    lang: str | None = None


@dataclass
class Reading:
    """One reading of a corpus: its options, and how much it has read and skipped so far."""

    text_key: str
    lang_key: str
    whole_files: bool
    skip_bad: bool
    bytes_read: int = 0
    line: bytes | None = None  # the line of JSON that holds the latest document
    skipped: Counter[str] = field(default_factory=Counter)

    def bad(self, place: str, fault: Fault, count: int = 1) -> None:
        """Count a bad record, or stop at it."""
        if not self.skip_bad:
            raise CorpusError(
                f"{place}: {fault.message}, or pass --skip-bad / skip_bad=True"
                " to leave such records out and count them"
            ) from fault
        self.skipped[fault.reason] += count


def kind(name: str | Path) -> tuple[str, str] | None:
    """The format and the packing by the suffix: "a.jsonl.gz" is ("json", ".gz")."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    packing = suffixes.pop() if suffixes and suffixes[-1] in _PACKINGS else ""
    form = _FORMATS.get(suffixes[-1]) if suffixes else None
    return (form, packing) if form else None


def json_line(record: Mapping[str, str | None]) -> bytes:
    """A document as a line of JSON, without its newline."""
    return json.dumps(record, ensure_ascii=False).encode()


# --- From bytes to lines ---------------------------------------------------------------------


def _raw(file: BinaryIO, reading: Reading, size: int) -> Iterator[bytes]:
    while block := file.read(size):
        reading.bytes_read += len(block)
        yield block


def _unpacker(packing: str) -> tuple[Callable[[], Any], type[Exception]]:
    """A function that makes a decompressor (with `decompress`, `eof`, `unused_data`), and the error
    that decompressors raise. The modules are imported here, since few corpora need each."""
    if packing == ".gz":
        return lambda: zlib.decompressobj(wbits=31), zlib.error
    if packing == ".xz":
        import lzma

        return lzma.LZMADecompressor, lzma.LZMAError
    import zstandard

    def zstd() -> Any:
        return zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()

    return zstd, zstandard.ZstdError


def _unpacked(blocks: Iterator[bytes], packing: str) -> Iterator[bytes]:
    """Decompress. Members (frames, streams) that follow one another are one text."""
    new_unpacker, unpacking_error = _unpacker(packing)
    unpacker = new_unpacker()
    padding = b"" if packing == ".zst" else b"\0"  # gzip and xz allow zeros after a member
    for block in blocks:
        while block:
            if unpacker.eof:
                block = block.lstrip(padding)
                if not block:
                    break
                unpacker = new_unpacker()
            try:
                data = unpacker.decompress(block)
            except unpacking_error as error:
                message = f"a corrupt archive ({error}); fetch or pack it again"
                raise Fault("corrupt archive", message) from error
            for start in range(0, len(data), _BLOCK):
                yield data[start : start + _BLOCK]
            block = unpacker.unused_data if unpacker.eof else b""
    if not unpacker.eof:
        message = "a truncated archive (its end is missing); fetch or pack it again"
        raise Fault("truncated archive", message)


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


def read_file(path: Path, form: str, packing: str, reading: Reading) -> Iterator[Document]:
    """The documents of a file. A fault that ends it early (a corrupt archive) is one bad record."""
    try:
        with path.open("rb", buffering=_BLOCK) as file:
            blocks = _raw(file, reading, _PACKED_BLOCK if packing else _BLOCK)
            if packing:
                blocks = _unpacked(blocks, packing)
            if form != "parquet":
                yield from _read_blocks(blocks, form == "json", str(path), reading)
            elif not packing:
                yield from _read_parquet(file, str(path), reading, path.stat().st_size)
            else:
                import tempfile  # here, since it loads a dozen modules

                with tempfile.TemporaryFile() as unpacked:  # parquet is read from its end
                    unpacked.writelines(blocks)
                    yield from _read_parquet(unpacked, str(path), reading, 0)
    except Fault as fault:
        reading.bad(str(path), fault)


def read_stdin(reading: Reading) -> Iterator[Document]:
    """Standard input: JSON lines if it begins with "{", and text otherwise."""
    blocks = _raw(sys.stdin.buffer, reading, _BLOCK)
    head = b""
    while not (start := head.removeprefix(_BOM).lstrip()) and (block := next(blocks, b"")):
        head += block
    blocks = itertools.chain([head], blocks)
    yield from _read_blocks(blocks, start.startswith(b"{"), "standard input", reading)


def _read_blocks(
    blocks: Iterator[bytes], is_json: bool, name: str, reading: Reading
) -> Iterator[Document]:
    if reading.whole_files and not is_json:
        return _read_whole(blocks, name, reading)
    lines = split_lines(blocks)
    lines = itertools.chain([next(lines).removeprefix(_BOM)], lines)
    return (_read_json if is_json else read_text)(lines, name, reading)


def read_text(lines: Iterator[bytes], name: str, reading: Reading) -> Iterator[Document]:
    """Each line that is not blank is a document."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            text = _decoded(line)
            if isinstance(text, str):
                yield Document(text)
            else:
                reading.bad(f"{name}, line {number}", value_fault(text, reading.text_key))


def _read_whole(blocks: Iterator[bytes], name: str, reading: Reading) -> Iterator[Document]:
    text = _decoded(b"".join(blocks).removeprefix(_BOM))
    if not isinstance(text, str):
        line = text.object.count(b"\n", 0, text.start) + 1
        reading.bad(f"{name}, line {line}", value_fault(text, reading.text_key))
    elif text:
        yield Document(text)


def _read_json(lines: Iterator[bytes], name: str, reading: Reading) -> Iterator[Document]:
    decode, key = json.JSONDecoder().decode, reading.text_key
    for number, line in enumerate(lines, 1):
        try:
            record = decode(line.decode())
            text = record[key]
        except (ValueError, TypeError, KeyError, RecursionError):
            text = None
        if is_text(text):
            if text:
                reading.line = line
                yield Document(text, _language(record.get(reading.lang_key)))
        elif line.strip():
            reading.bad(f"{name}, line {number}", line_fault(line, key))
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
            yield Document(text, _language(lang))


def _language(value: object) -> str | None:
    """The language that a record names, if it is a string."""
    return value if is_text(value) and value else None


def _read_parquet(file: BinaryIO, name: str, reading: Reading, size: int) -> Iterator[Document]:
    """The column `text_key`, some rows at a time; the rows read count as a share of `size`."""
    arrow, key = _pyarrow(), reading.text_key
    start, row = reading.bytes_read, 0
    try:
        table = arrow.parquet.ParquetFile(file, buffer_size=_BLOCK)
        rows, names = table.metadata.num_rows, table.schema_arrow.names
        if key not in names:
            reading.bad(name, record_fault(dict.fromkeys(names), key), count=rows)
            return
        has_lang = reading.lang_key in names and reading.lang_key != key
        for batch in table.iter_batches(
            256, columns=[key, reading.lang_key] if has_lang else [key]
        ):
            texts = _values(batch.column(key))
            langs = _values(batch.column(reading.lang_key)) if has_lang else itertools.repeat(None)
            for value, lang in zip(texts, langs, strict=False):
                row += 1
                if not is_text(value):
                    reading.bad(f"{name}, row {row}", value_fault(value, key))
                elif value:
                    yield Document(value, _language(lang))
            reading.bytes_read = start + size * row // rows
    except (arrow.ArrowException, OSError) as error:
        message = f"a corrupt parquet file ({error}); fetch or write it again"
        raise Fault("corrupt parquet", message) from error


def _pyarrow() -> Any:
    try:
        package("pyarrow.parquet", "parquet")
        return package("pyarrow", "parquet")
    except ImportError as error:
        raise CorpusError(f"to read parquet, {error}") from error


def _values(column: Any) -> list[object]:
    """The values of a column, with the error in place of a value that is not UTF-8."""
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
