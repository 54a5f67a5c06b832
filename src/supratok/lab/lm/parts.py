"""Phrases and their words, and the training aids built on them.

A phrase is rarer than its words, so a short training sees too little of it. A training aid lets the
model use what it knows about the words:

- **Splitting** (superword dropout): the model sometimes reads a phrase as its words. So it sees the
  words too, and learns that both mean the same. Splitting should fade: a model that must expect
  split phrases to the end reserves probability for text that the tokenizer never writes. A `rest`
  that never fades, or comes back at the end, did not help where we tried it.
- **Starting** from the words: the embedding of a phrase starts as the mean of its words'.
- **Sharing** with the words: throughout training the embedding of a phrase is the mean of its
  words' embeddings plus a row of its own, so its phrases learn with every word. After training the
  sum is written into the table, and the model is a plain one.
- **Composing** of the words: sharing, but the first word, the last word and the words between them
  each pass a learnt matrix. Text before a phrase predicts its first word, and its last word
  predicts the text after it; a mean treats both alike.

    parts = phrase_parts(coder)              # " New York" -> " New", " York"
    Stream(documents, coder.end, rewrite=Splitting(parts, share=0.1))
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import embedding

from ...formats.peer import Spelling
from .coder import Coder, Ids

_SAMPLES = 10_000  # places of a run, to estimate a mean by
_BEFORE_WORDS = re.compile(r"(?<=\S)(?=\s)")


@dataclass(frozen=True)
class Parts:
    """For each id: the number of tokens of its words, and where they begin in `tokens`. An id that
    is no phrase has one part, itself."""

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
    """The parts of each phrase: its words, encoded one by one."""
    found = [[id] for id in range(coder.rows)]
    if not isinstance(coder.peer, Spelling):
        raise ValueError(f"{coder.peer.name}: this tokenizer does not give the text of its tokens")
    texts = {id: coder.peer.token_text(id) for id in range(coder.peer.vocab_size)}
    words = {id: cut for id, text in texts.items() if len(cut := _BEFORE_WORDS.split(text)) > 1}
    # A text that does not encode to its own token holds a part of a character, or looks like one.
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
    """Replaces each phrase by its words with the probability `share`. If `until` is given, the
    probability falls linearly and is 0 from that token of the stream on; or from the token `since`
    on never less than `rest`."""

    parts: Parts
    share: float
    until: int | None = None
    rest: float = 0.0
    since: int = 0

    def __post_init__(self) -> None:
        if not 0.0 <= self.share <= 1.0:
            raise ValueError(f"share={self.share}: a probability from 0 to 1")
        if self.until is not None and self.until < 1:
            raise ValueError(f"until={self.until}: a number of tokens above 0, or None")
        if not 0.0 <= self.rest <= 1.0:
            raise ValueError(f"rest={self.rest}: a probability from 0 to 1")

    def share_at(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """The probability for tokens at these places of the stream."""
        falling: NDArray[np.float64] = np.full(len(places), self.share)
        if self.until is not None:
            falling = self.share * np.maximum(0.0, 1.0 - places / self.until)
        return np.where(places < self.since, falling, np.maximum(falling, self.rest))

    def longer(self, documents: Iterable[Ids], budget: int) -> float:
        """The expected number of tokens that splitting adds to one round of the documents, in a
        run of `budget` tokens. An estimate: `until` counts tokens before splitting, the budget
        counts them after it."""
        mean = self.share
        if self.rest:
            mean = float(self.share_at(np.linspace(0, budget, _SAMPLES, dtype=np.int64)).mean())
        elif self.until is not None:
            read = min(self.until, budget)
            mean *= read / budget * (1.0 - read / self.until / 2.0)
        return mean * sum(int((self.parts.counts[ids] - 1).sum()) for ids in documents)

    def __call__(self, ids: Ids, place: int, chance: np.random.Generator) -> Ids:
        """`place`: the number of tokens of the stream before these ids, before splitting."""
        counts = self.parts.counts[ids]
        share = self.share_at(place + np.arange(len(ids)))
        counts[(counts > 1) & (chance.random(len(ids)) >= share)] = 1
        split = counts > 1
        starts = np.where(split, self.parts.starts[ids], 0)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        parts = self.parts.tokens[np.repeat(starts, counts) + within]
        return np.where(np.repeat(split, counts), parts, np.repeat(ids, counts)).astype(np.int32)


class Sharing(nn.Module):
    """Adds to the embedding of each phrase the mean of its words' embeddings. With `composed`, the
    first, middle and last words pass a matrix each before the mean; the matrices start as identity.
    The phrases' own rows stay as they are, zeros, for the share `late` of the steps.

    Phrases with the same number of parts are computed together, as one small sum.
    """

    def __init__(self, parts: Parts, width: int, composed: bool = False, late: float = 0.0) -> None:
        super().__init__()
        self.late = late
        self._groups: list[tuple[str, str]] = []
        for count in np.unique(parts.counts[parts.phrases]).tolist():
            ids = parts.phrases[parts.counts[parts.phrases] == count]
            words = parts.tokens[parts.starts[ids][:, None] + np.arange(count)].astype(np.int64)
            names = f"phrases_{count}", f"words_{count}"
            for name, places in zip(names, (ids, words), strict=True):
                self.register_buffer(name, torch.from_numpy(places), persistent=False)
            self._groups.append(names)
        self.first, self.middle, self.last = (
            nn.Parameter(torch.eye(width)) if composed else None for _ in range(3)
        )

    def means(self, table: Tensor) -> list[tuple[Tensor, Tensor]]:
        """The ids of phrases, and the means of their words."""
        return [
            (self.get_buffer(ids), self._mean(embedding(self.get_buffer(words), table)))
            for ids, words in self._groups
        ]

    def _mean(self, words: Tensor) -> Tensor:
        """The mean for phrases with the same number of words."""
        if self.first is None or self.middle is None or self.last is None:
            return words.mean(dim=1)
        total = words[:, 0] @ self.first + words[:, -1] @ self.last
        if words.shape[1] > 2:
            total = total + words[:, 1:-1].sum(dim=1) @ self.middle
        return total / words.shape[1]

    def full(self, table: Tensor, own: bool = True) -> Tensor:
        """The table to train with: rows of phrases plus their means. Differentiable; without `own`
        the rows of phrases are their means alone, and do not learn."""
        if not self._groups:
            return table
        ids, means = zip(*self.means(table), strict=True)
        phrases = torch.cat(ids)
        rows = table if own else table.index_fill(0, phrases, 0.0)
        return rows.index_add(0, phrases, torch.cat(means))

    @torch.no_grad()
    def start(self, table: Tensor, own: bool) -> None:
        """Set the rows of phrases before training: to zeros where `full` adds the means (`own`),
        otherwise to the means of their words."""
        for ids, mean in self.means(table.clone()):
            table[ids] = torch.zeros_like(mean) if own else mean
