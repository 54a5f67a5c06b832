"""Byte-pair merging from given symbols, with a rule for the merges that are allowed.

    learner = Learner(symbols, texts, allowed=lambda left, right: ":Ġ" not in left + right)
    for merge in learner.merges(wanted=20_000):
        ...

Stock trainers start from characters and always merge the most frequent pair. The second halves of
SuperBPE and of BoundlessBPE start from the tokens of the first, and forbid some merges. This is
the algorithm of `tokenizers` (the most frequent pair first, of equals the one with the smaller ids)
in numpy: it finds the same merges as a plain recount after every merge.

How it stays fast: the queue holds upper bounds. A pair's count can only fall while its two tokens
get no new places, so a pair is recounted only when it reaches the front, among the places of its
rarer token. Pairs too rare to be reached stay out of the queue: once the front falls below the
rarest pair in it, the symbols are packed and the queue is rebuilt.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

END = -1  # between two pieces: no merge crosses it
_GONE = -2  # a place whose symbol is merged into the one before it

Symbols = NDArray[np.int32]
Places = NDArray[np.int32]
Counts = NDArray[np.int64]
Rule = Callable[[str, str], bool]


class Merge(NamedTuple):
    """Two tokens become a third, at so many places."""

    left: int
    right: int
    token: int
    times: int


class Learner:
    """The symbols of a corpus, and the tokens they merge into.

    `symbols` are indices into `texts`, with END between pieces. `texts` grows by each new token.
    `weights`: how often each place counts (default: once). `overlaps`: in "aaa" count the pair "aa"
    twice, as `tokenizers` does, although only one of the two can be merged.
    """

    def __init__(
        self,
        symbols: Symbols,
        texts: list[str],
        allowed: Rule = lambda left, right: True,
        weights: Counts | None = None,
        overlaps: bool = True,
    ) -> None:
        if len(symbols) > 2**31 - 3:
            raise ValueError(
                f"{len(symbols):,} symbols are too many; learn from fewer documents (about 8 GB of"
                " text)"
            )
        self.texts = texts
        self.ids = {text: id for id, text in enumerate(texts)}
        self._symbols = np.pad(symbols, 1, constant_values=END)
        self._weights = None if weights is None else np.pad(weights, 1)
        self._allowed, self._overlaps = allowed, overlaps

    def merges(self, wanted: int) -> Iterator[Merge]:
        """Do one merge after another and yield each, as long as any pair is left. The caller stops
        when it has enough; `wanted` is a guess, for the size of the queue."""
        busy = True
        while busy:
            self._pack()
            pairs, counts = self._pairs()
            busy = False
            for self._least in _levels(counts, wanted):
                often = counts >= self._least
                self._queue = list(_entries(pairs[often], counts[often]))
                heapq.heapify(self._queue)
                for merge in self._drain():
                    busy = True
                    yield merge
                if busy:
                    break

    # --- The queue

    def _drain(self) -> Iterator[Merge]:
        while self._queue:
            bound, left, right = heapq.heappop(self._queue)
            if not self._may(left, right):
                continue
            at = self._find(left, right)
            taken = _apart(at, self._next) if left == right else at
            count = self._weigh(at if self._overlaps else taken)
            if count == -bound:
                yield Merge(left, right, self._merge(left, right, taken), count)
            elif count >= self._least:
                heapq.heappush(self._queue, (-count, left, right))

    def _may(self, left: int, right: int) -> bool:
        return self._allowed(self.texts[left], self.texts[right])

    # --- Places

    def _pack(self) -> None:
        """Remove merged places, and find the places of every symbol."""
        kept = self._symbols != _GONE
        self._symbols = self._symbols[kept]
        if self._weights is not None:
            self._weights = self._weights[kept]
        size = len(self._symbols)
        self._next = np.arange(1, size + 1, dtype=np.int32)
        self._last = np.arange(-1, size - 1, dtype=np.int32)
        order = np.argsort(self._symbols, kind="stable").astype(np.int32)
        starts = np.searchsorted(self._symbols[order], np.arange(len(self.texts) + 1))
        self._places: list[Places] = [
            order[start:end] for start, end in zip(starts, starts[1:], strict=False)
        ]

    def _pairs(self) -> tuple[Counts, Counts]:
        """All pairs, as left * 2^32 + right, and how often each occurs."""
        at = np.flatnonzero(self._symbols >= 0).astype(np.int32)
        at = at[self._symbols[self._next[at]] >= 0]
        return self._count(self._symbols[at], self._symbols[self._next[at]], at)

    def _count(self, left: Symbols, right: Symbols, at: Places) -> tuple[Counts, Counts]:
        keys = (left.astype(np.int64) << 32) | right
        if self._weights is None:
            keys.sort()
        else:
            order = np.argsort(keys, kind="stable")
            keys, at = keys[order], at[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        if self._weights is None or not len(keys):
            return keys[starts], np.diff(starts, append=len(keys))
        return keys[starts], np.add.reduceat(self._weights[at], starts)

    def _find(self, left: int, right: int) -> Places:
        """The places of the pair, by its left token, in order."""
        if len(self._places[left]) <= len(self._places[right]):
            at = self._live(left)
            found: Places = at[self._symbols[self._next[at]] == right]
        else:
            at = self._last[self._live(right)]
            found = at[self._symbols[at] == left]
        return found

    def _live(self, token: int) -> Places:
        """The places that the token still has."""
        places = self._places[token]
        self._places[token] = places[self._symbols[places] == token]
        return self._places[token]

    def _weigh(self, at: Places) -> int:
        return len(at) if self._weights is None else int(self._weights[at].sum())

    # --- Merging

    def _merge(self, left: int, right: int, at: Places) -> int:
        """Make the pair one token at these places. Its text may be that of an older token."""
        text = self.texts[left] + self.texts[right]
        token = self.ids.setdefault(text, len(self.texts))
        if token == len(self.texts):
            self.texts.append(text)
            self._places.append(at)
        else:
            self._places[token] = np.union1d(self._live(token), at)
        second = self._next[at]
        after = self._next[second]
        self._symbols[at], self._symbols[second] = token, _GONE
        self._next[at], self._last[after] = after, at
        self._queue_around(token)
        return token

    def _queue_around(self, token: int) -> None:
        """Queue the pairs of a token that has new places."""
        at = self._places[token]
        beyond, before = self._symbols[self._next[at]], self._symbols[self._last[at]]
        itself = np.full(len(at), token, dtype=np.int32)
        right, left = beyond >= 0, (before >= 0) & (before != token)
        for pairs, counts in (
            self._count(itself[right], beyond[right], at[right]),
            self._count(before[left], itself[left], at[left]),
        ):
            often = counts >= self._least
            for entry in _entries(pairs[often], counts[often]):
                heapq.heappush(self._queue, entry)


def _levels(counts: Counts, wanted: int) -> Iterator[int]:
    """The minimum counts of queued pairs, one after another until a merge is found: first half the
    count of the pair that would be the last if no count changed, then ever lower."""
    if not len(counts):
        return
    last = max(0, len(counts) - wanted)
    least = int(np.partition(counts, last)[last]) // 2
    while least > 1:
        yield least
        least //= 4
    yield 1


def _entries(pairs: Counts, counts: Counts) -> Iterator[tuple[int, int, int]]:
    lefts, rights = pairs >> 32, pairs & 0xFFFFFFFF
    return zip((-counts).tolist(), lefts.tolist(), rights.tolist(), strict=True)


def _apart(at: Places, following: Symbols) -> Places:
    """The places of a pair of equal tokens that do not overlap, taken from the left."""
    if len(at) < 2:
        return at
    chained = np.concatenate([[False], following[at[:-1]] == at[1:]])
    index = np.arange(len(at))
    first = np.maximum.accumulate(np.where(chained, 0, index))
    apart: Places = at[(index - first) % 2 == 0]
    return apart
