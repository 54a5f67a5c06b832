"""How long training takes and how much memory it needs, roughly, before it begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..recipe import Recipe


class Estimate(NamedTuple):
    seconds: float
    peak_bytes: int


class _Cost(NamedTuple):
    """Of one part of training: seconds at once, and seconds for each megabyte of text, in work
    that one thread does and in work that all threads share."""

    start: float = 0.0
    serial: float = 0.0
    parallel: float = 0.0


# Measured on English (`en100k`): processor time of one thread on 3, 12 and 49 MB at 32,000 tokens,
# 2026-11-16, and the times of docs/results.md on 238 MB at 100,000 tokens with two cores. The
# estimate is within 1.8 of each of those. Nothing was measured on more than two cores.
_BASE = _Cost(1.0, 0.03, 0.16)
_FEWEST = _Cost(1.0, 0.07, 0.02)
_REFINE = _Cost(1.0, 0.06, 0.015)  # of one round
_EXPRESSIONS = _Cost(0.5, 0.07, 0.0)
# Measured: 201 MB for 3 MB of text, 265 for 49, 795 for 238; dense up to 50 MB more. Tables of
# unique words and phrases grow more slowly than the text, so that this is too much beyond 1 GB.
_PROGRAM, _BYTES = 200_000_000, 2.5

# Bytes of a document as numbers of words (core/store.hpp), for a byte of its text.
_KEPT = 0.35

# Bytes of text for a byte on disk, measured on the same documents.
_UNPACKED = {".gz": 2.5, ".bz2": 3.1, ".xz": 2.9, ".zst": 3.0, ".parquet": 2.0}


def estimate_training(text_bytes: float, recipe: Recipe, threads: int) -> Estimate:
    """Time and memory to train on so many bytes of text; within a factor of two, as texts and
    machines differ."""
    passes = [_REFINE] * recipe.refine
    if recipe.segmentation == "fewest":
        passes.append(_FEWEST)
    if recipe.expressions is not None:
        passes.append(_EXPRESSIONS)
    times = 2 if recipe.target_share else 1  # with the target, and without it to compare
    start, serial, parallel = map(sum, zip(_BASE, *passes * times, strict=True))
    seconds = start + text_bytes / 1e6 * (serial + parallel / threads)
    return Estimate(seconds, int(_PROGRAM + _BYTES * text_bytes))


def estimate_disk(text_bytes: float, in_memory: int) -> int:
    """Bytes of the files that keep the documents as numbers of words, if they take more than so
    many bytes of memory."""
    kept = int(_KEPT * text_bytes)
    return kept if kept > in_memory else 0


def text_bytes(sizes: Mapping[str, int]) -> float:
    """Bytes of text in files of these sizes on disk, by suffix: {".zst": 72_000_000}."""
    return sum(size * _UNPACKED.get(suffix, 1.0) for suffix, size in sizes.items())
