"""train(): from documents to a tokenizer, in the order of the paper's Figure 1.

    documents ─curate→ ─count→ words ─traditional→ tokens ─count→ runs ─multiword→ tokens
              ─expression→ tokens ─refine→ tokens ─→ Tokenizer

The documents are read as a stream: twice, and again by each later pass that the recipe asks for.
What is kept are tables of unique things: words, then runs (neighbouring words that may join), each
with its count.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .common.progress import Progress, make_progress
from .corpus import Languages, Source, open_corpus
from .learn.count import Counted, choose_alphabet, count_words, training_texts
from .learn.expression import express
from .learn.multiword import Job, Phrases, learn_multiword
from .learn.no_curriculum import learn_at_once
from .learn.prune import ROUNDS, HeldOutText, prune
from .learn.refine import Evidence, refine
from .learn.scripts import Evidence as ScriptEvidence
from .learn.scripts import find_evidence
from .learn.traditional import Words, learn_traditional, learnt_size, traditional_merger
from .recipe import Recipe
from .tokenizer import BYTES, Token, Tokenizer, encoder_of, usable_threads


def train(
    documents_or_paths: Source,
    recipe: Recipe,
    threads: int | None = None,
    progress: bool | Progress = True,
    *,
    text_key: str = "text",
    lang_key: str = "lang",
    lang: Languages = None,
    whole_files: bool = False,
    skip_bad: bool = False,
) -> Tokenizer:
    """Learn a tokenizer.

    `documents_or_paths` is a file, a folder, a glob, a list of those, or an iterable of texts; see
    `corpus.open_corpus`. A record may name its language under `lang_key`; `lang` is that of all
    others, or of some files ({"*/tr/*": "tr"}), and is found from the text where it is not given
    (see languages.py). The same text and recipe give the same tokenizer, whatever the threads and
    the order of the documents.
    """
    workers = usable_threads(threads)
    with (
        open_corpus(
            documents_or_paths,
            text_key=text_key,
            lang_key=lang_key,
            lang=lang,
            whole_files=whole_files,
            skip_bad=skip_bad,
        ) as corpus,
        make_progress(progress) as shown,
    ):
        counted = count_words(corpus, recipe, workers, shown)
        job = Job(corpus, counted, recipe, workers, shown)
        report = _report(counted)
        tokens = learn(job, report)
        report["born"] = dict(Counter(token.born for token in tokens))
        tokenizer = Tokenizer(tokens, recipe, report)
        _measure(tokenizer, counted, workers, shown)
        return tokenizer


def learn(job: Job, report: dict[str, Any]) -> list[Token]:
    """The tokens in rank order, exactly as many as asked for if there are so many. What each pass
    did is written into the report."""
    passes: dict[str, Any] = report["passes"]
    counted, recipe, progress = job.counted, job.recipe, job.progress
    alphabet = choose_alphabet(counted.words.characters(), recipe)
    if recipe.curriculum:
        tokens, uses = _learn_in_turn(job, alphabet, report)
    else:
        tokens, uses = learn_at_once(job, alphabet)
    tokens = _fit(tokens, uses, len(alphabet), job, passes)
    held_out = counted.decides()
    if recipe.expressions is not None and recipe.crossover != 1.0:
        tokens, passes["expression"] = express(
            tokens,
            lambda: training_texts(job.corpus, counted, "expressions", progress),
            held_out,
            counted.words,
            recipe,
            job.threads,
            progress,
        )
    if recipe.refine:
        evidence = Evidence(
            lambda: training_texts(job.corpus, counted, "refining", progress),
            HeldOutText(held_out, counted.held_out_scale, job.threads),
        )
        tokens, passes["refinement"] = refine(tokens, recipe, recipe.refine, evidence)
        progress.end()
    return tokens


def _learn_in_turn(
    job: Job, alphabet: list[int], report: dict[str, Any]
) -> tuple[list[Token], NDArray[np.int64]]:
    """The curriculum: words, then phrases. The tokens, and how often each is used in the training
    text (needed for pruning alone)."""
    counted, recipe = job.counted, job.recipe
    evidence = find_evidence(counted.words, counted.by_language, counted.languages, recipe.scripts)
    counted.by_language.clear()  # frees its memory
    words = learn_traditional(counted.words, alphabet, evidence, recipe, job.progress)
    phrases = learn_multiword(job, words)
    report["crossover"] = round(phrases.crossover / learnt_size(recipe), 5)
    report["passes"] |= _story(counted, words, phrases)
    if evidence.report:
        report["passes"]["scripts"] = evidence.report
    characters = counted.words.characters()
    tokens = [Token(chr(code), int(characters[code]), "alphabet") for code in words.alphabet]
    pairs = zip(words.texts[: phrases.crossover], words.counts.tolist(), strict=False)
    tokens += [Token(text, count, "traditional") for text, count in pairs]
    rows = zip(phrases.texts, phrases.counts.tolist(), strict=True)
    tokens += [Token(text, count, "multiword") for text, count in rows]
    if recipe.segmentation == "merges":
        return tokens, np.zeros(len(tokens), dtype=np.int64)
    return tokens, _uses(words, phrases, evidence, recipe, job.threads)


def _fit(
    tokens: list[Token],
    uses: NDArray[np.int64],
    alphabet: int,
    job: Job,
    passes: dict[str, Any],
) -> list[Token]:
    """As many as asked for: under `merges` the first, under `fewest` the most useful."""
    recipe, counted = job.recipe, job.counted
    size = recipe.vocab_size - len(recipe.special_tokens) - BYTES
    if recipe.segmentation == "merges" or len(tokens) <= size:
        return tokens[:size]
    job.progress.start("pruning", ROUNDS, "rounds")
    kept = prune(
        [token.text for token in tokens],
        uses,
        alphabet=alphabet,
        keep=size,
        held_out=HeldOutText(counted.decides(), counted.held_out_scale, job.threads),
        on_round=job.progress.at,
    )
    passes["pruning"] = {"candidates": len(tokens), "dropped": len(tokens) - len(kept)}
    job.progress.end(dropped=len(tokens) - len(kept))
    return [tokens[place] for place in kept]


def _uses(
    words: Words, phrases: Phrases, evidence: ScriptEvidence, recipe: Recipe, threads: int
) -> NDArray[np.int64]:
    """How often each entry stands in the training text, encoded by merges: in the words, less the
    words that stand in runs, plus what the runs became."""
    merger = traditional_merger(words.sequences, words.alphabet, recipe)
    merger.run(phrases.crossover)
    in_words = merger.usage()
    entries = [chr(code) for code in words.alphabet] + words.texts[: phrases.crossover]
    if evidence.changes:  # the words were not counted as they are in the text
        encoder = encoder_of(entries, fewest=False)
        changes = np.fromiter(evidence.changes.values(), dtype=np.int64)
        in_words -= encoder.usage(list(evidence.changes), threads, changes)[BYTES:]
    place = {text: i for i, text in enumerate(entries)}
    for text, change in phrases.word_uses.items():
        in_words[place[text]] += change
    return np.concatenate([in_words, phrases.uses])


def _report(counted: Counted) -> dict[str, Any]:
    """What training did, for `inspect`. No times: the same text gives the same file."""
    report: dict[str, Any] = {
        "documents": counted.documents,
        "held_out_documents": counted.held_out_documents,
        "trained_on": sum(counted.trained_on),
        "characters": counted.characters,
        "skipped": counted.skipped,
        "passes": {},
    }
    if counted.curator is not None:
        report["passes"]["curation"] = counted.curator.report()
    return report


def _story(counted: Counted, words: Words, phrases: Phrases) -> dict[str, Any]:
    next_word = words.counts[phrases.crossover : phrases.crossover + 1].tolist()
    return {
        "traditional": {
            "words": len(counted.words),
            "merges": phrases.crossover,
            "next_count": next_word[0] if next_word else 0,
        },
        "multiword": {
            "runs": phrases.runs,
            "accepted": len(phrases.texts),
            "last_count": int(phrases.counts[-1]) if len(phrases.counts) else 0,
            **phrases.report,
        },
    }


def _measure(tokenizer: Tokenizer, counted: Counted, threads: int, progress: Progress) -> None:
    """Characters and tokens of held-out text that decided nothing, into the report."""
    documents = counted.measures()
    if not documents:
        return
    progress.start("measuring")
    tokens = int(tokenizer.usage(documents, threads).sum())
    characters = sum(map(len, documents))
    tokenizer.report["held_out"] = {"characters": characters, "tokens": tokens}
    progress.end(characters_per_token=round(characters / tokens, 3))
