"""Training without the curriculum: one pass over whole stretches of text, in which merges inside
words and across them compete from the start.

It is here to be compared with. A phrase may form before its words are complete, and then stands in
the way of longer words: " of the" is frequent, so " of there" becomes " of the" + "re". It also
needs memory in proportion to the text, for nearly every stretch of text is unique.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..tokenizer import BYTES, Token
from .count import joints, training_texts
from .multiword import Job, encodable
from .traditional import learnt_size, run_merges


def learn_at_once(job: Job, alphabet: list[int]) -> tuple[list[Token], NDArray[np.int64]]:
    """All tokens in rank order, and how often each stands in the training text. A token of one
    word is born "traditional", of several "multiword"."""
    recipe, rules = job.recipe, job.recipe.boundaries
    table = _core.WordTable(1, recipe.scripts is not None, joints(recipe))
    table.count(training_texts(job.corpus, job.counted, "stretches", job.progress), job.threads)
    job.progress.end(stretches=len(table))
    sequences = _core.Sequences.of_words(table, alphabet)
    del table
    limits = _core.Limits(
        bytes=rules.max_bytes,
        digits=rules.max_digits,
        one_script=rules.one_script and recipe.scripts is not None,
        spaces=rules.max_words,
        names=sorted(recipe.names),
    )
    merger = _core.Merger.over_characters(sequences, alphabet, limits, recipe.min_count)
    room = learnt_size(recipe) - len(recipe.special_tokens) - BYTES - len(alphabet)
    job.progress.start("merges", room, "merges")
    run_merges(merger, room, job.progress)
    chosen = _usable(merger, alphabet, room, job)
    job.progress.end(merges=len(chosen))
    return _tokens(merger, alphabet, chosen, job)


def _usable(merger: _core.Merger, alphabet: list[int], room: int, job: Job) -> list[int]:
    """The first merges that give new texts and, under the merges rule, encode to themselves."""
    characters = [chr(code) for code in alphabet]
    while True:
        texts = merger.texts()
        first = {text: place for place, text in reversed(list(enumerate(texts)))}
        places = sorted(first.values())
        if job.recipe.segmentation == "merges":
            good = encodable(characters, [texts[place] for place in places])
            places = [places[i] for i in good]
        if len(places) >= room or merger.run(room - len(places)) == 0:
            return places[:room]


def _tokens(
    merger: _core.Merger, alphabet: list[int], chosen: list[int], job: Job
) -> tuple[list[Token], NDArray[np.int64]]:
    characters, by_class = job.counted.words.characters(), job.recipe.scripts is not None
    tokens = [Token(chr(code), int(characters[code]), "alphabet") for code in alphabet]
    texts, counts = merger.texts(), merger.counts().tolist()
    for place in chosen:
        one_word = len(_core.split_words(texts[place], by_class)) == 1
        tokens.append(
            Token(texts[place], counts[place], "traditional" if one_word else "multiword")
        )
    uses = merger.usage()
    return tokens, np.concatenate([uses[: len(alphabet)], uses[len(alphabet) :][chosen]])
