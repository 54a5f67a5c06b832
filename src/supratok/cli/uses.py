"""Count how often files use each token, for `inspect --corpus` and `play --corpus`.

(usage,), characters = uses_in(args, [Ours("my.json", tokenizer)])
usage[288]                           # how often the files of --corpus use the token 288
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence

import numpy as np

from ..corpus import open_corpus
from ..corpus.batches import batches
from ..formats.peer import Batching, Peer
from ..formats.runtime import Ours
from ..pages.facts import Usage
from .common import paths, print_left_out, reading_of


def uses_in(args: argparse.Namespace, peers: Sequence[Peer]) -> tuple[list[Usage], int]:
    """By tokenizer and id, how often the files of --corpus use it; and their characters. Says what
    the reading left out."""
    with open_corpus(paths(args.corpus), **reading_of(args)) as corpus:
        found = count_uses(peers, corpus)
        print_left_out("--corpus", corpus)
    return found


def count_uses(peers: Sequence[Peer], documents: Iterable[str]) -> tuple[list[Usage], int]:
    """A batch of documents at a time, so that no corpus is too long."""
    uses, characters = [np.zeros(peer.vocab_size, dtype=np.int64) for peer in peers], 0
    for texts in batches(documents):
        characters += sum(map(len, texts))
        for peer, use in zip(peers, uses, strict=True):
            use += _uses(peer, texts)
    return uses, characters


def _uses(peer: Peer, texts: list[str]) -> Usage:
    if isinstance(peer, Ours):
        return peer.tokenizer.usage(texts)
    rows = peer.encode_batch(texts) if isinstance(peer, Batching) else map(peer.encode, texts)
    ids = np.concatenate([np.asarray(row, dtype=np.int64) for row in rows])
    # Ids of other programs may have gaps and so reach beyond the size: no page lists those.
    return np.bincount(ids, minlength=peer.vocab_size)[: peer.vocab_size]
