"""The first reading of the documents: the split decides on each, and its words are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..common import _core
from ..common.progress import Progress
from ..corpus.languages import language_of
from ..corpus.split import Split
from ..recipe import Recipe

# Choice: 2**24 counters of 32 bits, 64 MB, bound the counts of word pairs (core/pair_sketch.hpp).
SKETCH_BITS = 24

_PORTION = 4_000_000  # characters of a language that are counted at once


@dataclass
class LanguageWords:
    """The words of the documents in one language."""

    # Nobody asks for its pairs, so the sketch is small.
    table: _core.WordTable = field(default_factory=lambda: _core.WordTable(10))
    documents: int = 0


def count_words(
    split: Split, recipe: Recipe, threads: int, progress: Progress
) -> tuple[_core.WordTable, dict[str, LanguageWords]]:
    """The words of the training documents; and again those of Turkish and of Finnish documents, if
    the recipe has rules for them."""
    _refuse_what_no_encoder_holds(recipe)
    words = _core.WordTable(SKETCH_BITS, recipe.scripts is not None)
    by_language: dict[str, LanguageWords] = {}
    if recipe.scripts is not None and recipe.scripts.weighs_suffixes:
        words.count(_by_language(split, by_language, threads), threads, split.store)
    else:
        words.count(split.portions("words"), threads, split.store)
    progress.end(words=len(words), documents=split.documents)
    return words, by_language


def _refuse_what_no_encoder_holds(recipe: Recipe) -> None:
    if recipe.learnt_size > _core.MOST_TOKENS:
        raise ValueError(
            f"vocab_size={recipe.vocab_size} is too large: training would learn"
            f" {recipe.learnt_size:,} tokens, but a vocabulary holds at most"
            f" {_core.MOST_TOKENS:,}; ask for fewer"
        )


def _by_language(split: Split, found: dict[str, LanguageWords], threads: int) -> Iterator[str]:
    """All texts; `found` receives the words of those in languages with rules of their own."""
    waiting: dict[str, list[str]] = {}
    sizes: Counter[str] = Counter()
    for document in split.decide("words"):
        language = language_of(document.lang, document.text)
        if language is not None:
            found.setdefault(language, LanguageWords()).documents += 1
            waiting.setdefault(language, []).append(document.text)
            sizes[language] += len(document.text)
            if sizes[language] >= _PORTION:
                found[language].table.count(waiting.pop(language), threads)
                sizes[language] = 0
        yield document.text
    for language, texts in waiting.items():
        found[language].table.count(texts, threads)
