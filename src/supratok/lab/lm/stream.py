"""Documents as an endless stream of tokens, in the same order for every tokenizer.

    stream = Stream(coder.encode_all(texts), coder.end, seed=0)
    for batch in stream.batches(size=32, length=1025):
        ...

The seed alone decides how each round shuffles the documents, so models over different tokenizers
read the same text in the same order, as far as their budgets reach. No token is left out: a window
starts where the one before it ended.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from .coder import Ids

# Takes tokens and the number of tokens of the stream before them; gives the tokens to read instead.
Rewrite = Callable[[Ids, int, np.random.Generator], Ids]
_PORTION = 1 << 17  # tokens that are rewritten together


class Stream:
    """`rewrite` replaces tokens on the way (see `parts.Splitting`). It draws from another random
    generator than the order of documents, which therefore stays the same."""

    def __init__(
        self, documents: Sequence[Ids], end: int, seed: int = 0, rewrite: Rewrite | None = None
    ) -> None:
        self._documents = [np.append(ids, np.int32(end)) for ids in documents if len(ids)]
        self._seed, self._rewrite = seed, rewrite
        if not self._documents:
            raise ValueError("no text to train on: every document is empty; pass others")
        if any((ids[:-1] == end).any() for ids in self._documents):
            raise ValueError(
                f"id {end} in the text, and documents end with it; choose an id that no text has,"
                " such as Coder.end"
            )

    @property
    def tokens(self) -> int:
        """The tokens of one round, ends of documents included, before they are rewritten."""
        return sum(map(len, self._documents))

    def round(self, number: int) -> Iterator[Ids]:
        """All tokens once, a portion at a time."""
        order = np.random.default_rng([self._seed, number]).permutation(len(self._documents))
        ids = np.concatenate([self._documents[place] for place in order])
        chance = np.random.default_rng([self._seed, number, 1])
        for start in range(0, len(ids), _PORTION):
            portion = ids[start : start + _PORTION]
            if self._rewrite is not None:
                portion = self._rewrite(portion, number * len(ids) + start, chance)
            yield portion

    def batches(self, size: int, length: int, skip: int = 0) -> Iterator[NDArray[np.int64]]:
        """Endless batches of `size` windows of `length` tokens. The last token of a window, which
        is only predicted, is the first of the next. `skip` leaves out the first batches, for a run
        that is resumed."""
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


def prefetched(batches: Iterator[NDArray[np.int64]]) -> Iterator[NDArray[np.int64]]:
    """The same batches, each made while the caller uses the one before it."""
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
