"""The two readings of the documents: words and held-out samples first, runs of words later."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from . import _core, tables
from .corpus import Corpus, CorpusError
from .heldout import HeldOut, digest, is_for_measuring, is_held_out
from .progress import Progress
from .recipe import Boundaries, Recipe
from .tokenizer import BYTES


@dataclass
class Counted:
    """What the first reading leaves: the word table, samples of held-out documents, and totals."""

    words: _core.WordTable = field(default_factory=lambda: _core.WordTable(tables.SKETCH_BITS))
    # The held-out documents in two halves: one to decide by, one to measure the result on.
    deciding: HeldOut = field(default_factory=HeldOut)
    measuring: HeldOut = field(default_factory=HeldOut)
    documents: int = 0
    held_out_documents: int = 0
    characters: int = 0  # of the training documents
    skipped: dict[str, int] = field(default_factory=dict)

    @property
    def holds_out(self) -> bool:
        """A corpus so small that all of it would be held out is trained on instead."""
        return 0 < self.held_out_documents < self.documents


def count_words(
    corpus: Corpus, threads: int, progress: Progress, *, hold_out: bool = True
) -> Counted:
    """The first reading: 5% of the documents are held out, unless told otherwise, and the words of
    the others are counted."""
    counted = Counted()

    def training_documents() -> Iterator[str]:
        for text in _watched(corpus, "words", progress):
            counted.documents += 1
            code = digest(text) if hold_out else None
            if code is not None and is_held_out(code):
                counted.held_out_documents += 1
                half = counted.measuring if is_for_measuring(code) else counted.deciding
                half.add(text, code)
            else:
                counted.characters += len(text)
                yield text

    counted.words.count(training_documents(), threads)
    if counted.documents == 0:
        raise CorpusError("the corpus is empty: no documents were found; check what was passed")
    if counted.held_out_documents == counted.documents:
        counted.words.count(corpus, threads)
        counted.characters = sum(map(len, corpus))
    counted.skipped = dict(sorted(corpus.skipped.items()))
    progress.end(words=len(counted.words), documents=counted.documents)
    return counted


def _watched(corpus: Corpus, phase: str, progress: Progress) -> Iterator[str]:
    """The documents, with the progress kept up to date."""
    sized = corpus.bytes_total is not None
    progress.start(phase, corpus.bytes_total, "B" if sized else "documents")
    for number, text in enumerate(corpus):
        if number % 64 == 0:
            progress.at(corpus.bytes_read if sized else number, corpus.bytes_total)
        yield text


def choose_alphabet(characters: NDArray[np.int64], recipe: Recipe) -> list[int]:
    """The most frequent characters that together make up the coverage asked for."""
    seen = np.flatnonzero(characters)
    order = seen[np.lexsort((seen, -characters[seen]))]
    covered = np.cumsum(characters[order])
    enough = int(np.searchsorted(covered, recipe.character_coverage * covered[-1])) + 1
    alphabet = [int(code) for code in order[:enough]]
    base = len(recipe.special_tokens) + BYTES
    if base + len(alphabet) > recipe.vocab_size:
        raise ValueError(
            f"vocab_size={recipe.vocab_size} is too small: {base} special tokens and bytes and"
            f" {len(alphabet)} characters already take {base + len(alphabet)}; raise vocab_size,"
            f" or lower character_coverage={recipe.character_coverage}"
        )
    return alphabet


def count_runs(
    corpus: Corpus,
    counted: Counted,
    known: list[str],
    rules: Boundaries,
    floor: int,
    threads: int,
    progress: Progress,
) -> _core.RunTable:
    joints = _core.Joints(
        cross_sentence=rules.cross_sentence,
        cross_colon=rules.cross_colon,
        numbers=rules.numbers_in_phrases,
    )
    table = _core.RunTable(known, counted.words, joints, floor)
    documents = _watched(corpus, "runs", progress)
    if counted.holds_out:
        documents = (text for text in documents if not is_held_out(digest(text)))
    table.count(documents, threads)
    progress.end(runs=len(table))
    return table
