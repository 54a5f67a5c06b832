"""The stream of tokens: nothing is left out, and it can be repeated, rewritten and skipped."""

from __future__ import annotations

import numpy as np
import pytest

from supratok.lab.lm import stream as stream_module
from supratok.lab.lm.coder import Ids
from supratok.lab.lm.stream import Stream


def test_the_stream_leaves_nothing_out_and_repeats_itself() -> None:
    documents = [np.arange(start, start + 7, dtype=np.int32) for start in range(0, 70, 7)]
    stream = Stream(documents, end=99, seed=3)
    batches = stream.batches(size=2, length=6)
    read = np.concatenate([next(batches)[:, :-1].ravel() for _ in range(24)])
    rounds = [np.concatenate(list(stream.round(number))).tolist() for number in range(4)]
    assert read.tolist() == [id for ids in rounds for id in ids][: len(read)]
    assert sorted(rounds[0]) == sorted([*range(70), *[99] * 10])
    assert rounds[0] != rounds[1]
    assert stream.tokens == 80


def test_a_rewrite_gets_its_place_in_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_module, "_PORTION", 4)
    places: list[int] = []

    def rewrite(ids: Ids, place: int, chance: np.random.Generator) -> Ids:
        places.extend(range(place, place + len(ids)))
        return np.repeat(ids, 2)

    stream = Stream([np.arange(5, dtype=np.int32)], end=5, rewrite=rewrite)
    batches = stream.batches(size=1, length=5)
    read = np.concatenate([next(batches)[0, :-1] for _ in range(6)])
    assert read.tolist() == np.repeat([*range(6), *range(6)], 2).tolist()
    assert places[:12] == list(range(12))


def test_the_last_token_of_a_window_begins_the_next() -> None:
    batch = next(Stream([np.arange(50, dtype=np.int32)], end=50).batches(size=3, length=5))
    assert batch.tolist() == [[0, 1, 2, 3, 4], [4, 5, 6, 7, 8], [8, 9, 10, 11, 12]]


def test_skipping_is_reading() -> None:
    stream = Stream([np.arange(23, dtype=np.int32)], end=23, seed=1)
    slow, fast = stream.batches(2, 4), stream.batches(2, 4, skip=9)
    for _ in range(9):
        next(slow)
    assert next(slow).tolist() == next(fast).tolist()


def test_an_end_that_is_text_is_refused() -> None:
    with pytest.raises(ValueError, match="id 9 in the text, and documents end with it"):
        Stream([np.array([3, 9], dtype=np.int32)], end=9)
    Stream([np.array([3, 9], dtype=np.int32)], end=7)  # a token of the vocabulary


def test_a_stream_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="every document is empty"):
        Stream([np.array([], dtype=np.int32)], end=0)
