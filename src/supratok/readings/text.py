"""The training text, as the passes see it: totals, held-out samples, and tables counted over it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..common import _core
from ..corpus.split import Found
from ..recipe import Recipe
from .reading import Reading, Table


@dataclass
class LanguageWords:
    """The words of the documents in one language."""

    # Nobody asks for its pairs, so the sketch is small.
    table: _core.WordTable = field(default_factory=lambda: _core.WordTable(10))
    documents: int = 0


Words = tuple[_core.WordTable, dict[str, LanguageWords]]


def refuse_rereading(recipe: Recipe) -> None:
    """Where the text is elsewhere, refuse a recipe that reads it for more than counts."""
    if recipe.expressions is not None and recipe.crossover != 1.0:
        raise ValueError(
            "the expression pass reads the text itself: train on the text, with engine='local', or"
            " by a recipe without expressions"
        )


class TrainingText(Found, ABC):
    """`words` comes first; totals and samples are there when it returns."""

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
