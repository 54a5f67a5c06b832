"""From the bytes of a file to unpacked blocks, in bounded memory."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any

from .faults import Fault

BLOCK = 1 << 16  # larger blocks are slower: each would be a fresh mapping of memory
# Choice: small blocks, since 4 bytes of zstd may unpack to 128 KiB. It costs no speed.
PACKED_BLOCK = 1 << 9


def _unpacker(packing: str) -> tuple[Callable[[], Any], type[Exception]]:
    """A function that makes a decompressor (with `decompress`, `eof`, `unused_data`), and the error
    that decompressors raise. The modules are imported here, since few corpora need each."""
    if packing == ".gz":
        return lambda: zlib.decompressobj(wbits=31), zlib.error
    if packing == ".bz2":
        import bz2

        return bz2.BZ2Decompressor, OSError
    if packing == ".xz":
        import lzma

        return lzma.LZMADecompressor, lzma.LZMAError
    import zstandard

    def zstd() -> Any:
        return zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()

    return zstd, zstandard.ZstdError


def unpacked(blocks: Iterator[bytes], packing: str) -> Iterator[bytes]:
    """Decompress. Members (frames, streams) that follow one another are one text."""
    new_unpacker, unpacking_error = _unpacker(packing)
    unpacker = new_unpacker()
    padding = b"\0" if packing in (".gz", ".xz") else b""  # these allow zeros after a member
    for block in blocks:
        while block:
            if unpacker.eof:
                block = block.lstrip(padding)
                if not block:
                    break
                unpacker = new_unpacker()
            try:
                yield from _pieces(unpacker, block)
            except unpacking_error as error:
                message = f"a corrupt archive ({error}); fetch or pack it again"
                raise Fault("corrupt archive", message) from error
            block = unpacker.unused_data if unpacker.eof else b""
    if not unpacker.eof:
        message = "a truncated archive (its end is missing); fetch or pack it again"
        raise Fault("truncated archive", message)


def _pieces(unpacker: Any, block: bytes) -> Iterator[bytes]:
    """What a block unpacks to, in blocks; bz2 and xz pack so densely that they stop in between."""
    if not hasattr(unpacker, "needs_input"):
        data = unpacker.decompress(block)
        for start in range(0, len(data), BLOCK):
            yield data[start : start + BLOCK]
        return
    while True:
        if data := unpacker.decompress(block, BLOCK):
            yield data
        if unpacker.eof or unpacker.needs_input:
            return
        block = b""
