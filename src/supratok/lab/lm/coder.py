"""A tokenizer as a model uses it: the ids of texts, and the id that ends a document.

coder = Coder(open_any("my-model"))
coder.encode("as well as")      # ids
coder.end                       # the token between documents: the id of </s>, if it has that token
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...common.reserved import END_NAMES
from ...corpus.batches import batches
from ...formats.huggingface.run import HuggingFace
from ...formats.peer import Batching, Named, Peer
from ...formats.runtime import Ours

Ids = NDArray[np.int32]
_EVEN = 64  # GPUs multiply embedding tables faster if their height is a multiple of this


@dataclass(frozen=True)
class Coder:
    """`end_token` is the special token that ends documents. Without it the coder takes the one that
    the tokenizer has under a usual name, such as "</s>"; a tokenizer without one gets a new id,
    after its vocabulary."""

    peer: Peer
    end_token: str | None = None

    @functools.cached_property
    def end(self) -> int:
        """The id that ends documents."""
        if self.end_token is not None:
            id = _id_of(self.peer, self.end_token)
            if id is None:
                raise ValueError(
                    f"end_token={self.end_token!r}: {self.peer.name} has no such special token; add"
                    f" it with `supratok export ... --eos '{self.end_token}'`"
                )
            return id
        found = [id for name in END_NAMES if (id := _id_of(self.peer, name)) is not None]
        return found[0] if found else self.peer.vocab_size

    @property
    def size(self) -> int:
        """One more than the largest id, the end of documents included."""
        return max(self.peer.vocab_size, self.end + 1)

    @property
    def rows(self) -> int:
        """The height of the embedding table; the last few rows may be unused."""
        return -(-self.size // _EVEN) * _EVEN

    def encode(self, text: str) -> Ids:
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Sequence[str]) -> list[Ids]:
        if isinstance(self.peer, Batching):
            found: Sequence[object] = self.peer.encode_batch(list(texts))
        else:
            found = [self.peer.encode(text) for text in texts]
        coded = [np.asarray(ids, dtype=np.int32) for ids in found]
        highest = max((int(ids.max()) for ids in coded if len(ids)), default=0)
        if highest >= self.size:
            raise ValueError(
                f"id {highest} in the text, where {self.peer.name} has {self.size} ids: they have"
                " holes; choose a tokenizer that numbers its tokens from 0 on"
            )
        return coded

    def encode_all(self, texts: Iterable[str]) -> list[Ids]:
        """The ids of many texts, encoded a portion at a time."""
        return [ids for batch in batches(texts) for ids in self.encode_batch(batch)]


class _WordsOnly(Ours):
    """One of our tokenizers, encoding without phrases."""

    def encode_batch(self, texts: list[str], threads: int | None = None) -> list[NDArray[np.int64]]:
        return self.tokenizer.encode_batch(texts, threads, words_only=True, numpy=True)


def without_phrases(coder: Coder) -> Coder:
    """The same ids for a model, but no token of several words; only our tokenizers know which
    those are, so any other stays as it is."""
    one = bare(coder.peer)
    if not isinstance(one, Ours):
        return coder
    return Coder(_WordsOnly(one.name, one.tokenizer), coder.end_token)


def bare(peer: Peer) -> Peer:
    """The tokenizer without the name that `Named` gives it."""
    return bare(peer.peer) if isinstance(peer, Named) else peer


def _id_of(peer: Peer, token: str) -> int | None:
    """The id of a special token."""
    one = bare(peer)
    if isinstance(one, Ours):
        return one.tokenizer.special_tokens.get(token)
    return one.special_id(token) if isinstance(one, HuggingFace) else None
