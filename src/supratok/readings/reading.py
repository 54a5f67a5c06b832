"""What a reading of the training documents counts, as data.

A reading says what to count in the documents: the runs of these words, the uses of these tokens. It
makes its empty table anywhere, in this process or on another machine, to which it travels as a
plan. Tables of one reading over parts of the documents add up to the table over all of them.

    table = text.read(Runs(units, pairs, floor))
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from ..common import _core
from ..counts import CountsFile, Member

Documents: TypeAlias = Iterable[str | _core.Lines]  # or a store
Show: TypeAlias = Callable[[int], object]  # takes the bytes done
# Everything that decides a reading: plain JSON values, lists of texts, and arrays.
Plan: TypeAlias = dict[str, Any]
Table = TypeVar("Table")

# Choice: 2**24 counters of 32 bits, 64 MB, bound the counts of pairs (core/pair_sketch.hpp).
SKETCH_BITS = 24


@dataclass(frozen=True)
class Room:
    """The memory that a table may take, in bytes, before it goes on in files of this folder, which
    so many threads merge; None: no limit."""

    bytes: int | None = None
    folder: str = ""
    threads: int = 1

    def limit(self, table: _core.RunTable | _core.Neighbours | _core.WordTable) -> None:
        if self.bytes is not None:
            table.limit(self.bytes, self.folder, self.threads)


class Reading(ABC, Generic[Table]):
    """What to count. `phase` is its name, in progress and in files."""

    phase: ClassVar[str]

    @abstractmethod
    def table(self, room: Room) -> Table:
        """A new, empty table."""

    @abstractmethod
    def count(self, table: Table, documents: Documents, threads: int, show: Show) -> None:
        """Count documents. `show` is called if they are a store."""

    @abstractmethod
    def members(self, table: Table) -> Mapping[str, Member]:
        """What was counted, for a counts file."""

    @abstractmethod
    def add(self, table: Table, counted: CountsFile) -> None:
        """Add what was counted elsewhere."""

    @abstractmethod
    def plan(self) -> Plan: ...

    @classmethod
    @abstractmethod
    def of_plan(cls, plan: Mapping[str, Any]) -> Reading[Table]: ...

    def facts(self, table: Table) -> dict[str, int]:
        """For the progress display, at the end."""
        return {}
