"""Runs of known words, with the counts of these words (readings/runs.py says what a run is)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..readings import Pieces, Runs, TrainingText, Units


def count_runs(
    text: TrainingText, words: _core.WordTable, units: Units, floor: int
) -> tuple[_core.RunTable, NDArray[np.int64]]:
    """The runs of units, and how often each known word was seen, as a word or a piece. Pairs rarer
    than `floor` end a run."""
    if units.pieces is None:
        return text.read(Runs(units, words.pairs, floor, of_units=False)), words.counts_of(
            units.known
        )
    bounds = text.read(Pieces(units))
    return text.read(Runs(units, bounds.pairs, floor, of_units=True)), bounds.uses
