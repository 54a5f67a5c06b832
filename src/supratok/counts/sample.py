"""A bounded sample of documents by their digests, and the sample of several together.

The sample of a corpus: of its documents, identical ones once, sorted by digest, those from the
start whose UTF-8 sizes together fit into `capacity` bytes, up to the first that does not fit; the
very first is always kept. So the samples of shards hold all that the sample of the whole needs.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

ALL = 1 << 64  # the limit of a sample that left nothing out


@dataclass
class Sample:
    """The documents with a digest below `limit`: the digest of the first that did not fit."""

    capacity: int
    limit: int
    documents: Iterable[tuple[int, str]]  # sorted by digest

    def lines(self) -> Iterator[bytes]:
        """As lines of JSON; digests have 16 hexadecimal digits."""
        limit = None if self.limit == ALL else f"{self.limit:016x}"
        yield _line({"capacity": self.capacity, "limit": limit})
        for digest, text in self.documents:
            yield _line({"digest": f"{digest:016x}", "text": text})

    @classmethod
    def from_lines(cls, lines: Iterable[bytes]) -> Sample:
        """Reads documents as one asks for them."""
        rest = map(json.loads, lines)
        head = next(rest)
        limit = ALL if head["limit"] is None else int(head["limit"], 16)
        return cls(head["capacity"], limit, ((int(d["digest"], 16), d["text"]) for d in rest))


def _line(values: dict[str, object]) -> bytes:
    return json.dumps(values, ensure_ascii=False).encode() + b"\n"


def merged_sample(samples: Sequence[Sample]) -> Sample:
    """The sample of all their corpora together."""
    room, limit = samples[0].capacity, min(sample.limit for sample in samples)
    kept: list[tuple[int, str]] = []
    for digest, text in heapq.merge(*(sample.documents for sample in samples)):
        if digest >= limit:
            break
        if kept and digest == kept[-1][0]:
            continue
        room -= len(text.encode())
        if room < 0 and kept:
            limit = digest
            break
        kept.append((digest, text))
    return Sample(samples[0].capacity, limit, kept)
