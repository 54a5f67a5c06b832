"""The two readings of the documents: words and held-out samples first, runs of words later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from . import _core, tables
from .corpus import Corpus, CorpusError, Document
from .heldout import HeldOut, digest, is_for_measuring, is_held_out
from .languages import language_of
from .progress import Progress
from .recipe import Recipe
from .tokenizer import BYTES

_PORTION = 4_000_000  # characters of a language, between two countings of them


@dataclass
class Counted:
    """What the first reading leaves: the word table, samples of held-out documents, and totals."""

    words: _core.WordTable
    # Of the languages with rules of their own: their words once more, and the documents.
    by_language: dict[str, _core.WordTable] = field(default_factory=dict)
    languages: Counter[str] = field(default_factory=Counter)
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
        return self.documents > self.held_out_documents


def count_words(
    corpus: Corpus,
    recipe: Recipe,
    threads: int,
    progress: Progress,
    lang: str | None = None,
) -> Counted:
    """The first reading: 5% of the documents are held out, the words of the others are counted.

    `lang` is the language of the documents whose records name none."""
    counted = Counted(_core.WordTable(tables.SKETCH_BITS, recipe.scripts is not None))

    def training_documents() -> Iterator[Document]:
        for document in _watched(corpus, "words", progress):
            counted.documents += 1
            code = digest(document.text)
            if is_held_out(code):
                counted.held_out_documents += 1
                half = counted.measuring if is_for_measuring(code) else counted.deciding
                half.add(document.text, code)
            else:
                counted.characters += len(document.text)
                yield document

    def texts(documents: Iterable[Document]) -> Iterator[str]:
        if recipe.scripts is None or not recipe.scripts.weighs_suffixes:
            return (document.text for document in documents)
        return _by_language(documents, counted, threads, lang)

    counted.words.count(texts(training_documents()), threads)
    if counted.documents == 0:
        raise CorpusError("the corpus is empty: no documents were found; check what was passed")
    if not counted.holds_out:
        counted.words.count(texts(corpus.documents()), threads)
        counted.characters = sum(map(len, corpus))
    counted.skipped = dict(sorted(corpus.skipped.items()))
    progress.end(words=len(counted.words), documents=counted.documents)
    return counted


def _by_language(
    documents: Iterable[Document], counted: Counted, threads: int, lang: str | None
) -> Iterator[str]:
    """The texts; those of languages with rules of their own are also counted apart."""
    waiting: dict[str, list[str]] = {}
    sizes: Counter[str] = Counter()
    for document in documents:
        language = language_of(document.lang or lang, document.text)
        if language is not None:
            counted.languages[language] += 1
            waiting.setdefault(language, []).append(document.text)
            sizes[language] += len(document.text)
            if sizes[language] >= _PORTION:
                _count_language(counted, language, waiting.pop(language), threads)
                sizes[language] = 0
        yield document.text
    for language, texts in waiting.items():
        _count_language(counted, language, texts, threads)


def _count_language(counted: Counted, language: str, texts: list[str], threads: int) -> None:
    if language not in counted.by_language:
        counted.by_language[language] = _core.WordTable(10)  # no one asks for its pairs
    counted.by_language[language].count(texts, threads)


def _watched(corpus: Corpus, phase: str, progress: Progress) -> Iterator[Document]:
    """The documents, with the progress kept up to date."""
    sized = corpus.bytes_total is not None
    progress.start(phase, corpus.bytes_total, "B" if sized else "documents")
    for number, document in enumerate(corpus.documents()):
        if number % 64 == 0:
            progress.at(corpus.bytes_read if sized else number, corpus.bytes_total)
        yield document


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
    recipe: Recipe,
    floor: int,
    threads: int,
    progress: Progress,
) -> _core.RunTable:
    rules = recipe.boundaries
    joints = _core.Joints(
        cross_sentence=rules.cross_sentence,
        cross_colon=rules.cross_colon,
        numbers=rules.numbers_in_phrases,
        by_class=recipe.scripts is not None,
    )
    table = _core.RunTable(known, counted.words, joints, floor)
    texts = (document.text for document in _watched(corpus, "runs", progress))
    if counted.holds_out:
        texts = (text for text in texts if not is_held_out(digest(text)))
    table.count(texts, threads)
    progress.end(runs=len(table))
    return table
