"""Training without the curriculum, for comparison: one pass over whole stretches of text, in which
merges inside words and across them compete from the start.

A phrase may form before its words are complete, and then blocks longer words: " of the" is
frequent, so " of there" becomes " of the" + "re". The pass also needs memory in proportion to the
text, because nearly every stretch of text is unique.
"""

from __future__ import annotations

import numpy as np

from ..common import _core
from ..common.progress import Progress
from ..readings import Stretches, TrainingText
from ..recipe import Recipe
from ..tokenizer import Token
from .merging import Learnt, PhraseMerges, encodable, run_merges
from .words import are_words


def learn_at_once(
    alphabet: list[Token], text: TrainingText, recipe: Recipe, threads: int, progress: Progress
) -> Learnt:
    """The alphabet and all merges. A token of one word is born "traditional", of several
    "multiword"."""
    table, rules = text.read(Stretches(recipe)), recipe.boundaries
    codes = [ord(token.text) for token in alphabet]
    sequences = _core.Sequences.of_words(table, codes)
    del table  # frees its memory
    limits = _core.Limits(
        bytes=rules.max_bytes,
        digits=rules.max_digits,
        one_script=rules.one_script and recipe.scripts is not None,
        spaces=rules.max_words,
        names=sorted(recipe.names),
    )
    merger = _core.Merger.over_characters(sequences, codes, limits, recipe.min_count, threads)
    room = recipe.room(recipe.learnt_size) - len(alphabet)
    progress.start("merges", room, "merges")
    run_merges(merger, room, progress)
    merges = PhraseMerges(merger, [token.text for token in alphabet])
    chosen = _usable(merges, room, recipe)
    progress.end(merges=len(chosen))
    texts, counts, uses = merger.texts(), merger.counts().tolist(), merger.usage()
    words = are_words(texts, recipe)
    tokens = [
        Token(texts[place], counts[place], "traditional" if words[place] else "multiword")
        for place in chosen
    ]
    return Learnt(
        alphabet + tokens, np.concatenate([uses[: len(codes)], uses[len(codes) :][chosen]])
    )


def _usable(merges: PhraseMerges, room: int, recipe: Recipe) -> list[int]:
    """The first merges that make new texts and, under `merges`, encode to themselves."""
    while True:
        places, texts = merges.first_of_each_text(), merges.merger.texts()
        if recipe.segmentation == "merges":
            good = encodable(merges.units, [texts[place] for place in places])
            places = [places[i] for i in good]
        if len(places) >= room or merges.merger.run(room - len(places)) == 0:
            return places[:room]
