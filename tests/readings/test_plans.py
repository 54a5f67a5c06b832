"""A reading is the same after it has travelled as a plan."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

from supratok import Recipe
from supratok.common import _core
from supratok.counts import About, CountsFile, read_counts, write_counts
from supratok.readings import (
    SKETCH_BITS,
    Neighbours,
    Pieces,
    Reading,
    Room,
    Runs,
    Stretches,
    Units,
    Usage,
)
from supratok.readings.plans import SplitRule, fingerprint, pack, read_plan, unpack, write_plan
from supratok.recipe import Boundaries, Curation
from texts import multilingual, prose

TEXTS = prose(1, 60) + multilingual(1, 40)
RULE = SplitRule(None, 0.05)
RECIPE = Recipe(vocab_size=400)
SMALL_WORDS = sorted({" " + word for text in TEXTS for word in text.split()})
PIECES = [chr(code) for code in range(97, 123)] + [" ", "é", "ab"]


def bounds(count: int = 7) -> _core.PairSketch:
    """Bounds that let some pairs through and not others."""
    table = _core.WordTable(SKETCH_BITS)
    table.count(TEXTS * count, 1)
    return table.pairs


def units(**changes: Any) -> Units:
    return replace(Units(RECIPE, SMALL_WORDS, PIECES), **changes)


def unit_bounds() -> _core.PairSketch:
    table = (pieces := Pieces(units())).table(Room())
    pieces.count(table, TEXTS, 1, lambda _: None)
    return table.pairs


def usage(**changes: Any) -> Usage:
    return replace(Usage([*PIECES, *SMALL_WORDS], fewest=True, pairs=True), **changes)


def neighbours(floor: int = 2, **changes: Any) -> Neighbours:
    counted = usage(**changes)
    survey = counted.table(Room())
    counted.count(survey, TEXTS, 1, lambda _: None)
    return Neighbours(counted, survey, floor)


MAKERS: dict[str, Callable[[], Reading[Any]]] = {
    "pieces": lambda: Pieces(units()),
    "runs of words": lambda: Runs(units(pieces=None), bounds(), 3, of_units=False),
    "runs of units": lambda: Runs(units(), unit_bounds(), 2, of_units=True),
    "usage": lambda: usage(pairs=False),
    "usage by merges": lambda: usage(fewest=False),
    "usage with pairs": usage,
    "neighbours": neighbours,
    "stretches": lambda: Stretches(RECIPE),
}


def counted(reading: Reading[Any], path: Path) -> CountsFile:
    table = reading.table(Room())
    reading.count(table, TEXTS, 2, lambda _: None)
    write_counts(path, About(reading.phase, "", {"a": "a"}), reading.members(table))
    return read_counts(path)


@pytest.mark.parametrize("name", MAKERS)
def test_a_plan_counts_what_its_reading_counts(name: str, tmp_path: Path) -> None:
    reading = MAKERS[name]()
    rule = SplitRule(Curation(low=1.0), 0.25)
    write_plan(tmp_path / "a.plan", reading, rule)
    other, found_rule = read_plan(tmp_path / "a.plan")
    assert found_rule == rule
    assert fingerprint(other) == fingerprint(reading)
    one = counted(reading, tmp_path / "one.counts")
    two = counted(other, tmp_path / "two.counts")
    assert one.path.read_bytes() == two.path.read_bytes()
    assert max(one.sizes.values()) > 20
    # What was counted elsewhere is as if it was counted here.
    table = reading.table(Room())
    reading.add(table, two)
    about = About(reading.phase, "", {"a": "a"})
    write_counts(tmp_path / "three.counts", about, reading.members(table))
    assert (tmp_path / "three.counts").read_bytes() == one.path.read_bytes()


def test_every_field_counts_in_the_fingerprint() -> None:
    pairs, other_pairs = bounds(), bounds(8)
    runs = Runs(units(), pairs, 2, of_units=True)
    others = RECIPE, replace(RECIPE, boundaries=Boundaries(whole_words=True))
    readings: list[Reading[Any]] = [
        runs,
        replace(runs, floor=3),
        replace(runs, of_units=False),
        replace(runs, pairs=other_pairs),
        replace(runs, units=units(known=SMALL_WORDS[1:])),
        replace(runs, units=units(known=SMALL_WORDS[::-1])),
        replace(runs, units=units(pieces=PIECES[1:])),
        replace(runs, units=units(pieces=None)),
        replace(runs, units=units(recipe=others[1])),
        Pieces(units()),
        *map(Stretches, others),
        usage(),
        usage(pairs=False),
        usage(fewest=False),
        usage(entries=PIECES),
        neighbours(),
        neighbours(floor=3),
        neighbours(fewest=False),
    ]
    found = [fingerprint(reading) for reading in readings]
    assert len(set(found)) == len(found)
    assert found == [fingerprint(unpack(pack(reading, RULE))[0]) for reading in readings]


def test_counts_for_speed_decide_nothing() -> None:
    one = usage()
    assert fingerprint(one) == fingerprint(replace(one, counts=[1] * len(one.entries)))


def test_a_damaged_plan_is_refused() -> None:
    """It is a ValueError, or the damage decides nothing."""
    reading = usage()
    whole = pack(reading, RULE)
    for size in (0, 1, 20, len(whole) // 2, len(whole) - 1):
        with pytest.raises(ValueError, match=r"x\.plan: not a plan of supratok, or damaged"):
            unpack(whole[:size], "x.plan")
    rng = random.Random(0)
    for _ in range(300):
        data = bytearray(whole)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        try:
            found, rule = unpack(bytes(data), "x.plan")
        except ValueError as error:
            assert str(error).startswith("x.plan: ")
        else:
            assert (fingerprint(found), rule) == (fingerprint(reading), RULE)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"format": 2}, "format 2, and this program reads 1"),
        ({"reading": "Nothing"}, "not a plan of supratok"),
        ({"entries": 5}, "not a plan of supratok"),
        ({"recipe": {}}, None),  # a usage has none
        ({"split": [None]}, "not a plan of supratok"),
        ({"split": [{"nothing": 1}, 0.05]}, "x.plan: "),
    ],
)
def test_an_unknown_plan_is_refused(change: dict[str, Any], why: str | None) -> None:
    with zipfile.ZipFile(io.BytesIO(pack(usage(), RULE))) as archive:
        values = json.loads(zstandard.decompress(archive.read("plan.json"))) | change
    with zipfile.ZipFile(out := io.BytesIO(), "w") as archive:
        archive.writestr("plan.json", zstandard.compress(json.dumps(values).encode()))
    if why is None:
        assert isinstance(unpack(out.getvalue())[0], Usage)
        return
    with pytest.raises(ValueError) as caught:
        unpack(out.getvalue(), "x.plan")
    assert "x.plan" in str(caught.value) and why in str(caught.value)


def test_arrays_travel_whole() -> None:
    runs = Runs(units(), bounds(), 2, of_units=True)
    found = unpack(pack(runs, RULE))[0]
    assert isinstance(found, Runs)
    assert np.array_equal(found.pairs.counters(), runs.pairs.counters())
