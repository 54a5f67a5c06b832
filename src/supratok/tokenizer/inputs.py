"""Read the file of a tokenizer, compressed (`.zst`) or not, as a stranger's file: with a bound on
its size, and errors that name it."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from ..common.text import visible

MOST_BYTES = 1 << 28  # of a file, unpacked; the largest published tokenizers have 40 MB
MOST_LEVELS = 100  # of lists and objects inside each other
LONGEST_TOKEN = 4096  # bytes; the time of an encoding may grow with the longest token
# Ids of tokens: programs make tables as long as the largest id.
IDS = range(1 << 23)

_CHUNK = 1024  # packed bytes, which unpack to 44 MB at most
_UNFORESEEN = (
    TypeError, AttributeError, LookupError, ArithmeticError, RecursionError, AssertionError,
    StopIteration,
)  # fmt: skip


def find_file(path: str | os.PathLike[str], *names: str) -> Path:
    """The path itself; of a folder, the first of these files in it, each also with .zst."""
    folder = Path(path)
    if not folder.is_dir():
        return folder
    files = (folder / f"{name}{packed}" for name in names for packed in ("", ".zst"))
    found = next((file for file in files if file.exists()), None)
    if found is None:
        raise FileNotFoundError(f"{path}: a folder without a tokenizer (no {', '.join(names)})")
    return found


@contextlib.contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors about the content of a file name it, in one line.

    Checks refuse damaged files. The last clause is for what they overlook, in those files and in
    the programs that read them."""
    name = os.fspath(path)
    try:
        yield
    except ValueError as error:
        said = visible(str(error))[:2000]
        raise ValueError(said if said.startswith(name) else f"{name}: {said}") from error
    except _UNFORESEEN as error:
        why = visible(f"{type(error).__name__}: {error}")[:500]
        raise ValueError(
            f"{name}: damaged in a way that supratok did not foresee ({why}); please report this"
        ) from error


def read_file(path: Path) -> bytes:
    """The content, decompressed if the name ends in .zst."""
    with open(path, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    if path.suffix == ".zst":
        data = _unpacked(path, data)
    if len(data) > MOST_BYTES:
        raise ValueError(f"{path}: more than {MOST_BYTES >> 20} MiB, so it is no tokenizer")
    return data


def _unpacked(path: Path, packed: bytes) -> bytes:
    """Frame after frame, until there is too much."""
    import zstandard  # only here: most files are not packed

    data, at, why = bytearray(), 0, "its end is missing"
    try:
        while at < len(packed):
            unpacker = zstandard.ZstdDecompressor().decompressobj()
            while at < len(packed) and not unpacker.eof and len(data) <= MOST_BYTES:
                data += unpacker.decompress(packed[at : at + _CHUNK])
                at += _CHUNK
            if len(data) > MOST_BYTES:
                break
            if not unpacker.eof:
                raise zstandard.ZstdError(why)
            at = min(at, len(packed)) - len(unpacker.unused_data)
        return bytes(data)
    except zstandard.ZstdError as error:
        why = str(error)
    raise ValueError(f"{path}: a damaged archive ({why}); download or compress it again")


def parse_object(data: bytes) -> dict[str, Any]:
    """The JSON object that a file holds. Refuses what is nested too deeply for other functions, and
    half characters, which no text has."""
    try:
        document = json.loads(data)
        if re.search(rb"\\u[dD][89a-fA-F]", data):
            json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("a string holds a lone surrogate, which is half a character") from error
    except RecursionError as error:
        raise ValueError(f"nested more than {MOST_LEVELS} levels deep") from error
    except ValueError as error:
        raise ValueError(f"not JSON ({error})") from error
    if not isinstance(document, dict):
        raise ValueError("not a JSON object")
    level: list[Any] = [document]
    for _ in range(MOST_LEVELS):
        inside = (outer.values() if type(outer) is dict else outer for outer in level)
        level = [inner for inner in chain.from_iterable(inside) if type(inner) in (list, dict)]
    if level:
        raise ValueError(f"nested more than {MOST_LEVELS} levels deep")
    return document
