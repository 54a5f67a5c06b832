"""Some documents are held out of training, to measure on.

    number = digest(text)
    if is_held_out(number):
        sample.add(text, number)     # sample = HeldOut()

Which ones depends on the texts alone: not on the run, the order or the number of threads.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable


def digest(text: str) -> int:
    """A number below 2**64 that depends on the text alone: the same in every run and order."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def is_held_out(digest: int, share: float = 0.05) -> bool:
    """Whether the document with this digest is kept from training, as about `share` of all are."""
    return digest < share * 2**64


def is_for_measuring(digest: int) -> bool:
    """Half of the held-out documents decide (which tokens are pruned), half measure the result."""
    return digest % 2 == 1


class HeldOut:
    """A bounded sample of documents that does not depend on the order they come in.

    Of all that are added, identical ones once, sorted by digest: those from the start whose UTF-8
    sizes together fit into `capacity` bytes, up to the first that does not fit. The very first is
    kept whatever its size.
    """

    def __init__(self, capacity: int = 32 << 20) -> None:
        self._room = capacity
        self._kept: dict[int, bytes] = {}
        self._heap: list[int] = []  # the kept digests, negated: the highest is on top
        self._limit = 1 << 64  # Invariant: kept is exactly what was added below this digest

    def add(self, text: str, digest: int) -> None:
        if digest >= self._limit or digest in self._kept:
            return
        self._kept[digest] = text.encode()
        self._room -= len(self._kept[digest])
        heapq.heappush(self._heap, -digest)
        while self._room < 0 and len(self._kept) > 1:
            self._limit = -heapq.heappop(self._heap)
            self._room += len(self._kept.pop(self._limit))

    @property
    def documents(self) -> list[str]:
        """The sample, sorted by digest."""
        return [self._kept[digest].decode() for digest in sorted(self._kept)]


def held_out_half(texts: Iterable[str], *, measuring: bool = True) -> list[str]:
    """The held-out documents that training measures on, or those that it decides by."""
    sample = HeldOut()
    for text in texts:
        code = digest(text)
        if is_held_out(code) and is_for_measuring(code) == measuring:
            sample.add(text, code)
    return sample.documents
