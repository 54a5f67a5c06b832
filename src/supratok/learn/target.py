"""How a target text weighs: the half of it that decides, beside the training text.

A pass asks what a token is worth. Its uses in the target count as if the target were as large as
the training text, and the two mix by the share of the target:

    worth = (1 - share) * uses in training text + share * scale * uses in the target

Tried and dropped: to count less for what the target has once or twice, as n-gram models do. A lower
share gives the same gain for the same loss (docs/target.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..corpus.target import TargetText
from ..readings import Neighbours, Room, Usage
from ..tokenizer import BYTES

Pairs = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.int64]]  # left, right, how often


@dataclass(frozen=True)
class Aim:
    """The texts of the half that decides, and their share of all evidence. `scale` is the size of
    all other evidence in units of them."""

    texts: list[str]
    share: float
    scale: float
    threads: int

    @classmethod
    def of(
        cls, target: TargetText | None, share: float, evidence: float, threads: int
    ) -> Aim | None:
        """None without a target. `evidence`: the characters of all other text that decides."""
        if target is None:
            return None
        size = sum(map(len, target.deciding))
        return cls(target.deciding, share, evidence / max(1, size), threads)

    def mix(self, training: NDArray[np.float64], seen: NDArray[np.int64]) -> NDArray[np.float64]:
        """What is seen so often in the training text and so often in the target, together."""
        return np.asarray((1 - self.share) * training + self.share * self.scale * seen)

    def uses(self, encoder: _core.Encoder) -> NDArray[np.int64]:
        """How often the target uses each token."""
        return encoder.usage(self.texts, self.threads)[BYTES:]

    def tokens(self, encoder: _core.Encoder) -> int:
        return int(encoder.usage(self.texts, self.threads).sum())

    def neighbours(self, usage: Usage, floor: int) -> Pairs:
        """The pairs of neighbouring tokens that the target has `floor` times or more."""
        survey = usage.table(Room())
        usage.count(survey, self.texts, self.threads, _show_nothing)
        reading = Neighbours(usage, survey, floor)
        table = reading.table(Room())
        reading.count(table, self.texts, self.threads, _show_nothing)
        return table.rows()

    def join(
        self, training: Pairs, seen: Pairs, weight: float
    ) -> tuple[Pairs, NDArray[np.float64]]:
        """All pairs of both texts by falling worth, with the counts of both together, and their
        worth; `weight` times that of a use in the training text."""
        keys, places = np.unique(
            np.concatenate([_keys(training), _keys(seen)]), return_inverse=True
        )
        counts = np.zeros((2, len(keys)), dtype=np.int64)
        counts[0, places[: len(training[0])]] = training[2]
        counts[1, places[len(training[0]) :]] = seen[2]
        worth = self.mix(weight * counts[0], counts[1])
        order = np.lexsort((keys, -worth))
        keys, total = keys[order], counts.sum(axis=0)[order]
        lefts, rights = (keys >> 32).astype(np.uint32), (keys & 0xFFFFFFFF).astype(np.uint32)
        return (lefts, rights, total), worth[order]


def _keys(pairs: Pairs) -> NDArray[np.int64]:
    return np.asarray(pairs[0].astype(np.int64) << 32 | pairs[1].astype(np.int64))


def _show_nothing(_: int) -> None: ...
