"""Documents as an endless stream of tokens, in an order that is the same for every tokenizer.

    stream = Stream(coder.encode_all(texts), coder.end, seed=0)
    for batch in stream.batches(size=32, length=1025):
        ...

The documents are shuffled by the seed alone, anew in every round, so that models over different
tokenizers read the same text in the same order, as far as their budget of tokens reaches. Nothing
is left out: a window goes on where the one before it ended.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from .coder import Ids

# Tokens, and where in the stream the first of them stands.
Change = Callable[[Ids, int, np.random.Generator], Ids]
_PORTION = 1 << 17  # tokens that are changed together


class Stream:
    """`change` may write tokens anew (see `parts.Splitting`). It draws from a generator of its own,
    so that the order of documents stays what it was."""

    def __init__(
        self, documents: Sequence[Ids], end: int, seed: int = 0, change: Change | None = None
    ) -> None:
        self._documents = [np.append(ids, np.int32(end)) for ids in documents if len(ids)]
        self._seed, self._change = seed, change
        if not self._documents:
            raise ValueError("no text to learn from: every document is empty; pass others")
        highest = max(int(ids[:-1].max()) for ids in self._documents)
        if highest >= end:
            raise ValueError(
                f"id {highest} in the text, and documents end with {end}: a tokenizer whose ids"
                " have holes; choose one that numbers its tokens from 0 on"
            )

    @property
    def tokens(self) -> int:
        """In one round, ends of documents included, before any change."""
        return sum(map(len, self._documents))

    def round(self, number: int) -> Iterator[Ids]:
        """All tokens once, a portion at a time."""
        order = np.random.default_rng([self._seed, number]).permutation(len(self._documents))
        ids = np.concatenate([self._documents[place] for place in order])
        chance = np.random.default_rng([self._seed, number, 1])
        for start in range(0, len(ids), _PORTION):
            portion = ids[start : start + _PORTION]
            if self._change is not None:
                portion = self._change(portion, number * len(ids) + start, chance)
            yield portion

    def batches(self, size: int, length: int, skip: int = 0) -> Iterator[NDArray[np.int64]]:
        """For ever: `size` windows of `length` tokens each. The last token of a window is the first
        of the next, as what is to be told and as what it is told from. The first `skip` batches are
        passed over, for a run that goes on."""
        step = length - 1
        wanted = size * step
        left: Ids = np.array([], dtype=np.int32)
        for portion in self._portions():
            left = np.concatenate([left, portion])
            while len(left) > wanted:
                if skip:
                    skip -= 1
                else:
                    yield _windows(left, size, step)
                left = left[wanted:]

    def _portions(self) -> Iterator[Ids]:
        for number in itertools.count():
            yield from self.round(number)


def ahead(batches: Iterator[NDArray[np.int64]]) -> Iterator[NDArray[np.int64]]:
    """The same, each made while the one before it is used."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, batches)
        while True:
            batch = coming.result()
            coming = pool.submit(next, batches)
            yield batch


def _windows(ids: Ids, size: int, step: int) -> NDArray[np.int64]:
    starts = np.arange(size)[:, None] * step
    found: NDArray[np.int64] = ids[starts + np.arange(step + 1)].astype(np.int64)
    return found
