"""How often tokens and sequences of tokens occur in encoded held-out text.

ids 7 4 9 | 4 9        two documents
token 4: used twice, in two documents; the sequence 4 9: likewise; 7 4 9: once
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...common import _core
from .deciding import Deciding

_END = 2**31  # separates documents: no id is so high


@dataclass(frozen=True)
class Encoded:
    """The ids of some documents, end to end, and the number of the document each belongs to."""

    ids: NDArray[np.int64]
    documents: NDArray[np.int64]
    weights: NDArray[np.float64]  # of each document: how much a use in it counts

    @classmethod
    def of(cls, encoder: _core.Encoder, held_out: Deciding, threads: int) -> Encoded:
        rows = encoder.encode_batch(held_out.texts, threads, True)
        sizes = np.array([len(row) + 1 for row in rows], dtype=np.int64)
        ids = np.full(int(sizes.sum()), _END, dtype=np.int64)
        documents = np.repeat(np.arange(len(rows)), sizes)
        inside = np.ones(len(ids), dtype=np.bool_)
        inside[np.cumsum(sizes) - 1] = False
        if rows:
            ids[inside] = np.concatenate(rows)
        return cls(ids, documents, held_out.weights)

    def __len__(self) -> int:
        return int((self.ids != _END).sum())

    def uses(self, end: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of each id below `end`: how often it is used, and in how many documents; by weight."""
        inside = self.ids != _END
        return self._tally(self.ids[inside], self.documents[inside], end)

    def uses_of_sequences(
        self, sequences: list[list[int]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of each sequence of ids: how often it occurs, and in how many documents.

        Follows all sequences at once, an id further each step: a place in the text stays while it
        continues some sequence. Equal beginnings share a number."""
        counts, documents = np.zeros(len(sequences)), np.zeros(len(sequences))
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
            times, within = self._tally(reached, self.documents[places - 1], len(known))
            ends = lengths[running] == step + 1
            counts[running[ends]] = times[number[ends]]
            documents[running[ends]] = within[number[ends]]
            running, number = running[~ends], number[~ends]
            inside = places < len(self.ids)
            places, reached = places[inside], reached[inside]
        return counts, documents

    def _tally(
        self, things: NDArray[np.int64], documents: NDArray[np.int64], end: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How often each thing occurs, and in how many documents, by their weights."""
        both = np.sort(things << 32 | documents)
        once = both[np.flatnonzero(np.diff(both, prepend=-1))]
        return (
            _sums(things, self.weights[documents], end),
            _sums(once >> 32, self.weights[once & 0xFFFFFFFF], end),
        )


def _sums(things: NDArray[np.int64], weights: NDArray[np.float64], end: int) -> NDArray[np.float64]:
    return np.bincount(things, weights, minlength=end).astype(np.float64)
