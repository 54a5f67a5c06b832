"""A tokenizer as a model uses it: the ids of texts, and one more id that ends a document.

coder = Coder(open_any("supratok.json"))
coder.encode("as well as")      # ids
coder.end                       # the token between documents
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...corpus.batches import batches
from ...formats.peer import Batching, Peer

Ids = NDArray[np.int32]
_EVEN = 64  # GPUs multiply embedding tables faster if their height is a multiple of this


@dataclass(frozen=True)
class Coder:
    """`end` is the id after the vocabulary, so a tokenizer needs no token that ends documents."""

    peer: Peer

    @property
    def end(self) -> int:
        return self.peer.vocab_size

    @property
    def rows(self) -> int:
        """The height of the embedding table; the last few rows may be unused."""
        return -(-(self.end + 1) // _EVEN) * _EVEN

    def encode(self, text: str) -> Ids:
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Sequence[str]) -> list[Ids]:
        if isinstance(self.peer, Batching):
            found: Sequence[object] = self.peer.encode_batch(list(texts))
        else:
            found = [self.peer.encode(text) for text in texts]
        return [np.asarray(ids, dtype=np.int32) for ids in found]

    def encode_all(self, texts: Iterable[str]) -> list[Ids]:
        """The ids of many texts, encoded a portion at a time."""
        return [ids for batch in batches(texts) for ids in self.encode_batch(batch)]
