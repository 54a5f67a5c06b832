"""Merges: how the passes run the core's merge loop, and what the merges are made of.

A `_core.Merger` joins the most frequent pair of neighbours, again and again. It starts from units
(characters or words) and numbers them first, then its merges:

    units a b c (0 1 2), merges ab (3) = 0 1, abc (4) = 3 2
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..common.progress import Progress
from ..tokenizer import Token

SLICE = 500  # merges between two updates of the progress (and two chances for Ctrl-C)

_Result = TypeVar("_Result")
Parts = tuple[NDArray[np.uint32], NDArray[np.uint32]]  # of each merge: its left and its right


@dataclass
class Learnt:
    """Tokens in rank order, how often the training text uses each, and facts for the report."""

    tokens: list[Token]
    uses: NDArray[np.int64]
    crossover: float | None = None  # the share of the vocabulary where words give way to phrases
    facts: dict[str, Any] = field(default_factory=dict)  # by pass


def run_merges(merger: _core.Merger, until: int, progress: Progress) -> bool:
    """Merge until there are `until` merges; False if the pairs run out before."""
    made = len(merger.counts())
    while made < until:
        new = merger.run(min(SLICE, until - made))
        if new == 0:
            return False
        made += new
        progress.at(made)
    return True


def uses_without(uses: NDArray[np.int64], parts: Parts, gone: Iterable[int]) -> NDArray[np.int64]:
    """The uses of all units and merges if the merges `gone` (places, falling) had not been made:
    each of them gives its uses to its two parts.

        a 1, b 0, c 5, ab 9, abc 2;  without abc:  a 1, b 0, c 7, ab 11;  without ab: a 12, b 11

    Invariant: a merge only replaces a pair by one symbol. So the state after k merges is the final
    state without all later merges, and no merge loop need run again."""
    after: list[int] = uses.tolist()
    lefts, rights = (part.tolist() for part in parts)
    units = len(after) - len(lefts)
    for place in gone:
        use, after[units + place] = after[units + place], 0
        after[lefts[place]] += use
        after[rights[place]] += use
    return np.array(after, dtype=np.int64)


def lower_floor_until_exact(
    attempt: Callable[[int], _Result | None], floor: int, least: int
) -> _Result:
    """The first result of `attempt(floor)`, which returns None if it needs pairs rarer than the
    floor: then the floor falls to a quarter, down to `least`, where it must give a result.

    A floor keeps rare pairs out of the table of runs. It is a guess that saves memory."""
    while (result := attempt(floor)) is None:
        if floor == least:
            raise AssertionError(f"no result with all pairs seen {least} times")
        floor = max(least, floor // 4)
    return result


@dataclass
class PhraseMerges:
    """The merges of a merger over words. A phrase is named by its place among them."""

    merger: _core.Merger
    units: list[str]
    _first: dict[str, int] = field(default_factory=dict)  # the place of each text
    _rarest: list[int] = field(default_factory=list)  # see `rarest_units`

    def __len__(self) -> int:
        return len(self.merger.counts())

    def parts(self) -> Iterator[tuple[int, int]]:
        """Of each merge: the places of its left and right part; those of units are negative."""
        lefts, rights = (part.astype(np.int64) - len(self.units) for part in self.merger.parts())
        return zip(lefts.tolist(), rights.tolist(), strict=True)

    def pairs(self, places: Iterable[int]) -> list[tuple[str, str]]:
        """The texts of the two parts of each."""
        texts, parts = [*self.merger.texts(), *self.units], list(self.parts())
        # A negative place counts from the end: units follow the merges in `texts`.
        return [(texts[parts[place][0]], texts[parts[place][1]]) for place in places]

    def with_parts(self, places: Iterable[int]) -> set[int]:
        """These merges and all merges that they are made of."""
        stays = set(places)
        for place, pair in reversed(list(enumerate(self.parts()))):
            if place in stays:
                stays.update(part for part in pair if part >= 0)
        return stays

    def without_wholes(self, places: Sequence[int], bad: Iterable[int]) -> list[int]:
        """Those of the places that are neither bad nor made of a bad one."""
        gone, parts = set(bad), list(self.parts())
        for place in places:
            if not gone.isdisjoint(parts[place]):
                gone.add(place)
        return [place for place in places if place not in gone]

    def first_of_each_text(self) -> list[int]:
        """Two merges may make the same text: the place of the first."""
        for place, text in enumerate(self.merger.texts()):
            self._first.setdefault(text, place)
        return list(self._first.values())

    def rarest_units(self) -> list[int]:
        """Of each merge, the highest number among its units; the rarest, as units are by rank."""
        rarest, units = self._rarest, len(self.units)  # of units and merges
        rarest.extend(range(len(rarest), units))
        lefts, rights = (part[len(rarest) - units :].tolist() for part in self.merger.parts())
        for left, right in zip(lefts, rights, strict=True):
            rarest.append(max(rarest[left], rarest[right]))
        return rarest[units:]

    def uses_of(self, chosen: Collection[int]) -> NDArray[np.int64]:
        """The uses of the units and of the chosen merges if no others had been made."""
        stays = set(chosen)
        gone = (place for place in reversed(range(len(self))) if place not in stays)
        uses = uses_without(self.merger.usage(), self.merger.parts(), gone)
        units = len(self.units)
        return np.concatenate([uses[:units], uses[units:][list(chosen)]])


def encodable(base: list[str], texts: list[str]) -> list[int]:
    """The places of the texts that encode to themselves under `merges`, ranked after `base`."""
    states = _core.Encoder.states_of(base + texts)
    if states[: len(base)].any():
        bad = base[int(np.flatnonzero(states)[0])]
        raise AssertionError(f"the token {bad!r} does not encode to itself")
    return np.flatnonzero(states[len(base) :] == 0).tolist()
