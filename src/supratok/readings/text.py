"""The training text, as the passes see it: totals, held-out samples, and tables counted over it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..common import _core
from ..corpus.split import HeldOut, Totals
from ..recipe import Recipe
from .reading import Reading, Table


@dataclass
class LanguageWords:
    """The words of the documents in one language."""

    # Nobody asks for its pairs, so the sketch is small.
    table: _core.WordTable = field(default_factory=lambda: _core.WordTable(10))
    documents: int = 0


Words = tuple[_core.WordTable, dict[str, LanguageWords]]


class TrainingText(ABC):
    """`words` comes first; totals and samples are there when it returns."""

    totals: Totals
    deciding: HeldOut
    measuring: HeldOut

    @abstractmethod
    def words(self, recipe: Recipe) -> Words:
        """The words of the training documents; and again those of Turkish and of Finnish documents,
        if the recipe has rules for them."""

    @abstractmethod
    def read(self, reading: Reading[Table]) -> Table:
        """The table of a reading over the training documents."""

    @abstractmethod
    def again(self, phase: str) -> Iterable[str]:
        """The training documents themselves, for what is no reading."""

    def deciding_texts(self) -> list[str]:
        """A sample of the held-out half that decides (which tokens to prune, which to swap)."""
        return self.deciding.documents if self.totals.held_out_documents else []

    def measuring_texts(self) -> list[str]:
        """A sample of the other half: it decides nothing, so the result is measured on it."""
        return self.measuring.documents if self.totals.held_out_documents else []
