"""Dropping tokens from an oversize vocabulary, for the `fewest` rule.

Under `fewest` a token needs no chain of smaller ones, so any token may go. One that is used u
times and whose text takes p other tokens saves u * (p - 1) tokens: its utility. The least useful
go, their uses pass to the tokens that take their place, and the rest are looked at again, in a few
rounds.

How often a token is used is counted on the training text, which is large, and corrected by a look
at held-out text under the rule itself. (Measured, docs/log.md: held-out text alone is too small;
pruning by it loses 1.3% on unseen text against no pruning at all, this way gains 1.1%.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _core
from .tokenizer import BYTES

# Choice: more rounds gain less than 0.1%.
ROUNDS = 4
# Choice: a use in held-out text, scaled to the size of the training text, counts this much.
HELD_OUT_WEIGHT = 0.1


def prune(
    texts: Sequence[str],
    uses: NDArray[np.int64],
    *,
    alphabet: int,
    keep: int,
    held_out: list[str],
    held_out_scale: float,
    threads: int,
    on_round: Callable[[int], None] = lambda _: None,
) -> list[int]:
    """The places of the `keep` entries to keep, in order; the first `alphabet` are always kept.

    `held_out_scale` is the size of the training text in units of the held-out text.
    """
    kept = np.arange(len(texts))
    use = uses.copy()
    encoder = _encoder(texts, use, kept)
    for round in range(1, ROUNDS + 1):
        size = round_size(len(texts), keep, round)
        seen = encoder.usage(held_out, threads)[BYTES:]
        utility = use[kept] + HELD_OUT_WEIGHT * held_out_scale * seen
        utility *= encoder.parts_without().astype(np.float64) - 1
        utility[:alphabet] = np.inf
        order = np.lexsort((kept, -utility))  # ties: the earlier entry stays
        gone, kept = kept[order[size:]], np.sort(kept[order[:size]])
        encoder = _encoder(texts, use, kept)
        use[kept] += encoder.usage([texts[g] for g in gone.tolist()], threads, use[gone])[BYTES:]
        on_round(round)
    return kept.tolist()


def round_size(start: int, end: int, round: int) -> int:
    """How many entries a round leaves: each drops the same share."""
    if start <= end:
        return start
    return max(end, int(start * (end / start) ** (round / ROUNDS) + 0.5))


def _encoder(
    texts: Sequence[str], use: NDArray[np.int64], kept: NDArray[np.int64]
) -> _core.Encoder:
    places = kept.tolist()
    return _core.Encoder([texts[p] for p in places], use[kept].tolist(), fewest=True, first_id=0)
