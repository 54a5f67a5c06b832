"""The readings of the documents: words and held-out samples first, whatever is counted over the
training documents later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..common.progress import Progress
from ..corpus import Corpus, CorpusError, Document
from ..corpus.curate import Curator, find_thresholds
from ..corpus.languages import language_of
from ..corpus.split import HeldOut, digest, is_for_measuring, is_held_out
from ..recipe import Boundaries, Recipe
from ..tokenizer import BYTES
from .scripts import UNSPACED

# Choice: 2**24 counters of 32 bits, 64 MB, bound the counts of word pairs (core/pair_sketch.hpp).
SKETCH_BITS = 24

_PORTION = 4_000_000  # characters of a language, between two countings of them


@dataclass(kw_only=True)
class Split:
    """Which documents are trained on, samples of those that are held out, and totals."""

    # The held-out documents in two halves: one to decide by, one to measure the result on.
    deciding: HeldOut = field(default_factory=HeldOut)
    measuring: HeldOut = field(default_factory=HeldOut)
    documents: int = 0
    held_out_documents: int = 0
    characters: int = 0  # of the training documents
    skipped: dict[str, int] = field(default_factory=dict)
    curator: Curator | None = None
    # By document, in the order of the corpus: whether it is trained on.
    trained_on: bytearray = field(default_factory=bytearray)

    @property
    def holds_out(self) -> bool:
        """Whether documents are held out; a corpus of very few is trained on whole."""
        return self.held_out_documents > 0

    @property
    def held_out_scale(self) -> float:
        """The size of the training text in units of the text that decides."""
        return self.characters / max(1, sum(map(len, self.decides())))

    def decides(self) -> list[str]:
        """The half of the held-out text that decides; the other half measures."""
        return self.deciding.documents if self.holds_out else []

    def measures(self) -> list[str]:
        return self.measuring.documents if self.holds_out else []


@dataclass(kw_only=True)
class Counted(Split):
    """What the first reading of training leaves: the word table as well."""

    words: _core.WordTable
    # Of the languages with rules of their own: their words once more, and the documents.
    by_language: dict[str, _core.WordTable] = field(default_factory=dict)
    languages: Counter[str] = field(default_factory=Counter)


def split(
    corpus: Corpus,
    recipe: Recipe,
    found: Split,
    count: Callable[[Iterable[Document]], object],
    threads: int,
    progress: Progress,
    phase: str,
    *,
    hold_out: bool = True,
) -> None:
    """A first reading: 5% of the documents are held out, unless told otherwise, and `count` gets
    those of the others that curation keeps. What happened is written into `found`."""
    if recipe.curation is not None:
        found.curator = Curator(find_thresholds(corpus, recipe.curation, threads, progress))

    def training_documents() -> Iterator[Document]:
        for document in _watched(corpus, phase, progress):
            found.documents += 1
            code = digest(document.text)
            held_out = hold_out and is_held_out(code)
            if held_out:
                found.held_out_documents += 1
                half = found.measuring if is_for_measuring(code) else found.deciding
                half.add(document.text, code)
            kept = not held_out and (
                found.curator is None or found.curator.keeps(document.text, code)
            )
            found.trained_on.append(kept)
            if kept:
                found.characters += len(document.text)
                yield document

    count(training_documents())
    if found.documents == 0:
        raise CorpusError("the corpus is empty: no documents were found; check what was passed")
    if not any(found.trained_on):  # so few documents: all of them are trained on
        found.trained_on = bytearray(b"\1" * found.documents)
        found.held_out_documents = 0
        count(corpus.documents())
        found.characters = sum(map(len, corpus))
    found.skipped = dict(sorted(corpus.skipped.items()))


def count_words(
    corpus: Corpus,
    recipe: Recipe,
    threads: int,
    progress: Progress,
    *,
    hold_out: bool = True,
) -> Counted:
    """The first reading of training, in which words are counted."""
    counted = Counted(words=_core.WordTable(SKETCH_BITS, recipe.scripts is not None))

    def texts(documents: Iterable[Document]) -> Iterator[str]:
        if recipe.scripts is None or not recipe.scripts.weighs_suffixes:
            return (document.text for document in documents)
        return _by_language(documents, counted, threads)

    def count(documents: Iterable[Document]) -> None:
        counted.words.count(texts(documents), threads)

    split(corpus, recipe, counted, count, threads, progress, "words", hold_out=hold_out)
    progress.end(words=len(counted.words), documents=counted.documents)
    return counted


def _by_language(documents: Iterable[Document], counted: Counted, threads: int) -> Iterator[str]:
    """The texts; those of languages with rules of their own are also counted apart."""
    waiting: dict[str, list[str]] = {}
    sizes: Counter[str] = Counter()
    for document in documents:
        language = language_of(document.lang, document.text)
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
    """The most frequent characters that together make up the coverage asked for. Always bytes are
    NUL, which SentencePiece cannot have in a piece, and a special token of one character."""
    seen = np.flatnonzero(characters)
    order = seen[np.lexsort((seen, -characters[seen]))]
    covered = np.cumsum(characters[order])
    enough = int(np.searchsorted(covered, recipe.character_coverage * covered[-1])) + 1
    alphabet = [int(code) for code in order[:enough] if code and chr(code) not in recipe.names]
    base = len(recipe.special_tokens) + BYTES
    if base + len(alphabet) > recipe.vocab_size:
        raise ValueError(
            f"vocab_size={recipe.vocab_size} is too small: {base} special tokens and bytes and"
            f" {len(alphabet)} characters already take {base + len(alphabet)}; raise vocab_size,"
            f" or lower character_coverage={recipe.character_coverage}"
        )
    return alphabet


def training_texts(corpus: Corpus, counted: Split, phase: str, progress: Progress) -> Iterator[str]:
    """A later reading: the documents that are trained on, as the first reading chose them."""
    documents = _watched(corpus, phase, progress)
    for document, trained_on in zip(documents, counted.trained_on, strict=True):
        if trained_on:
            yield document.text


def count_runs(
    corpus: Corpus,
    counted: Counted,
    known: list[str],
    recipe: Recipe,
    floor: int,
    threads: int,
    progress: Progress,
    pieces: _core.Encoder | None = None,
) -> tuple[_core.RunTable, NDArray[np.int64]]:
    """Runs of known words, and how often each of these was seen. With `pieces`, words that are not
    known stand in its pieces: those of scripts without spaces, or all if the recipe does not ask
    for whole words."""
    rules = recipe.boundaries
    table = _core.RunTable(
        known, counted.words, joints(recipe), floor, pieces, piece_scripts(rules)
    )
    seen = counted.words.counts_of(known)
    if pieces is not None:
        texts = training_texts(corpus, counted, "pieces", progress)
        seen = table.bound_units(texts, threads, SKETCH_BITS)
        progress.end()
    table.count(training_texts(corpus, counted, "runs", progress), threads)
    progress.end(runs=len(table))
    return table, seen


# Choice: the marks that end a sentence. Chinese and Japanese ones always do; those of other scripts
# (the last three are Devanagari and Arabic) do so before a space: "3.5" ends none. Closing marks
# may come in between: he said "No." Then
_STOPS = "。！？｡"
_SPACED_STOPS = ".!?…।؟۔"
_CLOSING = "\"')]}’”»」』）"


def joints(recipe: Recipe) -> _core.Joints:
    """Which neighbouring words may share a token: not the last word of a sentence and the first of
    the next, nor words on both sides of a colon and a space, unless the recipe says so."""
    rules = recipe.boundaries
    return _core.Joints(
        by_class=recipe.scripts is not None,
        numbers=rules.numbers_in_phrases,
        stops="" if rules.cross_sentence else _STOPS,
        spaced_stops="" if rules.cross_sentence else _SPACED_STOPS,
        closing=_CLOSING,
        spaced_ends="" if rules.cross_colon else ":",
    )


def piece_scripts(rules: Boundaries) -> list[int]:
    """The scripts whose words may join in pieces."""
    return list(UNSPACED) if rules.whole_words else list(range(256))
