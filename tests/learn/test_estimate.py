"""Estimates of training agree with what was measured, within a factor of two."""

from __future__ import annotations

import pytest

from supratok import Recipe
from supratok.learn.estimate import estimate_training, text_bytes


@pytest.mark.parametrize(
    ("preset", "size", "megabytes", "threads", "seconds", "memory"),
    [
        ("default", 32_000, 3.1, 1, 1.6, 201),
        ("default", 32_000, 12.2, 1, 2.7, 223),
        ("default", 32_000, 49.1, 1, 10.8, 265),
        ("default", 100_000, 238, 2, 26.5, 795),
        ("dense", 32_000, 3.1, 1, 5.2, 252),
        ("dense", 32_000, 12.2, 1, 6.1, 246),
        ("dense", 32_000, 49.1, 1, 28.4, 308),
        ("dense", 100_000, 238, 2, 96.8, 842),
        ("paper", 32_000, 12.2, 1, 2.7, 170),
        ("paper", 32_000, 49.1, 1, 10.2, 245),
        ("paper", 100_000, 238, 2, 43.5, 883),
    ],
)
def test_what_was_measured(
    preset: str, size: int, megabytes: float, threads: int, seconds: float, memory: float
) -> None:
    found = estimate_training(megabytes * 1e6, Recipe.from_preset(preset, vocab_size=size), threads)
    assert seconds / 2 < found.seconds < seconds * 2
    assert memory / 2 < found.peak_bytes / 1e6 < memory * 2


def test_more_threads_take_less_time_but_not_for_all_of_it() -> None:
    recipe = Recipe(vocab_size=1000)
    one, two, many = (estimate_training(1e9, recipe, threads).seconds for threads in (1, 2, 1000))
    assert one > two > many > one / 20


def test_packed_files_hold_more_text_than_their_size() -> None:
    assert text_bytes({".txt": 100, ".jsonl": 10}) == 110
    assert 238e6 / 1.2 < text_bytes({".zst": 72_483_414}) < 238e6 * 1.2  # train/en100k
    assert text_bytes({}) == 0
