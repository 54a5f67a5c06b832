"""The formats that trainers read: the files of a shard, and how documents are written to them.

numpy      .bin: the ids, and nothing else, as uint16 if the vocabulary fits, else uint32. nanoGPT
           and OLMo map such files into memory.
megatron   .bin: the ids, as uint16 or int32; .idx: where each document lies. Megatron-LM calls the
           pair an indexed dataset.
parquet    .parquet: a row for each document, with the column input_ids.

Everything is little-endian, on any machine.
"""

from __future__ import annotations

import struct
from typing import BinaryIO, ClassVar, Protocol

import numpy as np

from ..common.packages import package, require
from .encoding import Flat, Lengths


class Writer(Protocol):
    """Writes one shard to its files, which are open."""

    suffixes: ClassVar[tuple[str, ...]]  # of the files

    @staticmethod
    def dtype(vocab_size: int) -> str:
        """The type of the ids, by its name in numpy."""
        ...

    def __init__(self, files: list[BinaryIO], dtype: str) -> None: ...
    def add(self, ids: Flat, lengths: Lengths) -> None:
        """Write documents; their grouping into calls does not change the files."""
        ...

    def finish(self) -> None: ...


class Numpy(Writer):
    suffixes = (".bin",)

    @staticmethod
    def dtype(vocab_size: int) -> str:
        return "uint16" if vocab_size <= 1 << 16 else "uint32"

    def __init__(self, files: list[BinaryIO], dtype: str) -> None:
        self._file = files[0]

    def add(self, ids: Flat, lengths: Lengths) -> None:
        self._file.write(ids.data)

    def finish(self) -> None:
        pass


class Megatron(Writer):
    """Version 1 of the index: a header; for each document the number of its ids (int32) and the
    byte where they begin (int64); the numbers of the documents, from 0 to their count (int64).
    (Megatron knows sequences and documents, of several sequences; here each is one.)"""

    suffixes = (".bin", ".idx")
    _CODES: ClassVar = {"uint16": 8, "int32": 4}

    @staticmethod
    def dtype(vocab_size: int) -> str:
        return "uint16" if vocab_size < 65_500 else "int32"  # Megatron's own limit

    def __init__(self, files: list[BinaryIO], dtype: str) -> None:
        self._file, self._index = files
        self._dtype = dtype
        self._lengths: list[Lengths] = []

    def add(self, ids: Flat, lengths: Lengths) -> None:
        self._file.write(ids.data)
        self._lengths.append(lengths)

    def finish(self) -> None:
        lengths = np.concatenate(self._lengths)
        count, begins = len(lengths), np.cumsum(lengths) - lengths
        version, code = 1, self._CODES[self._dtype]
        self._index.write(struct.pack("<9sQBQQ", b"MMIDIDX", version, code, count, count + 1))
        self._index.write(lengths.astype("<i4").data)
        self._index.write((begins * np.dtype(self._dtype).itemsize).astype("<i8").data)
        self._index.write(np.arange(count + 1, dtype="<i8").data)


class Parquet(Writer):
    suffixes = (".parquet",)
    _GROUP = 4 << 20  # ids after which a group of rows ends

    @staticmethod
    def dtype(vocab_size: int) -> str:
        return "int32"

    def __init__(self, files: list[BinaryIO], dtype: str) -> None:
        self._arrow = package("pyarrow", "parquet")
        self._schema = self._arrow.schema([("input_ids", self._arrow.list_(self._arrow.int32()))])
        # Ids hardly repeat next to each other: a dictionary takes time and saves nothing.
        self._writer = package("pyarrow.parquet", "parquet").ParquetWriter(
            files[0], self._schema, compression="zstd", use_dictionary=False
        )
        self._held: list[tuple[Flat, Lengths]] = []
        self._size = 0

    def add(self, ids: Flat, lengths: Lengths) -> None:
        self._held.append((ids, lengths))
        self._size += len(ids)
        while self._size >= self._GROUP:
            ids, lengths = self._joined()
            ends = np.cumsum(lengths)
            count = int(np.searchsorted(ends, self._GROUP)) + 1
            end = ends[count - 1]
            self._write(ids[:end], lengths[:count])
            self._held, self._size = [(ids[end:], lengths[count:])], len(ids) - end

    def _joined(self) -> tuple[Flat, Lengths]:
        ids, lengths = zip(*self._held, strict=True)
        return np.concatenate(ids), np.concatenate(lengths)

    def _write(self, ids: Flat, lengths: Lengths) -> None:
        borders = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        rows = self._arrow.ListArray.from_arrays(borders, ids)
        table = self._arrow.Table.from_arrays([rows], schema=self._schema)
        self._writer.write_table(table, row_group_size=len(lengths))

    def finish(self) -> None:
        if self._size:
            self._write(*self._joined())
        self._writer.close()


FORMATS: dict[str, type[Writer]] = {"numpy": Numpy, "megatron": Megatron, "parquet": Parquet}


def writer_of(name: str) -> type[Writer]:
    """The writer of a format, if its package is there."""
    if name not in FORMATS:
        raise ValueError(f"output_format={name!r}: must be one of {', '.join(FORMATS)}")
    if name == "parquet":
        require("parquet", "pyarrow")
    return FORMATS[name]
