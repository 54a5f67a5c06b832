"""Work on a tokenizer that is there already, with text of your own.

    smaller = pruned(tokenizer, "corpus/*.jsonl", vocab_size=50_000)
    better = refined(tokenizer, "corpus/*.jsonl")

The documents are split as in training: some are held out, half of them to decide by, half to
measure the result on. The report keeps what it said and gains what was done: the passes, and under
"afterwards" the text and what it gained there.
"""

from __future__ import annotations

import copy
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ..common import _core
from ..common.progress import Progress, make_progress
from ..corpus import Corpus, Document, Source, open_corpus
from ..recipe import Expressions, Recipe
from ..tokenizer import BYTES, Tokenizer, alphabet_size, encoder_of_tokens, usable_threads
from .count import Counted, Split, count_words, split, training_texts
from .expression import express
from .prune import ROUNDS, HeldOutText, prune, prune_leaves
from .refine import Evidence, refine


def pruned(
    tokenizer: Tokenizer,
    documents_or_paths: Source,
    vocab_size: int,
    threads: int | None = None,
    progress: bool | Progress = True,
    **reading: Any,
) -> Tokenizer:
    """The tokenizer with `vocab_size` tokens (special tokens and bytes included): the least useful
    on this text are gone, never a character of the alphabet. `reading`: see `open_corpus`."""
    _need_house_order(tokenizer)
    check_size(tokenizer, vocab_size)
    workers, recipe = usable_threads(threads), tokenizer.recipe
    with open_corpus(documents_or_paths, **reading) as corpus, make_progress(progress) as shown:
        tokens = list(tokenizer.vocabulary)
        survey = _core.Survey(encoder_of_tokens(tokens, recipe.segmentation == "fewest"), 0)
        found = _split(
            corpus, recipe, lambda texts: survey.count(texts, workers), "uses", workers, shown
        )
        shown.start("pruning", ROUNDS, "rounds")
        drop = prune if recipe.segmentation == "fewest" else prune_leaves
        kept = drop(
            [token.text for token in tokens],
            survey.uses(),
            alphabet=alphabet_size(tokens),
            keep=vocab_size - len(recipe.special_tokens) - BYTES,
            held_out=HeldOutText(found.decides(), found.held_out_scale, workers),
            on_round=shown.at,
        )
        facts = {"candidates": len(tokens), "dropped": len(tokens) - len(kept)}
        shown.end(dropped=facts["dropped"])
        smaller = replace(recipe, vocab_size=vocab_size)
        changed = Tokenizer([tokens[place] for place in kept], smaller)
        return _reported(changed, tokenizer, {"pruning": facts}, found, workers, shown)


def refined(
    tokenizer: Tokenizer,
    documents_or_paths: Source,
    rounds: int = 10,
    expressions: bool = False,
    threads: int | None = None,
    progress: bool | Progress = True,
    **reading: Any,
) -> Tokenizer:
    """The tokenizer after surgery on this text: as large as before, its special tokens the same.

    With `expressions` the expression pass comes first, with the values of the tokenizer's recipe
    or, if it has none, those of the paper."""
    _need_house_order(tokenizer)
    check_rounds(rounds)
    workers, recipe = usable_threads(threads), _same_size(tokenizer, expressions)
    with open_corpus(documents_or_paths, **reading) as corpus, make_progress(progress) as shown:
        if expressions:
            found: Split = count_words(corpus, recipe, workers, shown)
        else:
            found = _split(corpus, recipe, _exhaust, "reading", workers, shown)
        held_out = found.decides()
        if not held_out:
            raise ValueError(
                f"{found.documents} documents are too few: a part of them is held out to decide"
                " by, and none was; pass more text"
            )
        tokens, passes = list(tokenizer.vocabulary), dict[str, Any]()
        if isinstance(found, Counted):
            tokens, passes["expression"] = express(
                tokens,
                lambda: training_texts(corpus, found, "expressions", shown),
                held_out,
                found.words,
                recipe,
                workers,
                shown,
            )
        evidence = Evidence(
            lambda: training_texts(corpus, found, "refining", shown),
            HeldOutText(held_out, found.held_out_scale, workers),
        )
        tokens, passes["refinement"] = refine(tokens, recipe, rounds, evidence)
        shown.end(accepted=sum(r["accepted"] for r in passes["refinement"] if r["kept"]))
        changed = Tokenizer(tokens, tokenizer.recipe)
        return _reported(changed, tokenizer, passes, found, workers, shown)


def _need_house_order(tokenizer: Tokenizer) -> None:
    if tokenizer.layout:
        raise ValueError(
            "the ids of this tokenizer are fixed: it was imported, or special tokens were added to"
            " it; prune or refine the tokenizer that `supratok train` wrote, and add special tokens"
            " last"
        )


def check_size(tokenizer: Tokenizer, vocab_size: int) -> None:
    """Whether so many tokens can be left."""
    least = len(tokenizer.special_tokens) + BYTES + alphabet_size(tokenizer.vocabulary)
    if vocab_size < least:
        raise ValueError(
            f"vocab_size={vocab_size} is too small: special tokens, bytes and the alphabet, which"
            f" stay, are {least:,}; ask for so many at least"
        )
    if vocab_size >= tokenizer.vocab_size:
        raise ValueError(
            f"vocab_size={vocab_size}: the tokenizer has {tokenizer.vocab_size:,} tokens, so there"
            " is nothing to drop; ask for fewer"
        )


def check_rounds(rounds: int) -> None:
    if rounds < 1:
        raise ValueError(f"rounds={rounds}: must be at least 1")


def _same_size(tokenizer: Tokenizer, expressions: bool) -> Recipe:
    """The recipe to work by: a vocabulary that was never filled is not filled now either."""
    options = (tokenizer.recipe.expressions or Expressions()) if expressions else None
    return replace(tokenizer.recipe, vocab_size=tokenizer.vocab_size, expressions=options)


def _split(
    corpus: Corpus,
    recipe: Recipe,
    count: Callable[[Iterable[str]], object],
    phase: str,
    threads: int,
    progress: Progress,
) -> Split:
    """The split of training, without its words; `count` gets the texts to train on."""
    found = Split()

    def count_texts(documents: Iterable[Document]) -> None:
        count(document.text for document in documents)

    split(corpus, recipe, found, count_texts, threads, progress, phase)
    progress.end(documents=found.documents)
    return found


def _exhaust(texts: Iterable[str]) -> None:
    deque(texts, maxlen=0)


def _reported(
    changed: Tokenizer,
    before: Tokenizer,
    passes: dict[str, Any],
    found: Split,
    threads: int,
    progress: Progress,
) -> Tokenizer:
    """The old report, what was done, and what it gained on held-out text that decided nothing."""
    report = copy.deepcopy(before.report)
    names = _add_passes(report.setdefault("passes", {}), passes)
    done: dict[str, Any] = {
        "passes": names,
        "vocab_size": changed.vocab_size,
        "documents": found.documents,
        "held_out_documents": found.held_out_documents,
        "characters": found.characters,
        "skipped": found.skipped,
    }
    if documents := found.measures():
        progress.start("measuring")
        tokens = [int(np.sum(one.usage(documents, threads))) for one in (before, changed)]
        characters = sum(map(len, documents))
        done["held_out"] = {
            "characters": characters, "tokens_before": tokens[0], "tokens": tokens[1],
        }  # fmt: skip
        report["held_out"] = {"characters": characters, "tokens": tokens[1]}
        progress.end(characters_per_token=round(characters / tokens[1], 3))
    report["born"] = dict(Counter(token.born for token in changed.vocabulary))
    report["afterwards"] = [*report.get("afterwards", []), done]
    changed.report = report
    return changed


def _add_passes(passes: dict[str, Any], more: dict[str, Any]) -> list[str]:
    """Write them down, and return their names: a second "pruning" is called "pruning 2"."""
    names = []
    for name, facts in more.items():
        number = 1 + sum(old.split()[0] == name for old in passes)
        names.append(name if number == 1 else f"{name} {number}")
        passes[names[-1]] = facts
    return names
