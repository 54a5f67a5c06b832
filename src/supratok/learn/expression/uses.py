"""How often tokens and sequences of tokens occur in encoded held-out text.

ids 7 4 9 | 4 9        two documents
token 4: used twice, in two documents; the sequence 4 9: likewise; 7 4 9: once
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...common import _core

_END = 2**31  # separates documents: no id is so high


@dataclass(frozen=True)
class Encoded:
    """The ids of some documents, end to end, and the number of the document each belongs to."""

    ids: NDArray[np.int64]
    documents: NDArray[np.int64]

    @classmethod
    def of(cls, encoder: _core.Encoder, texts: list[str], threads: int) -> Encoded:
        rows = encoder.encode_batch(texts, threads, True)
        sizes = np.array([len(row) + 1 for row in rows], dtype=np.int64)
        ids = np.full(int(sizes.sum()), _END, dtype=np.int64)
        documents = np.repeat(np.arange(len(rows)), sizes)
        inside = np.ones(len(ids), dtype=np.bool_)
        inside[np.cumsum(sizes) - 1] = False
        if rows:
            ids[inside] = np.concatenate(rows)
        return cls(ids, documents)

    def __len__(self) -> int:
        return int((self.ids != _END).sum())

    def uses(self, end: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of each id below `end`: how often it is used, and in how many documents."""
        inside = self.ids != _END
        return _tally(self.ids[inside], self.documents[inside], end)

    def uses_of_sequences(
        self, sequences: list[list[int]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of each sequence of ids: how often it occurs, and in how many documents.

        Follows all sequences at once, an id further each step: a place in the text stays while it
        continues some sequence. Equal beginnings share a number."""
        counts = np.zeros(len(sequences), dtype=np.int64)
        documents = np.zeros(len(sequences), dtype=np.int64)
        lengths = np.array([len(sequence) for sequence in sequences], dtype=np.int64)
        running = np.arange(len(sequences))
        number = np.zeros(len(sequences), dtype=np.int64)
        places = np.arange(len(self.ids))
        reached = np.zeros(len(places), dtype=np.int64)
        for step in range(int(lengths.max(initial=0))):
            nexts = np.array([sequences[s][step] for s in running.tolist()], dtype=np.int64)
            known, number = np.unique(number << 32 | nexts, return_inverse=True)
            here = reached << 32 | self.ids[places]
            at = np.minimum(np.searchsorted(known, here), len(known) - 1)
            stays = known[at] == here
            places, reached = places[stays] + 1, at[stays]
            times, within = _tally(reached, self.documents[places - 1], len(known))
            ends = lengths[running] == step + 1
            counts[running[ends]] = times[number[ends]]
            documents[running[ends]] = within[number[ends]]
            running, number = running[~ends], number[~ends]
            inside = places < len(self.ids)
            places, reached = places[inside], reached[inside]
        return counts, documents


def _tally(
    things: NDArray[np.int64], documents: NDArray[np.int64], end: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often each thing occurs, and in how many documents."""
    both = np.sort(things << 32 | documents)
    once = both[np.flatnonzero(np.diff(both, prepend=-1))] >> 32
    return np.bincount(things, minlength=end), np.bincount(once, minlength=end)
