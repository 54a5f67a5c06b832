"""Phrases and the words they are made of, and three ways to help a model that learns phrases.

A phrase is rarer than its words, so a short training sees too little of it. What is known about its
words can help:

- **Splitting** (superword dropout): now and then a phrase is read as its words, so that the model
  meets the words too, and learns that both mean the same.
- **Starting** from the words: the embedding of a phrase begins as the mean of theirs.
- **Sharing** with the words: all through training the embedding of a phrase is the mean of theirs
  plus a part of its own. What is learnt about a word reaches its phrases at once. When training
  ends, the sum is written into the table, so the model is a plain one.

    parts = phrase_parts(coder)              # " New York" -> " New", " York"
    Stream(documents, coder.end, change=Splitting(parts, share=0.1))
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...compare import Spelling
from .coder import Coder, Ids

_BEFORE_WORDS = re.compile(r"(?<=\S)(?=\s)")


@dataclass(frozen=True)
class Parts:
    """Of each id: how many tokens its words are, and where these begin in `tokens`. An id that is
    no phrase is one part, itself."""

    counts: NDArray[np.int64]
    starts: NDArray[np.int64]
    tokens: Ids

    @property
    def phrases(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.counts > 1)

    def of(self, id: int) -> list[int]:
        start = self.starts[id]
        return [int(part) for part in self.tokens[start : start + self.counts[id]]]


def phrase_parts(coder: Coder) -> Parts:
    """The tokens of the words of each phrase, every word encoded by itself."""
    found = [[id] for id in range(coder.rows)]
    if not isinstance(coder.peer, Spelling):
        raise ValueError(f"{coder.peer.name}: it does not tell the text of its tokens")
    texts = {id: coder.peer.token_text(id) for id in range(coder.end)}
    words = {id: cut for id, text in texts.items() if len(cut := _BEFORE_WORDS.split(text)) > 1}
    # What does not come back as the same token holds a part of a character, or is written so.
    whole = coder.encode_batch([texts[id] for id in words])
    real = [id for id, ids in zip(words, whole, strict=True) if ids.tolist() == [id]]
    coded = iter(coder.encode_batch([word for id in real for word in words[id]]))
    for id in real:
        found[id] = [int(part) for _ in words[id] for part in next(coded)]
    counts = np.array([len(parts) for parts in found])
    flat = np.array([part for parts in found for part in parts], dtype=np.int32)
    return Parts(counts, np.cumsum(counts) - counts, flat)


@dataclass(frozen=True)
class Splitting:
    """Reads each phrase as its words with the probability `share`."""

    parts: Parts
    share: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.share <= 1.0:
            raise ValueError(f"share={self.share}: a probability from 0 to 1")

    def longer(self, documents: Iterable[Ids]) -> float:
        """How many more tokens there are to be expected of these."""
        return self.share * sum(int((self.parts.counts[ids] - 1).sum()) for ids in documents)

    def __call__(self, ids: Ids, chance: np.random.Generator) -> Ids:
        counts = self.parts.counts[ids]
        counts[(counts > 1) & (chance.random(len(ids)) >= self.share)] = 1
        split = counts > 1
        starts = np.where(split, self.parts.starts[ids], 0)
        place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        parts = self.parts.tokens[np.repeat(starts, counts) + place]
        return np.where(np.repeat(split, counts), parts, np.repeat(ids, counts)).astype(np.int32)


class Sharing:
    """The table of embeddings with the mean of their words added to phrases.

    Phrases with equally many parts are looked up together: a mean is one small sum.
    """

    def __init__(self, parts: Parts, device: torch.device | str) -> None:
        self._groups = []
        for count in np.unique(parts.counts[parts.phrases]):
            ids = parts.phrases[parts.counts[parts.phrases] == count]
            words = parts.tokens[parts.starts[ids][:, None] + np.arange(count)].astype(np.int64)
            pair = torch.from_numpy(ids), torch.from_numpy(words)
            self._groups.append((pair[0].to(device), pair[1].to(device)))

    def means(self, table: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Phrases, and the means of their words."""
        return [(ids, table[words].mean(dim=1)) for ids, words in self._groups]

    def full(self, table: Tensor) -> Tensor:
        """What stands in for the table while a model learns; differentiable."""
        for ids, mean in self.means(table):
            table = table.index_add(0, ids, mean)
        return table

    @torch.no_grad()
    def start(self, table: Tensor, own: bool) -> None:
        """The rows of phrases before training: the means of their words or, where these are added
        anyway (`own`), nothing."""
        for ids, mean in self.means(table.clone()):
            table[ids] = torch.zeros_like(mean) if own else mean
