"""Read a test file, or take the first documents of a corpus."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

import zstandard

from ...common.files import whole_file
from ...corpus import open_corpus


def read_text(path: str | os.PathLike[str]) -> str:
    """A test file as one text, with its own line ends."""
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def write_first(corpus: Path, documents: int, out: Path) -> None:
    """Write the first documents of a corpus to a file, as packed JSON lines."""
    packer = zstandard.ZstdCompressor()
    with whole_file(out) as file, packer.stream_writer(file, closefd=False) as packed:
        for text in itertools.islice(open_corpus(corpus), documents):
            packed.write(json.dumps({"text": text}, ensure_ascii=False).encode() + b"\n")
