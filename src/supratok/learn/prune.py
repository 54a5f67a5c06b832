"""Dropping the least useful tokens of a vocabulary.

Under `fewest` a token needs no chain of smaller ones, so any token may go. A token with u uses
whose text takes p other tokens saves u * (p - 1) tokens: its utility. A round drops the least
useful, gives their uses to the tokens that replace them, and computes the utilities again.

The uses are those of the training text, which is large, corrected by those of held-out text under
the rule itself. (Measured, docs/log.md: held-out text alone is too small; pruning by it loses 1.3%
on unseen text against no pruning at all, this way gains 1.1%.) A target text adds its own
(learn/target.py).

Under `merges` a token is made of two others, so only a leaf may go: a token that no other is made
of. It saves a token at each of its uses; without it its two parts replace it, and may become leaves
(`prune_leaves`).
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..common.progress import Progress
from ..corpus.target import TargetText
from ..readings import TrainingText
from ..recipe import Recipe
from ..tokenizer import BYTES, Token, alphabet_size, encoder_of
from .target import Aim

# Choice: more rounds gain less than 0.1%.
ROUNDS = 4
# Choice: a use in held-out text, scaled to the size of the training text, counts this much.
HELD_OUT_WEIGHT = 0.1


@dataclass(frozen=True)
class HeldOutText:
    """The held-out text that decides. `scale` is the size of the training text in units of it.
    `aim` is the target that decides beside it, if there is one."""

    texts: list[str]
    scale: float
    threads: int
    aim: Aim | None = None

    @classmethod
    def of(
        cls,
        text: TrainingText,
        threads: int,
        target: TargetText | None = None,
        share: float = 0.0,
    ) -> HeldOutText:
        texts, characters = text.deciding_texts(), text.totals.characters
        aim = Aim.of(target, share, (1 + HELD_OUT_WEIGHT) * characters, threads)
        return cls(texts, characters / max(1, sum(map(len, texts))), threads, aim)

    def worth(
        self, encoder: _core.Encoder, uses: NDArray[np.int64] | NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The uses of tokens in the training text, corrected by those in held-out text; and those
        in the target."""
        seen = encoder.usage(self.texts, self.threads)[BYTES:]
        worth = np.asarray(uses + HELD_OUT_WEIGHT * self.scale * seen)
        return worth if self.aim is None else self.aim.mix(worth, self.aim.uses(encoder))


def prune_to_size(
    tokens: list[Token],
    uses: NDArray[np.int64],
    keep: int,
    recipe: Recipe,
    text: TrainingText,
    threads: int,
    progress: Progress,
    target: TargetText | None = None,
) -> tuple[list[Token], dict[str, int]]:
    """The `keep` most useful tokens, in order, and facts for the report."""
    progress.start("pruning", ROUNDS, "rounds")
    choose = prune if recipe.segmentation == "fewest" else prune_leaves
    kept = choose(
        [token.text for token in tokens],
        uses,
        alphabet=alphabet_size(tokens),
        keep=keep,
        held_out=HeldOutText.of(text, threads, target, recipe.target_share),
        on_round=progress.at,
    )
    dropped = len(tokens) - len(kept)
    progress.end(dropped=dropped)
    return [tokens[place] for place in kept], {"candidates": len(tokens), "dropped": dropped}


def prune(
    texts: Sequence[str],
    uses: NDArray[np.int64],
    *,
    alphabet: int,
    keep: int,
    held_out: HeldOutText,
    on_round: Callable[[int], None] = lambda _: None,
) -> list[int]:
    """The places of the `keep` most useful entries, in order; the first `alphabet` stay."""
    kept = np.arange(len(texts))
    use = uses.copy()
    encoder = _encoder(texts, use, kept)
    for round in range(1, ROUNDS + 1):
        size = round_size(len(texts), keep, round)
        utility = held_out.worth(encoder, use[kept])
        utility *= encoder.parts_without().astype(np.float64) - 1
        utility[:alphabet] = np.inf
        order = np.lexsort((kept, -utility))  # ties: the earlier entry stays
        gone, kept = kept[order[size:]], np.sort(kept[order[:size]])
        on_round(round)
        if round == ROUNDS:
            break
        encoder = _encoder(texts, use, kept)
        use[kept] += encoder.usage([texts[g] for g in gone.tolist()], held_out.threads, use[gone])[
            BYTES:
        ]
    return kept.tolist()


def round_size(start: int, end: int, round: int) -> int:
    """How many entries a round leaves; each round drops the same share."""
    if start <= end:
        return start
    return max(end, int(start * (end / start) ** (round / ROUNDS) + 0.5))


def _encoder(
    texts: Sequence[str],
    use: NDArray[np.int64],
    kept: NDArray[np.int64],
    fewest: bool = True,
) -> _core.Encoder:
    places = kept.tolist()
    return encoder_of([texts[p] for p in places], fewest, use[kept].tolist())


def prune_leaves(
    texts: Sequence[str],
    uses: NDArray[np.int64],
    *,
    alphabet: int,
    keep: int,
    held_out: HeldOutText,
    on_round: Callable[[int], None] = lambda _: None,
) -> list[int]:
    """`prune` for the `merges` rule: drops the least used leaves; their parts inherit their uses.

        a b c, ab (9 uses), abc (2), bc (4)
        keep 5:  abc goes, ab has 11 uses           keep 4:  bc goes as well; ab stays

    Invariant: a leaf is in no other token's making, so each token still encodes to itself.
    """
    kept = np.arange(len(texts))
    use = uses.astype(np.float64)
    for round in range(1, ROUNDS + 1):
        size = round_size(len(texts), keep, round)
        encoder = _encoder(texts, uses, kept, fewest=False)
        worth = held_out.worth(encoder, use[kept])
        parts = [encoder.parts(place) or () for place in range(len(kept))]
        gone = _drop_leaves(parts, use, kept, worth, alphabet, len(kept) - size)
        kept = np.delete(kept, gone)
        on_round(round)
    bad = np.flatnonzero(_encoder(texts, uses, kept, fewest=False).states())
    if len(bad):
        raise AssertionError(f"pruning broke the token {texts[kept[bad[0]]]!r}")
    return kept.tolist()


def _drop_leaves(
    parts: Sequence[tuple[int, ...]],
    use: NDArray[np.float64],
    kept: NDArray[np.int64],
    worth: NDArray[np.float64],
    alphabet: int,
    count: int,
) -> list[int]:
    """The leaves to drop, one after the other, by places in `kept`. Their uses, in the training
    text (`use`) and in all (`worth`), pass to their parts: this changes both arrays.

    Invariant: nothing is made of a leaf, so no leaf inherits, and prices in the heap stay right."""
    needed = Counter(part for pair in parts for part in pair)

    def entry(place: int) -> tuple[float, int]:
        return float(worth[place]), -place  # ties: the earlier entry stays

    leaves = [entry(place) for place in range(alphabet, len(parts)) if not needed[place]]
    heapq.heapify(leaves)
    gone: list[int] = []
    while leaves and len(gone) < count:
        place = -heapq.heappop(leaves)[1]
        gone.append(place)
        for part in parts[place]:
            worth[part] += worth[place]
            use[kept[part]] += use[kept[place]]
            needed[part] -= 1
        for part in set(parts[place]):
            if part >= alphabet and not needed[part]:
                heapq.heappush(leaves, entry(part))
    return gone
