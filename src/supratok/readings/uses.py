"""How an encoder encodes the documents: the uses of its entries, and which are neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..common import _core
from ..counts import CountsFile, Member
from ..tokenizer import encoder_of
from .reading import SKETCH_BITS, Documents, Plan, Reading, Room, Show


@dataclass
class Usage(Reading[_core.Survey]):
    """Counts how often an encoder uses each of its entries, and in how many documents. With `pairs`
    it also bounds how often two entries are neighbours, for `Neighbours`."""

    entries: list[str]
    fewest: bool
    pairs: bool = False
    counts: list[int] | None = field(default=None, repr=False)  # they only affect the speed
    phase: str = "uses"  # type: ignore[misc]  # by what asks for it

    def __post_init__(self) -> None:
        self.encoder = encoder_of(self.entries, self.fewest, self.counts)
        self.encoded: _core.Encoded | None = None  # the documents, where they are a store

    def table(self, room: Room) -> _core.Survey:
        return _core.Survey(self.encoder, SKETCH_BITS if self.pairs else 0)

    def count(self, table: _core.Survey, documents: Documents, threads: int, show: Show) -> None:
        if self.pairs and isinstance(documents, _core.Store):
            self.encoded = _core.Encoded()
        table.count(documents, threads, show, self.encoded)

    def members(self, table: _core.Survey) -> Mapping[str, Member]:
        pairs = {} if table.pairs is None else {"pairs.npy.zst": table.pairs.counters()}
        return {"uses.npy": table.uses(), "documents.npy": table.documents(), **pairs}

    def add(self, table: _core.Survey, counted: CountsFile) -> None:
        table.add(counted.array("uses"), counted.array("documents"))
        if table.pairs is not None:
            table.pairs.add(counted.array("pairs"))

    def plan(self) -> Plan:
        return {"entries": self.entries, "fewest": self.fewest, "with_pairs": self.pairs}

    @classmethod
    def of_plan(cls, plan: Mapping[str, Any]) -> Usage:
        return cls(plan["entries"], plan["fewest"], plan["with_pairs"])


@dataclass
class Neighbours(Reading[_core.Neighbours]):
    """Counts the pairs of neighbouring entries that were seen `floor` times or more. `survey` is
    what `usage` counted."""

    phase = "neighbours"
    usage: Usage
    survey: _core.Survey
    floor: int

    def table(self, room: Room) -> _core.Neighbours:
        table = _core.Neighbours(self.survey, self.floor)
        room.limit(table)
        return table

    def count(
        self, table: _core.Neighbours, documents: Documents, threads: int, show: Show
    ) -> None:
        encoded = self.usage.encoded
        table.count(documents if encoded is None else encoded, threads, show)

    def members(self, table: _core.Neighbours) -> Mapping[str, Member]:
        return {"neighbours.rows": table.rows_blocks()}

    def add(self, table: _core.Neighbours, counted: CountsFile) -> None:
        for block in counted.rows("neighbours"):
            table.add_rows(block)

    def plan(self) -> Plan:
        return {**self.usage.plan(), "bounds": _bounds(self.survey).counters(), "floor": self.floor}

    @classmethod
    def of_plan(cls, plan: Mapping[str, Any]) -> Neighbours:
        usage = Usage.of_plan(plan)
        survey = usage.table(Room())
        _bounds(survey).add(plan["bounds"])
        return cls(usage, survey, plan["floor"])


def _bounds(survey: _core.Survey) -> _core.PairSketch:
    if survey.pairs is None:
        raise ValueError("neighbours need a survey with bounds for pairs: Usage(..., pairs=True)")
    return survey.pairs
