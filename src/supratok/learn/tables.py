"""Tables of counts on disk: write them, read them and add them up.

Counts of words and runs have 64 bits, and adding is commutative; so tables counted in pieces, on
several machines or on several days, add up to the table of the whole:

    words = _core.WordTable(SKETCH_BITS)
    for piece in ("monday.npz", "tuesday.npz"):
        add(words, piece)

A file is a NumPy archive: the texts end to end as UTF-8, their sizes, their counts, and for words
the sketch of neighbouring pairs. The same table gives the same bytes.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from ..common import _core

# Choice: 2**24 counters of 32 bits, 64 MB, bound the counts of word pairs; see core/counts.hpp.
SKETCH_BITS = 24


def save(table: _core.WordTable | _core.RunTable, path: str | os.PathLike[str]) -> None:
    """Write a table of counts."""
    texts, counts = table.rows()
    encoded = [text.encode() for text in texts]
    arrays = {
        "texts": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        "sizes": np.array([len(text) for text in encoded], dtype=np.uint32),
        "counts": counts,
    }
    if isinstance(table, _core.WordTable):
        arrays["sketch"] = table.sketch()
    with Path(path).open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # its stub forgets files


def add(table: _core.WordTable | _core.RunTable, path: str | os.PathLike[str]) -> None:
    """Add the counts of a file to a table."""
    with np.load(path, allow_pickle=False) as arrays:
        if isinstance(table, _core.WordTable) != ("sketch" in arrays):
            here, there = (
                ("words", "runs") if isinstance(table, _core.WordTable) else ("runs", "words")
            )
            raise ValueError(f"{path}: a table of {there} cannot be added to a table of {here}")
        data, ends = arrays["texts"].tobytes(), np.cumsum(arrays["sizes"], dtype=np.int64)
        starts = ends - arrays["sizes"]
        texts = [data[a:b].decode() for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
        table.add_rows(texts, arrays["counts"])
        if isinstance(table, _core.WordTable):
            table.add_sketch(arrays["sketch"])
