"""Runs: the longest sequences of neighbouring words that are known (one token each) and may join.

    known " the" " end" ".":    "In the end. At the end"  ->  " the" " end" "." | " the" " end"

Runs are short and repeat, so a table of unique runs with their counts is small.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..common.progress import Progress
from ..corpus.split import Split
from ..recipe import Recipe
from .count import SKETCH_BITS
from .words import UNSPACED, joints


def count_runs(
    split: Split,
    words: _core.WordTable,
    known: list[str],
    recipe: Recipe,
    floor: int,
    threads: int,
    progress: Progress,
    pieces: _core.Encoder | None = None,
) -> tuple[_core.RunTable, NDArray[np.int64]]:
    """The runs of known words, and the count of each known word. Pairs rarer than `floor` end a
    run. `pieces` encodes the other words, so that their pieces can join: in scripts without spaces,
    or everywhere if the recipe does not ask for whole words."""
    scripts = list(UNSPACED) if recipe.boundaries.whole_words else list(range(256))
    table = _core.RunTable(known, words, joints(recipe), floor, pieces, scripts)
    counts = words.counts_of(known)
    if pieces is not None:
        counts = table.bound_units(split.texts("pieces"), threads, SKETCH_BITS, split.show)
        progress.end()
    table.count(split.texts("runs"), threads, split.show)
    progress.end(runs=len(table))
    return table, counts
