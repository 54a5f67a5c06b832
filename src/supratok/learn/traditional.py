"""The traditional pass: BPE inside words, learnt to the full size, so that the worth of each merge
is known: the tokens it saves. The multiword pass decides how many of the merges stay.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..common.progress import Progress
from ..recipe import Recipe
from ..tokenizer import Token
from .merging import Parts, run_merges, uses_without
from .scripts import ScriptRules


@dataclass
class Words:
    """The alphabet and all merges inside words, with the tokens that each merge saves."""

    alphabet: list[Token]
    texts: list[str]  # of the merges
    counts: NDArray[np.int64]
    uses: NDArray[np.int64]  # of the alphabet and the merges, after all merges
    parts: Parts
    room: int  # how many tokens all passes together may learn

    def base(self, merges: int) -> list[str]:
        """The texts of the alphabet and of the first merges."""
        return [token.text for token in self.alphabet] + self.texts[:merges]

    def tokens(self, merges: int) -> list[Token]:
        """The alphabet and the first merges."""
        rows = zip(self.texts[:merges], self.counts[:merges].tolist(), strict=True)
        return self.alphabet + [Token(text, count, "traditional") for text, count in rows]

    def uses_after(self, merges: int) -> NDArray[np.int64]:
        """The uses of the alphabet and of the first merges, after these."""
        later = reversed(range(merges, len(self.texts)))
        return uses_without(self.uses, self.parts, later)[: len(self.alphabet) + merges]


def learn_traditional(
    alphabet: list[Token],
    words: _core.WordTable,
    rules: ScriptRules,
    recipe: Recipe,
    threads: int,
    progress: Progress,
) -> Words:
    """BPE inside words, as script-aware processing counts and cuts them."""
    room = recipe.room(recipe.learnt_size) - len(alphabet)
    progress.start("traditional", room, "merges")
    codes = [ord(token.text) for token in alphabet]
    by = np.fromiter(rules.changes.values(), dtype=np.int64, count=len(rules.changes))
    sequences = _core.Sequences.of_words(
        words, codes, rules.bigrams, rules.gate, list(rules.changes), by
    )
    limits = _core.Limits(
        bytes=recipe.boundaries.max_bytes,
        digits=recipe.boundaries.max_digits,
        names=sorted(recipe.names),
    )
    merger = _core.Merger.over_characters(sequences, codes, limits, recipe.min_count, threads)
    run_merges(merger, room, progress)
    learnt = Words(
        alphabet, merger.texts(), merger.counts(), merger.usage(), merger.parts(), room
    )  # fmt: skip
    progress.end(merges=len(learnt.texts))
    return learnt
