"""train(): from documents to a tokenizer, in the order of the paper's Figure 1.

    documents ─split→ ─count→ words ─traditional→ tokens ─runs→ ─multiword→ tokens
              ─prune→ tokens ─expression→ tokens ─refine→ tokens ─→ Tokenizer

The documents are read as a stream: twice, and again by each later pass that the recipe has. Memory
holds tables of unique words and unique runs (neighbouring words that may join), with their counts.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

from .common import _core
from .common.progress import Progress, make_progress
from .common.threads import usable_threads
from .corpus import Languages, Source, open_corpus
from .recipe import Recipe
from .tokenizer import Tokenizer
from .tokenizer.inputs import LONGEST_TOKEN


class ShortVocabularyWarning(UserWarning):
    """Training found fewer tokens than the recipe asks for."""


def train(
    documents_or_paths: Source,
    recipe: Recipe | None = None,
    threads: int | None = None,
    progress: bool | Progress = True,
    *,
    vocab_size: int | None = None,
    format: str = "auto",
    text_key: str = "text",
    lang_key: str = "lang",
    lang: Languages = None,
    whole_files: bool = False,
    skip_bad: bool = False,
) -> Tokenizer:
    """Learn a tokenizer.

    >>> train("corpus/*.jsonl.zst", vocab_size=32_000)      # doctest: +SKIP
    >>> train(texts, Recipe.dense(100_000))                 # doctest: +SKIP

    `recipe`: default `Recipe()`, with 64,000 tokens; `vocab_size` changes its size.
    `documents_or_paths` is a file, a folder, a glob, a list of those, or an iterable of texts; see
    `corpus.open_corpus`. A record may name its language under `lang_key`. `lang` is the language of
    all others, or of those in some files ({"*/tr/*": "tr"}); without it the text decides
    (corpus/languages.py). The same text and recipe give the same tokenizer, with any number of
    threads and any order of the documents.
    """
    # These load numpy. `import supratok` and encoding do without it.
    from .corpus.split import Split
    from .learn import (
        choose_alphabet,
        count_words,
        find_script_rules,
        learn_at_once,
        learn_expressions,
        learn_multiword,
        learn_traditional,
        prune_to_size,
        refine_tokens,
        training_report,
    )

    recipe, workers = _checked(recipe, vocab_size), usable_threads(threads)
    with (
        open_corpus(
            documents_or_paths,
            format=format,
            text_key=text_key,
            lang_key=lang_key,
            lang=lang,
            whole_files=whole_files,
            skip_bad=skip_bad,
        ) as corpus,
        make_progress(progress) as shown,
    ):
        # Figure 1, line 1: filter the documents by entropy, if the recipe asks; hold some out.
        split = Split(corpus, recipe.curation, workers, shown, store=_core.Store())
        table, by_language = count_words(split, recipe, workers, shown)
        # Line 3: start with the alphabet. The bytes come with every tokenizer, seeds (line 2) with
        # the multiword pass, which mines them from its runs.
        alphabet = choose_alphabet(table, recipe)
        # Lines 4-7: the traditional and the multiword pass apply the best merge, again and again.
        if recipe.curriculum:
            rules = find_script_rules(table, by_language, recipe.scripts)
            del by_language  # frees its memory
            words = learn_traditional(alphabet, table, rules, recipe, workers, shown)
            learnt = learn_multiword(words, table, rules, split, recipe, workers, shown)
        else:
            learnt = learn_at_once(alphabet, split, recipe, workers, shown)
        tokens, passes = learnt.tokens, learnt.facts
        # Line 6: no more than V tokens. Under `fewest` the passes learn more, to choose from.
        if len(tokens) > (room := recipe.room(recipe.vocab_size)):
            tokens, passes["pruning"] = prune_to_size(
                tokens, learnt.uses, room, recipe.segmentation, split, workers, shown
            )
        # Lines 4-6 and 8: the expression pass accepts spans with positive net utility.
        if recipe.expressions is not None and recipe.crossover != 1.0:
            tokens, passes["expression"] = learn_expressions(
                tokens, table, split, recipe, workers, shown
            )
        # Not in the paper: surgery to convergence.
        if recipe.refine:
            tokens, passes["refinement"] = refine_tokens(
                tokens, split, recipe, recipe.refine, workers, shown
            )
        # Line 9: return the tokenizer.
        tokenizer = Tokenizer(tokens, recipe)
        tokenizer.report = training_report(
            tokenizer, split, learnt.crossover, passes, workers, shown
        )
    if reason := shortfall(recipe, recipe.vocab_size - room + len(tokens)):
        warnings.warn(reason, ShortVocabularyWarning, stacklevel=2)
    return tokenizer


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
