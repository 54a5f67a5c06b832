"""train(): from documents to a tokenizer, in the order of the paper's Figure 1.

    documents ─split→ ─count→ words ─traditional→ tokens ─runs→ ─multiword→ tokens
              ─prune→ tokens ─expression→ tokens ─refine→ tokens ─→ Tokenizer

The documents are read as a stream: twice, and again by each later pass that the recipe has. Memory
holds tables of unique words and unique runs (neighbouring words that may join), with their counts.
"""

from __future__ import annotations

from .common.progress import Progress, make_progress
from .common.threads import usable_threads
from .corpus import Languages, Source, open_corpus
from .recipe import Recipe
from .tokenizer import Tokenizer


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
        # Figure 1, line 1: filter the documents by entropy, if the recipe asks; hold some out.
        split = Split(corpus, recipe.curation, workers, shown)
        table, by_language = count_words(split, recipe, workers, shown)
        # Line 3: start with the alphabet. The bytes come with every tokenizer, seeds (line 2) with
        # the multiword pass, which mines them from its runs.
        alphabet = choose_alphabet(table, recipe)
        # Lines 4-7: the traditional and the multiword pass apply the best merge, again and again.
        if recipe.curriculum:
            rules = find_script_rules(table, by_language, recipe.scripts)
            del by_language  # frees its memory
            words = learn_traditional(alphabet, table, rules, recipe, shown)
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
        return tokenizer
