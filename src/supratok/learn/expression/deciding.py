"""The texts by which surgery decides: held-out documents and, beside them, those of a target.

Each group has a weight, so that a target counts by its share, whatever its size:

    held-out text of 900 characters, a target of 100, share 0.5: a use in the first counts
    0.5 * 1000 / 900 = 0.56, one in the target 0.5 * 1000 / 100 = 5
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...corpus.target import TargetText


@dataclass(frozen=True)
class Group:
    texts: list[str]
    weight: float = 1.0


@dataclass(frozen=True)
class Deciding:
    """Invariant: weighted, all groups together are as large as they are unweighted."""

    groups: tuple[Group, ...]

    @classmethod
    def of(
        cls, held_out: list[str], target: TargetText | None = None, share: float = 0.0
    ) -> Deciding:
        if target is None:
            return cls((Group(held_out),))
        parts = ((1 - share, held_out), (share, target.deciding))
        used = [(part, some) for part, some in parts if part > 0 and some]
        size, whole = sum(_size(some) for _, some in used), sum(part for part, _ in used)
        return cls(tuple(Group(some, part / whole * size / _size(some)) for part, some in used))

    @property
    def texts(self) -> list[str]:
        return [text for group in self.groups for text in group.texts]

    @property
    def characters(self) -> int:
        return sum(_size(group.texts) for group in self.groups)

    @property
    def weights(self) -> NDArray[np.float64]:
        """Of each document."""
        return np.concatenate([np.full(len(group.texts), group.weight) for group in self.groups])

    def count(
        self, count: Callable[[list[str]], tuple[NDArray[np.int64], NDArray[np.int64]]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Two columns of counts, weighted; `count` counts some texts."""
        columns = [(group.weight, count(group.texts)) for group in self.groups]
        first, second = (
            np.sum([weight * column[place] for weight, column in columns], axis=0)
            for place in (0, 1)
        )
        return np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)


def _size(texts: list[str]) -> int:
    return max(1, sum(map(len, texts)))
