"""Small corpora in every format, and functions that read them."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from supratok.corpus import CorpusError, open_corpus

TEXTS = ["plain", "two words", "çé 日本 😀", ' "quoted" \\ back', "x" * 5000]
SKIP = "pass --skip-bad / skip_bad=True to leave such records out and count them"

PACK: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".bz2": lambda data: bz2.compress(data, 1),
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}
packings = pytest.mark.parametrize("packing", PACK)
archives = pytest.mark.parametrize("packing", [".gz", ".bz2", ".xz", ".zst"])


def as_json(texts: list[str], key: str = "text") -> bytes:
    return "".join(json.dumps({key: text, "id": 1}) + "\n" for text in texts).encode()


def as_parquet(columns: dict[str, Any], **options: Any) -> bytes:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    parquet.write_table(arrow.table(columns), file, **options)
    return file.getvalue()


def twice(source: Any, **options: Any) -> list[str]:
    """The documents of two readings, which must be equal."""
    with open_corpus(source, **options) as documents:
        first = list(documents)
        assert list(documents) == first
    return first


def message(source: Any, **options: Any) -> str:
    """The message of the CorpusError that reading must raise."""
    with pytest.raises(CorpusError) as caught, open_corpus(source, **options) as documents:
        list(documents)
    return str(caught.value)


def skips(source: Any, **options: Any) -> tuple[list[str], dict[str, int]]:
    """The documents read with `skip_bad`, and the counts of skipped ones; equal in two readings."""
    with open_corpus(source, skip_bad=True, **options) as documents:
        first = list(documents), dict(documents.skipped)
        assert (list(documents), dict(documents.skipped)) == first
    return first


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
