"""The traditional pass: BPE inside words, learnt to the full size, so that the worth of its every
merge is known: the tokens it saves. How many of them stay is decided by the multiword pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..common.progress import Progress
from ..recipe import Recipe
from ..tokenizer import BYTES
from .scripts import Evidence

SLICE = 500  # merges between two looks at the progress (and at Ctrl-C)


@dataclass
class Words:
    """What the traditional pass learnt, to the full size; `counts` are the tokens each merge saves.

    `room` is how many tokens there are to learn in all, in all passes."""

    sequences: _core.Sequences
    alphabet: list[int]
    texts: list[str]
    counts: NDArray[np.int64]
    room: int


def learn_traditional(
    table: _core.WordTable,
    alphabet: list[int],
    evidence: Evidence,
    recipe: Recipe,
    progress: Progress,
) -> Words:
    """BPE inside words, as script-aware processing counts and cuts them."""
    room = learnt_size(recipe) - len(recipe.special_tokens) - BYTES - len(alphabet)
    progress.start("traditional", room, "merges")
    changes = list(evidence.changes)
    by = np.fromiter(evidence.changes.values(), dtype=np.int64, count=len(changes))
    sequences = _core.Sequences.of_words(
        table, alphabet, evidence.bigrams, evidence.gate, changes, by
    )
    merger = traditional_merger(sequences, alphabet, recipe)
    run_merges(merger, room, progress)
    words = Words(sequences, alphabet, merger.texts(), merger.counts(), room)
    progress.end(merges=len(words.texts))
    return words


def traditional_merger(
    sequences: _core.Sequences, alphabet: list[int], recipe: Recipe
) -> _core.Merger:
    rules = recipe.boundaries
    limits = _core.Limits(
        bytes=rules.max_bytes, digits=rules.max_digits, names=sorted(recipe.names)
    )
    return _core.Merger.over_characters(sequences, alphabet, limits, recipe.min_count)


def run_merges(merger: _core.Merger, merges: int, progress: Progress) -> None:
    """Make so many merges, or as many as there are."""
    done = 0
    while done < merges:
        made = merger.run(min(SLICE, merges - done))
        if made == 0:
            break
        done += made
        progress.at(done)


def learnt_size(recipe: Recipe) -> int:
    """How large a vocabulary is learnt, before any pruning."""
    fewest = recipe.segmentation == "fewest"
    return int(recipe.vocab_size * recipe.oversize) if fewest else recipe.vocab_size
