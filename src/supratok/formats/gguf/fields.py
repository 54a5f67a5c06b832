"""Read the metadata of a GGUF file, fast.

The package `gguf` makes three arrays of every string: half a minute for a vocabulary of 256,000.
This module takes half a second. A file holds "GGUF", its version, the number of tensors and the
number of fields; then the fields: a name, a type, a value. The length of a string or an array comes
before it; all numbers are little-endian.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import Any, NamedTuple

_STRING, _ARRAY = 8, 9
# By type: unsigned and signed integers, floats, and a boolean.
_NUMBERS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}


class Field(NamedTuple):
    value: Any
    type: int
    inner: int | None  # the type of an array's elements


class Header(NamedTuple):
    tensors: int  # their number
    fields: dict[str, Field]


def read_header(path: str | Path) -> Header:
    with open(path, "rb") as file:
        start = file.read(24).ljust(24, b"\0")
        magic, version, tensors, count = struct.unpack("<4sIQQ", start)
        if magic != b"GGUF" or not 2 <= version <= 3:
            raise ValueError(f"{path}: no GGUF file of version 2 or 3, little-endian")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            reader = _Reader(data, 24)
            try:
                return Header(tensors, dict(reader.field() for _ in range(count)))
            except (struct.error, KeyError, UnicodeDecodeError) as error:
                raise ValueError(f"{path}: a damaged GGUF file; convert it again") from error


class _Reader:
    def __init__(self, data: mmap.mmap, at: int) -> None:
        self._data, self._at = data, at

    def field(self) -> tuple[str, Field]:
        name, type = self._string(), self._number("I")
        if type != _ARRAY:
            return name, Field(self._value(type), type, None)
        inner, count = self._number("I"), self._number("Q")
        return name, Field(self._array(inner, count), type, inner)

    def _value(self, type: int) -> Any:
        return self._string() if type == _STRING else self._number(_NUMBERS[type])

    def _array(self, inner: int, count: int) -> list[Any]:
        if inner == _STRING:
            return [self._string() for _ in range(count)]
        layout = f"<{count}{_NUMBERS[inner]}"
        values = struct.unpack_from(layout, self._data, self._at)
        self._at += struct.calcsize(layout)
        return list(values)

    def _string(self) -> str:
        size = self._number("Q")
        text = self._data[self._at : self._at + size]
        if len(text) < size:
            raise struct.error("the file ends inside a string")
        self._at += size
        return text.decode()

    def _number(self, code: str) -> Any:
        (value,) = struct.unpack_from(f"<{code}", self._data, self._at)
        self._at += struct.calcsize(f"<{code}")
        return value
