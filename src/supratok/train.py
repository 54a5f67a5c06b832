"""train(): from documents to a tokenizer, in the order of the paper's Figure 1.

    documents ─count→ words ─traditional→ tokens ─count→ runs ─multiword→ tokens ─→ Tokenizer

The documents are read twice, as a stream. What is kept are tables of unique things: words, then
runs (neighbouring words that may join), each with its count.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .corpus import Source, open_corpus
from .counting import Counted, choose_alphabet, count_words
from .multiword import Job, Phrases, learn_multiword
from .passes import Words, learn_traditional, learnt_size, traditional_merger
from .progress import Progress, make_progress
from .prune import ROUNDS, prune
from .recipe import Recipe
from .scripts import Evidence, find_evidence
from .tokenizer import BYTES, Token, Tokenizer, usable_threads


def train(
    documents_or_paths: Source,
    recipe: Recipe,
    threads: int | None = None,
    progress: bool | Progress = True,
    *,
    text_key: str = "text",
    lang_key: str = "lang",
    lang: str | None = None,
    whole_files: bool = False,
    skip_bad: bool = False,
) -> Tokenizer:
    """Learn a tokenizer.

    `documents_or_paths` is a file, a folder, a glob, a list of those, or an iterable of texts; see
    `corpus.open_corpus`. A record may name its language under `lang_key`; `lang` is that of all
    others, and is found from the text if it is not given (see languages.py). The same text and
    recipe give the same tokenizer, whatever the threads and the order of the documents.
    """
    workers = usable_threads(threads)
    with (
        open_corpus(
            documents_or_paths,
            text_key=text_key,
            lang_key=lang_key,
            whole_files=whole_files,
            skip_bad=skip_bad,
        ) as corpus,
        make_progress(progress) as shown,
    ):
        counted = count_words(corpus, recipe, workers, shown, lang)
        job = Job(corpus, counted, recipe, workers, shown)
        alphabet = choose_alphabet(counted.words.characters(), recipe)
        evidence = find_evidence(
            counted.words, counted.by_language, counted.languages, recipe.scripts
        )
        counted.by_language.clear()  # frees its memory
        words = learn_traditional(counted.words, alphabet, evidence, recipe, shown)
        phrases = learn_multiword(job, words)
        vocabulary = finish(counted, words, phrases, evidence, recipe, workers, shown)
        report = _report(counted, words, phrases, vocabulary, recipe)
        if evidence.report:
            report["scripts"] = evidence.report
        tokenizer = Tokenizer(vocabulary, recipe, report)
        _measure(tokenizer, counted, workers, shown)
        return tokenizer


def finish(
    counted: Counted,
    words: Words,
    phrases: Phrases,
    evidence: Evidence,
    recipe: Recipe,
    threads: int,
    progress: Progress,
) -> list[Token]:
    """The tokens in rank order, exactly as many as asked for if there are so many."""
    characters = counted.words.characters()
    tokens = [Token(chr(code), int(characters[code]), "alphabet") for code in words.alphabet]
    pairs = zip(words.texts[: phrases.crossover], words.counts.tolist(), strict=False)
    tokens += [Token(text, count, "traditional") for text, count in pairs]
    rows = zip(phrases.texts, phrases.counts.tolist(), strict=True)
    tokens += [Token(text, count, "multiword") for text, count in rows]
    size = recipe.vocab_size - len(recipe.special_tokens) - BYTES
    if recipe.segmentation == "merges" or len(tokens) <= size:
        return tokens[:size]
    held_out = counted.deciding.documents if counted.holds_out else []
    progress.start("pruning", ROUNDS, "rounds")
    kept = prune(
        [token.text for token in tokens],
        _uses(words, phrases, evidence, recipe, threads),
        alphabet=len(words.alphabet),
        keep=size,
        held_out=held_out,
        held_out_scale=counted.characters / max(1, sum(map(len, held_out))),
        threads=threads,
        on_round=progress.at,
    )
    progress.end(dropped=len(tokens) - len(kept))
    return [tokens[place] for place in kept]


def _uses(
    words: Words, phrases: Phrases, evidence: Evidence, recipe: Recipe, threads: int
) -> NDArray[np.int64]:
    """How often each entry stands in the training text, encoded by merges: in the words, less the
    words that stand in runs, plus what the runs became."""
    merger = traditional_merger(words.sequences, words.alphabet, recipe)
    merger.run(phrases.crossover)
    in_words = merger.usage()
    entries = [chr(code) for code in words.alphabet] + words.texts[: phrases.crossover]
    if evidence.changes:  # the words were not counted as they are in the text
        encoder = _core.Encoder(entries, [1] * len(entries), fewest=False, first_id=0)
        changes = np.fromiter(evidence.changes.values(), dtype=np.int64)
        in_words -= encoder.usage(list(evidence.changes), threads, changes)[BYTES:]
    place = {text: i for i, text in enumerate(entries)}
    for text, change in phrases.word_uses.items():
        in_words[place[text]] += change
    return np.concatenate([in_words, phrases.uses])


def _report(
    counted: Counted,
    words: Words,
    phrases: Phrases,
    vocabulary: list[Token],
    recipe: Recipe,
) -> dict[str, Any]:
    """What training did, for `inspect`. No times: the same text gives the same file."""
    born = [token.born for token in vocabulary]
    next_word = words.counts[phrases.crossover : phrases.crossover + 1].tolist()
    return {
        "documents": counted.documents,
        "held_out_documents": counted.held_out_documents if counted.holds_out else 0,
        "characters": counted.characters,
        "skipped": counted.skipped,
        "crossover": round(phrases.crossover / learnt_size(recipe), 5),
        "passes": {
            "traditional": {
                "words": len(counted.words),
                "merges": phrases.crossover,
                "next_count": next_word[0] if next_word else 0,
                "kept": born.count("traditional"),
            },
            "multiword": {
                "runs": phrases.runs,
                "merges": len(phrases.texts),
                "last_count": int(phrases.counts[-1]) if len(phrases.counts) else 0,
                "kept": born.count("multiword"),
            },
        },
    }


def _measure(tokenizer: Tokenizer, counted: Counted, threads: int, progress: Progress) -> None:
    """Characters and tokens of held-out text that decided nothing, into the report."""
    documents = counted.measuring.documents
    if not counted.holds_out or not documents:
        return
    progress.start("measuring")
    tokens = int(tokenizer.usage(documents, threads).sum())
    characters = sum(map(len, documents))
    tokenizer.report["held_out"] = {"characters": characters, "tokens": tokens}
    progress.end(characters_per_token=round(characters / tokens, 3))
