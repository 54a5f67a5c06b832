"""train(): from documents to a tokenizer, in the order of the paper's Figure 1.

    documents ─split→ ─count→ words ─traditional→ tokens ─runs→ ─multiword→ tokens
              ─prune→ tokens ─expression→ tokens ─refine→ tokens ─→ Tokenizer
    target    ─halves→ ─────┴───────────────────┴────────────────┘ decides with the documents

The documents are read once, as a stream, and kept as numbers of words; later passes count over
these (readings/). Memory holds tables of unique words and unique runs (neighbouring words that may
join), with their counts.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .common.progress import Progress, make_progress
from .common.threads import usable_threads
from .corpus import Languages, Source, open_corpus
from .recipe import Recipe
from .tokenizer import Tokenizer
from .tokenizer.inputs import LONGEST_TOKEN

if TYPE_CHECKING:
    from .common import _core
    from .corpus.target import TargetText
    from .learn.merging import Learnt
    from .readings import TrainingText
    from .tokenizer import Token


class ShortVocabularyWarning(UserWarning):
    """Training found fewer tokens than the recipe asks for."""


def train(
    documents_or_paths: Source,
    recipe: Recipe | None = None,
    threads: int | None = None,
    progress: bool | Progress = True,
    *,
    vocab_size: int | None = None,
    target: Source | TargetText | None = None,
    format: str = "auto",
    text_key: str = "text",
    lang_key: str = "lang",
    lang: Languages = None,
    whole_files: bool = False,
    skip_bad: bool = False,
    max_documents: int | None = None,
    max_bytes: int | None = None,
    hold_out: float = 0.05,
    memory: int | str | None = None,
    work: str | os.PathLike[str] | None = None,
    keep_work: bool = False,
    reread: bool = False,
    engine: str = "local",
    address: str | None = None,
) -> Tokenizer:
    """Learn a tokenizer.

    >>> train("corpus/*.jsonl.zst", vocab_size=32_000)      # doctest: +SKIP
    >>> train(texts, Recipe.dense(100_000))                 # doctest: +SKIP

    `recipe`: default `Recipe()`, with 64,000 tokens; `vocab_size` changes its size.
    `documents_or_paths` is a file, a folder, a glob, a list of those, or an iterable of texts; see
    `corpus.open_corpus`. A record may name its language under `lang_key`. `lang` is the language of
    all others, or of those in some files (`{"*/tr/*": "tr"}`); without it the text decides
    (corpus/languages.py). The same text and recipe give the same tokenizer, with any number of
    threads and any order of the documents.

    `hold_out` is the share of documents that training does not learn from: half of them decide
    which tokens to keep, half measure the result.

    `target` is text of the kind that the tokenizer will serve, read like the documents. One half of
    it decides with them, by `recipe.target_share` (0.2 if that is 0); the other half measures. The
    report has the gain there and the loss on held-out documents (docs/target.md). A recipe without
    pruning, expressions and refinement gets two rounds of refinement.

    `memory` ("8GB") limits what training takes; the rest goes to files in `work` or, without it, to
    temporary ones. `work` is a folder: the same call with it goes on after a crash. It is removed
    at the end, unless `keep_work`. `reread` reads the text for each pass, instead of keeping it on
    disk. `engine="ray"` counts on the cluster at `address`, or on one that it starts here.
    """
    workers = usable_threads(threads)
    reading: dict[str, Any] = {
        "format": format, "text_key": text_key, "whole_files": whole_files, "skip_bad": skip_bad,
    }  # fmt: skip
    aim = _Aim.of(_checked(recipe, vocab_size), target, reading)
    options: dict[str, Any] = {
        **reading, "lang_key": lang_key, "lang": lang,
        "max_documents": max_documents, "max_bytes": max_bytes,
    }  # fmt: skip
    from .readings.open import open_text

    with (
        open_corpus(documents_or_paths, **options) as corpus,
        make_progress(progress) as shown,
        open_text(
            corpus, aim.recipe, options, workers, shown, hold_out=hold_out, memory=memory,
            work=work, keep_work=keep_work, reread=reread, engine=engine, address=address,
            target=aim.identity,
        ) as text,
    ):  # fmt: skip
        return _learn(text, aim, workers, shown)


def train_from_counts(
    counts: Iterable[str | os.PathLike[str]],
    recipe: Recipe | None = None,
    threads: int | None = None,
    progress: bool | Progress = True,
    *,
    vocab_size: int | None = None,
    target: Source | TargetText | None = None,
    memory: int | str | None = None,
    **reading: Any,
) -> Tokenizer:
    """Learn a tokenizer from counts files instead of text (docs/counts.md). `target` is as in
    `train`: text that is here, read by the options `reading` of `open_corpus`.

    Raises `NotCounted` if the recipe needs a reading of the text that no file holds; its `reading`
    can be counted by `supratok tally --plan`."""
    from .readings.files import CountedText
    from .readings.open import keeping_for

    aim, workers = _Aim.of(_checked(recipe, vocab_size), target, reading), usable_threads(threads)
    with make_progress(progress) as shown, keeping_for(memory, workers) as keeping:
        text = CountedText(map(Path, counts), shown, keeping.tables)
        return _learn(text, aim, workers, shown)


class _Aim(NamedTuple):
    """What a call asks for: a recipe, the same without a target, and the target."""

    recipe: Recipe
    plain: Recipe
    target: TargetText | None

    @classmethod
    def of(cls, recipe: Recipe, target: Source | TargetText | None, reading: Any) -> _Aim:
        if target is not None:
            from .corpus.target import read_target  # loads numpy

            plain = replace(recipe, target_share=0.0)
            return cls(recipe.for_target(), plain, read_target(target, **reading))
        if recipe.target_share:
            raise ValueError(
                f"target_share={recipe.target_share}: the recipe weighs a target text; pass it with"
                " target= / --target FILES, or set target_share to 0"
            )
        return cls(recipe, recipe, None)

    @property
    def identity(self) -> str | None:
        return None if self.target is None else self.target.identity


def _learn(text: TrainingText, aim: _Aim, workers: int, shown: Progress) -> Tokenizer:
    """Figure 1, from line 2 on; line 1, filtering documents by entropy, is a part of `words`."""
    # This loads numpy. `import supratok` and encoding do without it.
    from .learn import target_report, training_report

    recipe = aim.recipe
    learnt, table = learn_tokens(text, recipe, workers, shown)
    tokens, passes = choose_tokens(learnt, table, text, recipe, aim.target, workers, shown)
    # Line 9: return the tokenizer.
    tokenizer = Tokenizer(tokens, recipe)
    found = recipe.vocab_size - recipe.room(recipe.vocab_size) + len(tokens)
    tokenizer.report = training_report(tokenizer, text, learnt.crossover, passes, workers, shown)
    if aim.target is not None:
        # What the target gains and costs is the difference to the same passes without it.
        tokens, _ = choose_tokens(learnt, table, text, aim.plain, None, workers, shown)
        plain = Tokenizer(tokens, aim.plain)
        tokenizer.report["target"] = target_report(tokenizer, plain, text, aim.target, workers)
    if reason := shortfall(recipe, found):
        warnings.warn(reason, ShortVocabularyWarning, stacklevel=3)
    return tokenizer


def learn_tokens(
    text: TrainingText, recipe: Recipe, workers: int, shown: Progress
) -> tuple[Learnt, _core.WordTable]:
    """Lines 2-7: the tokens that the training text teaches, and its words."""
    from .learn import (
        choose_alphabet,
        find_script_rules,
        learn_at_once,
        learn_multiword,
        learn_traditional,
    )

    table, by_language = text.words(recipe)
    # Line 3: start with the alphabet. The bytes come with every tokenizer, seeds (line 2) with the
    # multiword pass, which mines them from its runs.
    alphabet = choose_alphabet(table, recipe)
    # Lines 4-7: the traditional and the multiword pass apply the best merge, again and again.
    if not recipe.curriculum:
        return learn_at_once(alphabet, text, recipe, workers, shown), table
    rules = find_script_rules(table, by_language, recipe.scripts)
    del by_language  # frees its memory
    words = learn_traditional(alphabet, table, rules, recipe, workers, shown)
    return learn_multiword(words, table, rules, text, recipe, workers, shown), table


def choose_tokens(
    learnt: Learnt,
    table: _core.WordTable,
    text: TrainingText,
    recipe: Recipe,
    target: TargetText | None,
    workers: int,
    shown: Progress,
) -> tuple[list[Token], dict[str, Any]]:
    """The passes that choose among learnt tokens, and the facts of all passes."""
    from .learn import learn_expressions, prune_to_size, refine_tokens

    tokens, passes = learnt.tokens, dict(learnt.facts)
    # Line 6: no more than V tokens. Under `fewest` the passes learn more, to choose from.
    if len(tokens) > (room := recipe.room(recipe.vocab_size)):
        tokens, passes["pruning"] = prune_to_size(
            tokens, learnt.uses, room, recipe, text, workers, shown, target
        )
    # Lines 4-6 and 8: the expression pass accepts spans with positive net utility.
    if recipe.expressions is not None and recipe.crossover != 1.0:
        tokens, passes["expression"] = learn_expressions(
            tokens, table, text, recipe, workers, shown, target
        )
    # Not in the paper: surgery to convergence.
    if recipe.refine:
        tokens, passes["refinement"] = refine_tokens(
            tokens, text, recipe, recipe.refine, workers, shown, target
        )
    return tokens, passes


def _checked(recipe: object, vocab_size: int | None) -> Recipe:
    """The recipe of a call, checked before any text is read."""
    if recipe is None:
        recipe = Recipe()
    if not isinstance(recipe, Recipe):
        hint = ""
        if isinstance(recipe, int):
            hint = f"; write train(..., vocab_size={recipe})"
        elif isinstance(recipe, str):
            hint = f"; write Recipe.from_preset({recipe!r}) or Recipe.from_toml({recipe!r})"
        raise TypeError(f"recipe must be a Recipe, not {type(recipe).__name__}{hint}")
    if vocab_size is not None:
        recipe = replace(recipe, vocab_size=vocab_size)
    if recipe.boundaries.max_bytes > LONGEST_TOKEN:
        raise ValueError(
            f"max_bytes={recipe.boundaries.max_bytes}: a token has at most {LONGEST_TOKEN:,} bytes,"
            " since encoding takes longer with longer tokens"
        )
    return recipe


def shortfall(recipe: Recipe, found: int) -> str | None:
    """Why training found fewer tokens than the recipe asks for; None if it found them all."""
    if found >= recipe.vocab_size:
        return None
    return (
        f"{recipe.vocab_size:,} tokens were asked for and {found:,} found: no other pair of tokens"
        f" occurs {recipe.min_count} times and passes the recipe's screen;"
        f" train on more text, or ask for at most {found:,}"
    )
