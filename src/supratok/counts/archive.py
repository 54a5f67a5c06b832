"""Counts files: a ZIP archive of tables, arrays and samples (docs/counts.md).

    write_counts(path, About("words", ...), {"words.rows": table.rows_blocks(), ...})
    file = read_counts(path)
    for block in file.rows("words"):
        table.add_rows(block)

What a reader gets was checked; damage is a ValueError that names the file.
"""

from __future__ import annotations

import contextlib
import errno
import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..common.files import whole_file
from .about import About
from .sample import Sample

SUFFIX = ".counts"
_ABOUT = "about.json"
_HEADER = struct.Struct("<3I")  # of a block of rows: the size of its body, its rows, its CRC-32
_MOST = 0xF0000000  # where counters of uint32 stop (core/pair_sketch.hpp)
_PORTION = 1 << 20

# What Python says of an archive that is none.
_DAMAGE = (zipfile.BadZipFile, EOFError, NotImplementedError, struct.error)

Array = NDArray[Any]
Member = Iterable[bytes] | Array | Sample


# --- Writing -----------------------------------------------------------------------------------


def write_counts(path: Path, about: About, members: Mapping[str, Member]) -> None:
    """Write a counts file, whole or not at all. The suffixes of `members` say what they are:

    .rows  blocks of rows         .docs  a `Sample`
    .npy   an array               .npy.zst  the same, packed: for sketches with many zeros
    """
    with whole_file(path) as file:
        summed = _Summed(file)
        with zipfile.ZipFile(summed, "w") as archive:
            archive.comment = summed.placeholder
            _write_member(archive, _ABOUT, [about.to_json().encode()])
            for name in sorted(members):
                _write_member(archive, name, _chunks(name, members[name]))
        summed.finish()


class _Summed:
    """Passes on what is written. The archive ends with a comment, the CRC-32 of all before it."""

    placeholder = b"00000000"

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._crc, self._held = file, 0, b""

    def write(self, data: bytes) -> int:
        self._held += data
        passed, self._held = self._held[:-8], self._held[-8:]
        self._crc = zlib.crc32(passed, self._crc)
        self._file.write(passed)
        return len(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def finish(self) -> None:
        assert self._held == self.placeholder
        self._file.write(b"%08x" % self._crc)


def _write_member(archive: zipfile.ZipFile, name: str, chunks: Iterable[bytes]) -> None:
    info = zipfile.ZipInfo(name)  # of a fixed date: equal counts are equal files
    with archive.open(info, "w", force_zip64=True) as member:
        for chunk in chunks:
            member.write(chunk)


def _chunks(name: str, member: Member) -> Iterable[bytes]:
    if name.endswith(".rows") and not isinstance(member, (np.ndarray, Sample)):
        return member
    if name.endswith(".docs") and isinstance(member, Sample):
        return member.lines()
    if name.endswith((".npy", ".npy.zst")) and isinstance(member, np.ndarray):
        return _packed(_npy(member)) if name.endswith(".zst") else _npy(member)
    raise ValueError(
        f"{name}: {type(member).__name__}; blocks of rows are NAME.rows, a Sample NAME.docs, an"
        " array NAME.npy or NAME.npy.zst"
    )


def _npy(array: Array) -> Iterator[bytes]:
    if array.dtype not in (np.int64, np.uint32):
        raise ValueError(f"an array of {array.dtype}: only int64 and uint32 add up")
    head = {"descr": array.dtype.newbyteorder("<").str, "fortran_order": False}
    yield _npy_header({**head, "shape": array.shape})
    flat = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1)
    for start in range(0, len(flat), _PORTION):
        yield flat[start : start + _PORTION].tobytes()


def _npy_header(values: dict[str, object]) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, values)
    return out.getvalue()


def _packed(chunks: Iterable[bytes]) -> Iterator[bytes]:
    import zstandard

    packer = zstandard.ZstdCompressor(level=3).compressobj()
    for chunk in chunks:
        yield packer.compress(chunk)
    yield packer.flush()


# --- Reading -----------------------------------------------------------------------------------


def read_counts(path: Path) -> CountsFile:
    return CountsFile(path)


class CountsFile:
    """A counts file to read from: `about` was read, the members are read when asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._naming(), zipfile.ZipFile(path) as archive:
            if _ABOUT not in archive.namelist():
                raise ValueError(f"{path}: no counts file (it has no {_ABOUT})")
            for info in archive.infolist():
                if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
                    raise zipfile.BadZipFile(f"{info.filename} is packed or encrypted")
            self.about = About.from_json(archive.read(_ABOUT), path)
            self.sizes = {i.filename: i.file_size for i in archive.infolist()}
            del self.sizes[_ABOUT]

    def rows(self, name: str) -> Iterator[bytes]:
        """The blocks of the member NAME.rows."""
        with self._open(f"{name}.rows") as file:
            left = self.sizes[f"{name}.rows"]
            while head := file.read(_HEADER.size):
                left -= _HEADER.size
                size, _, crc = _HEADER.unpack(head) if left >= 0 else (left + 1, 0, 0)
                if size > left:
                    raise ValueError(f"{self.path}: damaged ({name}.rows is cut short)")
                body = file.read(size)
                left -= size
                if zlib.crc32(body, zlib.crc32(head[:8])) != crc:
                    raise ValueError(f"{self.path}: damaged (a block of {name}.rows)")
                yield head + body

    def array(self, name: str) -> Array:
        """The member NAME.npy or NAME.npy.zst."""
        import zstandard

        packed = f"{name}.npy" not in self.sizes
        with self._open(f"{name}.npy.zst" if packed else f"{name}.npy") as file:
            data = file.read()  # the archive checks its sum
        with self._naming():
            try:
                if packed:
                    return _read_array(zstandard.ZstdDecompressor().stream_reader(data))
                return _read_array(io.BytesIO(data))
            except (ValueError, zstandard.ZstdError) as error:
                raise ValueError(f"{self.path}: {name}: {error}") from error

    def sample(self, name: str) -> Sample:
        """The member NAME.docs."""
        sample = self.streamed_sample(name)
        sample.documents = list(sample.documents)
        return sample

    def streamed_sample(self, name: str) -> Sample:
        """The same; documents are read as one asks for them."""
        with self._open(f"{name}.docs") as file:  # whoever asks for a few does not see the sum
            while file.read(_PORTION):
                pass
        return Sample.from_lines(self._lines(f"{name}.docs"))

    def _lines(self, member: str) -> Iterator[bytes]:
        with self._open(member) as file:
            yield from file

    @contextlib.contextmanager
    def _open(self, member: str) -> Iterator[IO[bytes]]:
        if member not in self.sizes:
            raise ValueError(f"{self.path}: has no {member}; it has {', '.join(self.sizes)}")
        with self._naming(), zipfile.ZipFile(self.path) as archive, archive.open(member) as file:
            yield file

    @contextlib.contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except (*_DAMAGE, OSError) as error:
            if isinstance(error, OSError) and error.errno != errno.EINVAL:  # a place before 0
                raise
            raise ValueError(
                f"{self.path}: damaged, or no counts file ({error}); make it again"
            ) from error


def _read_array(file: IO[bytes]) -> Array:
    """As NumPy's files."""
    version = np.lib.format.read_magic(file)
    if version != (1, 0):
        raise ValueError(f"an array of .npy version {version}; version 1.0 is needed")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    if fortran or dtype not in (np.int64, np.uint32):
        raise ValueError(f"an array of {dtype}: only int64 and uint32 in C order add up")
    array = np.empty(int(np.prod(shape)), dtype)
    view, at = array.view(np.uint8), 0
    while at < len(view) and (chunk := file.read(min(_PORTION, len(view) - at))):
        view[at : at + len(chunk)] = np.frombuffer(chunk, np.uint8)
        at += len(chunk)
    if at != len(view) or file.read(1):
        raise ValueError("an array has another size than it says")
    return array.reshape(shape)


def verify_counts(path: Path) -> CountsFile:
    """Read a whole file; raise if any byte is not as it was written."""
    file = read_counts(path)
    crc, held = 0, b""
    with path.open("rb") as whole:
        while data := whole.read(_PORTION):
            held += data
            crc, held = zlib.crc32(held[:-8], crc), held[-8:]
    if held != b"%08x" % crc:
        raise ValueError(f"{path}: damaged (its checksum is {held!r}, not {crc:08x})")
    return file


def add_array(total: Array, more: Array) -> None:
    """Add in place. Counters of uint32 stop at 0xf0000000."""
    if total.shape != more.shape or total.dtype != more.dtype:
        raise ValueError(
            f"arrays of {total.dtype}{total.shape} and {more.dtype}{more.shape} do not add up"
        )
    if total.dtype == np.int64:
        total += more
        return
    one, other = total.reshape(-1), more.reshape(-1)
    for start in range(0, len(one), _PORTION):
        part = slice(start, start + _PORTION)
        one[part] = np.minimum(one[part].astype(np.uint64) + other[part], _MOST)
