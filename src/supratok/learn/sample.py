"""What a corpus is like, and how fast this machine is, from the beginnings of some files."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..common import _core
from ..corpus import open_corpus

_FILES = 16  # that are read, spread over the corpus
_BYTES = 2_000_000  # of text, from each
_SECONDS = 4.0  # for all of them, roughly
_PORTION = 250_000  # characters that are counted at once
_LEAST = 1_000_000  # bytes of text that tell how fast a machine is
# Measured on `en100k` with one thread, on the machine of learn/estimate.py, 2026-11-16: seconds to
# read and count a megabyte, as is done here.
_USUAL = 0.035


class Sample(NamedTuple):
    bytes_read: int  # of files
    bytes: int  # of text
    documents: int
    seconds: float  # of one core, to read and count them

    @property
    def unpacked(self) -> float:
        """Bytes of text for each byte on disk."""
        return self.bytes / max(self.bytes_read, 1)

    @property
    def mean(self) -> float:
        """Bytes of a document."""
        return self.bytes / max(self.documents, 1)

    @property
    def slowness(self) -> float:
        """How many times slower than usual this text is counted on this machine."""
        if self.bytes < _LEAST:
            return 1.0
        return self.seconds / self.bytes * 1e6 / _USUAL


def take_sample(files: Sequence[str], options: Mapping[str, Any]) -> Sample:
    """Read and count the beginnings of files. `options`: of `open_corpus`."""
    until, samples = time.monotonic() + _SECONDS, list[Sample]()
    table = _core.WordTable(20)
    for file in files[:: -(-len(files) // _FILES)]:
        samples.append(_beginning(file, options, table, until))
        if time.monotonic() > until:
            break
    read, size, documents, seconds = map(sum, zip(*samples, strict=True))
    return Sample(int(read), int(size), int(documents), seconds)


def _beginning(
    file: str, options: Mapping[str, Any], table: _core.WordTable, until: float
) -> Sample:
    began, size, documents, waiting = time.process_time(), 0, 0, 0
    portion: list[str] = []
    with open_corpus([Path(file)], **options) as corpus:
        for text in corpus:
            portion.append(text)
            documents += 1
            waiting += len(text)
            if waiting >= _PORTION:
                size += _counted(portion, table)
                portion, waiting = [], 0
                if size >= _BYTES or time.monotonic() > until:
                    break
        size += _counted(portion, table)
        read = corpus.bytes_read
    return Sample(read, size, documents, time.process_time() - began)


def _counted(texts: list[str], table: _core.WordTable) -> int:
    """Count texts; returns their size in bytes."""
    table.count(texts, 1)
    return sum(len(text.encode()) for text in texts)
