"""Runs: the longest sequences of neighbouring words that are known (one token each) and may join.

    known " the" " end" ".":    "In the end. At the end"  ->  " the" " end" "." | " the" " end"

Runs are short and repeat, so a table of unique runs with their counts is small.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..counts import CountsFile, Member
from ..recipe import Recipe
from ..tokenizer import encoder_of
from .joints import UNSPACED, joints
from .reading import SKETCH_BITS, Documents, Plan, Reading, Room, Show


@dataclass
class Units:
    """The words that may join, and how the other words are cut: into the tokens of `pieces`, in the
    scripts without spaces, or everywhere if the recipe does not ask for whole words."""

    recipe: Recipe
    known: list[str]
    pieces: list[str] | None = None  # the entries of the encoder that cuts

    def __post_init__(self) -> None:
        encoder = encoder_of(self.pieces, fewest=False) if self.pieces else None
        whole = self.recipe.boundaries.whole_words
        scripts = list(UNSPACED) if whole else list(range(256))
        self.core = _core.Units(self.known, joints(self.recipe), encoder, scripts)

    def plan(self) -> Plan:
        return {"recipe": self.recipe.to_dict(), "known": self.known, "pieces": self.pieces}

    @classmethod
    def of_plan(cls, plan: Mapping[str, Any]) -> Units:
        return cls(Recipe.from_dict(plan["recipe"]), plan["known"], plan["pieces"])


@dataclass
class UnitBounds:
    """How often each unit was seen, and a bound for each pair of neighbouring units."""

    uses: NDArray[np.int64]
    pairs: _core.PairSketch


@dataclass
class Pieces(Reading[UnitBounds]):
    """Bounds the pairs of units, where words are cut into pieces: the bounds of the first reading
    hold for pairs of words only."""

    phase = "pieces"
    units: Units

    def table(self, room: Room) -> UnitBounds:
        uses = np.zeros(len(self.units.known), dtype=np.int64)
        return UnitBounds(uses, _core.PairSketch(SKETCH_BITS))

    def count(self, table: UnitBounds, documents: Documents, threads: int, show: Show) -> None:
        table.uses += self.units.core.bound_pairs(documents, threads, table.pairs, show)

    def members(self, table: UnitBounds) -> Mapping[str, Member]:
        return {"uses.npy": table.uses, "pairs.npy.zst": table.pairs.counters()}

    def add(self, table: UnitBounds, counted: CountsFile) -> None:
        table.uses += counted.array("uses")
        table.pairs.add(counted.array("pairs"))

    def plan(self) -> Plan:
        return self.units.plan()

    @classmethod
    def of_plan(cls, plan: Mapping[str, Any]) -> Pieces:
        return cls(Units.of_plan(plan))


@dataclass
class Runs(Reading[_core.RunTable]):
    """Counts the runs of units; pairs rarer than `floor` end a run. `pairs` bounds pairs of words,
    or, with `of_units`, of units."""

    phase = "runs"
    units: Units
    pairs: _core.PairSketch
    floor: int
    of_units: bool

    def table(self, room: Room) -> _core.RunTable:
        table = _core.RunTable(self.units.core, self.pairs, self.floor, self.of_units)
        room.limit(table)
        return table

    def count(self, table: _core.RunTable, documents: Documents, threads: int, show: Show) -> None:
        table.count(documents, threads, show)

    def members(self, table: _core.RunTable) -> Mapping[str, Member]:
        return {"runs.rows": table.rows_blocks()}

    def add(self, table: _core.RunTable, counted: CountsFile) -> None:
        for block in counted.rows("runs"):
            table.add_rows(block)

    def plan(self) -> Plan:
        more = {"pairs": self.pairs.counters(), "floor": self.floor, "of_units": self.of_units}
        return self.units.plan() | more

    @classmethod
    def of_plan(cls, plan: Mapping[str, Any]) -> Runs:
        pairs = _core.PairSketch(SKETCH_BITS)
        pairs.add(plan["pairs"])
        return cls(Units.of_plan(plan), pairs, plan["floor"], plan["of_units"])

    def facts(self, table: _core.RunTable) -> dict[str, int]:
        return {"runs": len(table)}


@dataclass
class Stretches(Reading[_core.WordTable]):
    """Counts whole stretches of text, for training without the curriculum."""

    phase = "stretches"
    recipe: Recipe

    def table(self, room: Room) -> _core.WordTable:
        table = _core.WordTable(1, self.recipe.scripts is not None, joints(self.recipe))
        room.limit(table)
        return table

    def count(self, table: _core.WordTable, documents: Documents, threads: int, show: Show) -> None:
        table.count(documents, threads, progress=show)

    def members(self, table: _core.WordTable) -> Mapping[str, Member]:
        return {"stretches.rows": table.rows_blocks()}

    def add(self, table: _core.WordTable, counted: CountsFile) -> None:
        for block in counted.rows("stretches"):
            table.add_rows(block)

    def plan(self) -> Plan:
        return {"recipe": self.recipe.to_dict()}

    @classmethod
    def of_plan(cls, plan: Mapping[str, Any]) -> Stretches:
        return cls(Recipe.from_dict(plan["recipe"]))

    def facts(self, table: _core.WordTable) -> dict[str, int]:
        return {"stretches": len(table)}
