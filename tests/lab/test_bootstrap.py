"""Intervals over documents: as a plain program computes them, and as often right as they say."""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from supratok.lab.measure import bootstrap
from supratok.lab.measure.bootstrap import difference, interval, interval_of, intervals, p_value

Integers = NDArray[np.int64]


def documents(number: int, seed: int) -> tuple[Integers, Integers]:
    """Characters and tokens, of lengths as uneven as those of articles."""
    chance = np.random.default_rng(seed)
    tokens = np.ceil(chance.lognormal(6, 0.5, number)).astype(np.int64)
    return np.round(tokens * chance.normal(5, 0.5, number)).astype(np.int64), tokens


@given(st.lists(st.tuples(st.integers(0, 999), st.integers(1, 99)), min_size=2, max_size=30))
def test_as_a_plain_program_does(rows: list[tuple[int, int]]) -> None:
    chance = np.random.default_rng(5)
    ratios = []
    for _ in range(50):
        drawn = [rows[place] for place in chance.integers(len(rows), size=len(rows))]
        ratios.append(sum(row[0] for row in drawn) / sum(row[1] for row in drawn))
    above, below = ([row[side] for row in rows] for side in (0, 1))
    found = interval(above, below, level=0.9, resamples=50, seed=5)
    assert found == pytest.approx(np.quantile(ratios, [0.05, 0.95]), rel=1e-12, abs=1e-12)


def test_the_parts_in_which_it_is_computed_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    characters, tokens = documents(50, seed=1)
    whole = interval(characters, tokens, resamples=300)
    monkeypatch.setattr(bootstrap, "_AT_ONCE", 1000)
    assert interval(characters, tokens, resamples=300) == whole


def test_a_seed_decides() -> None:
    columns = documents(50, seed=1)
    assert interval(*columns, resamples=200) == interval(*columns, resamples=200)
    assert interval(*columns, resamples=200) != interval(*columns, resamples=200, seed=1)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_hold_the_truth_as_often_as_they_say(level: float) -> None:
    runs = 800
    found = [interval(*documents(100, seed), level, 500, seed) for seed in range(runs)]
    held = sum(low <= 5 <= high for low, high in found) / runs
    assert level - 0.03 < held < level + 0.03  # two standard errors are below 0.03


def test_p_is_small_as_often_as_it_says_if_there_is_no_difference() -> None:
    runs, small = 800, 0
    chance = np.random.default_rng(0)
    for seed in range(runs):
        tokens = documents(100, seed)[1]
        ours, theirs = (np.round(tokens * chance.normal(5, 0.5, 100)) for _ in range(2))
        small += difference(ours, theirs, resamples=500, seed=seed).p < 0.1
    assert 0.07 < small / runs < 0.14


def test_a_difference_that_is_there_is_found() -> None:
    characters, tokens = documents(60, seed=3)
    found = difference(tokens, tokens + tokens // 20 + 1)  # 5% more tokens in the baseline
    assert found.low < found.value < found.high
    assert found.value == pytest.approx(0.05, abs=0.005)
    assert found.p == pytest.approx(2 / 10_001)
    apart = interval(characters, tokens)
    assert found.high - found.low < 0.1 * (apart.high - apart.low)  # for it is paired


def test_a_difference_turned_round() -> None:
    _, tokens = documents(60, seed=3)
    other = tokens + np.random.default_rng(0).integers(-9, 10, 60)
    there, back = difference(tokens, other), difference(other, tokens)
    assert (1 + there.value) * (1 + back.value) == pytest.approx(1)
    assert (1 + there.low) * (1 + back.high) == pytest.approx(1)
    assert there.p == back.p


def test_no_difference_at_all() -> None:
    _, tokens = documents(60, seed=4)
    assert difference(tokens, tokens) == (0, 0, 0, 1)


def test_documents_that_are_all_alike_leave_no_doubt() -> None:
    assert interval([12] * 5, [3] * 5) == (4, 4)


def test_empty_documents_say_nothing() -> None:
    characters, tokens = documents(30, seed=4)
    empty = np.zeros(500, np.int64)
    padded = (np.concatenate([characters, empty]), np.concatenate([tokens, empty]))
    assert interval(*padded, resamples=200) == interval(characters, tokens, resamples=200)


def test_several_ratios_at_once() -> None:
    characters, tokens = documents(30, seed=6)
    both = intervals([(characters, tokens), (tokens, characters)], resamples=200)
    assert both == [
        interval(characters, tokens, resamples=200),
        interval(tokens, characters, resamples=200),
    ]


def test_any_statistic_of_sums() -> None:
    columns = np.stack(documents(30, seed=6), axis=1)
    found = interval_of(columns, lambda sums: sums[:, 0] / sums[:, 1], resamples=200)
    assert found == interval(columns[:, 0], columns[:, 1], resamples=200)


def test_a_million_documents() -> None:
    characters, tokens = documents(1_000_000, seed=7)
    tracemalloc.start()
    began = time.monotonic()
    low, high = interval(characters, tokens)
    took, (_, peak) = time.monotonic() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert took < 30 and peak < 250_000_000
    residuals = characters - characters.sum() / tokens.sum() * tokens
    half = 1.96 * np.sqrt((residuals**2).sum()) / tokens.sum()  # as theory has it
    assert (high - low) / 2 == pytest.approx(half, rel=0.06)
    assert low < 5 < high


def test_p_of_resamples() -> None:
    assert p_value(np.array([1.0] * 99)) == pytest.approx(0.02)
    assert p_value(np.array([1.0] * 50 + [-1.0] * 49)) == 1
    assert p_value(np.zeros(9)) == 1


@pytest.mark.parametrize(
    ("columns", "options", "why"),
    [
        (([1, 2], [1]), {}, "one value for every document"),
        (([5], [1]), {}, "1 documents with text: an interval needs at least 2"),
        (([], []), {}, "0 documents with text"),
        (([0, 0], [0, 0]), {}, "0 documents with text"),
        (([1, 2, 3], [0, 0, 1]), {}, "too few documents have tokens"),
        (([1, 2], [1, 2]), {"level": 95}, "level=95: must lie between 0 and 1"),
        (([1, 2], [1, 2]), {"resamples": 0}, "resamples=0: must be at least 1"),
    ],
)
def test_what_has_no_interval(
    columns: tuple[list[int], list[int]], options: dict[str, Any], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        interval(*columns, **options)
