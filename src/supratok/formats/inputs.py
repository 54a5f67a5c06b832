"""Find and read the file of a tokenizer, compressed (`.zst`) or not."""

from __future__ import annotations

import os
from pathlib import Path

import zstandard


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


def read_file(path: Path) -> bytes:
    """The content, decompressed if the name ends in .zst."""
    packed = path.read_bytes()
    if path.suffix != ".zst":
        return packed
    data, why = b"", "its end is missing"
    try:
        while packed:  # frame after frame
            unpacker = zstandard.ZstdDecompressor().decompressobj()
            data += unpacker.decompress(packed)
            packed = unpacker.unused_data
            if not unpacker.eof:
                break
        else:
            return data
    except zstandard.ZstdError as error:
        why = str(error)
    raise ValueError(f"{path}: a damaged archive ({why}); download or compress it again")
