"""Prune or refine an existing tokenizer.

    smaller = prune(tokenizer, "corpus/*.jsonl", vocab_size=50_000)
    better = refine(tokenizer, "corpus/*.jsonl")

The documents are split as in training: some are held out, half of them to decide by, half to
measure the result on. The new report keeps the old one and adds the passes, and under "afterwards"
the text and the gain on it. With a `target` (as in `train`) the same is done once more without it:
the difference is what the target gains and costs.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..common.progress import Progress, make_progress
from ..common.threads import usable_threads
from ..corpus import Source, open_corpus
from ..corpus.target import TargetText, read_target
from ..readings import LocalText, TrainingText, Usage
from ..recipe import Expressions, Recipe
from ..tokenizer import Token, Tokenizer, alphabet_size
from .expression import learn_expressions
from .prune import prune_to_size
from .refine import refine_tokens
from .report import births, measure, target_report

Target = Source | TargetText | None


def prune(
    tokenizer: Tokenizer,
    documents_or_paths: Source,
    vocab_size: int,
    threads: int | None = None,
    progress: bool | Progress = True,
    *,
    target: Target = None,
    target_share: float | None = None,
    **reading: Any,
) -> Tokenizer:
    """The tokenizer with `vocab_size` tokens (special tokens and bytes included), without those
    that are least useful on this text. The alphabet stays. `reading`: see `open_corpus`; `target`:
    text that decides too, by its share (default: that of the recipe, or 0.2)."""
    _refuse_layout(tokenizer)
    check_size(tokenizer, vocab_size)
    workers, aim = usable_threads(threads), _target(target, reading)
    recipe = _with_share(tokenizer.recipe, aim, target_share)
    with open_corpus(documents_or_paths, **reading) as corpus, make_progress(progress) as shown:
        text = LocalText(corpus, recipe.curation, workers, shown)
        tokens = list(tokenizer.vocabulary)
        text.words(recipe)
        uses = text.read(Usage([t.text for t in tokens], recipe.segmentation == "fewest")).uses()

        def prune_by(target: TargetText | None) -> _Reworked:
            kept, facts = prune_to_size(
                tokens, uses, recipe.room(vocab_size), recipe, text, workers, shown, target
            )
            return kept, {"pruning": facts}

        smaller = replace(recipe, vocab_size=vocab_size)
        return _finish(prune_by, aim, smaller, tokenizer, text, workers, shown)


def refine(
    tokenizer: Tokenizer,
    documents_or_paths: Source,
    rounds: int = 10,
    expressions: bool = False,
    threads: int | None = None,
    progress: bool | Progress = True,
    *,
    target: Target = None,
    target_share: float | None = None,
    **reading: Any,
) -> Tokenizer:
    """The tokenizer after refinement on this text: as large as before, with the same special
    tokens.

    With `expressions` the expression pass comes first, with the options of the tokenizer's recipe
    or, if it has none, those of the paper. `target`: as in `prune`."""
    _refuse_layout(tokenizer)
    check_rounds(rounds)
    workers, aim = usable_threads(threads), _target(target, reading)
    kept = _with_share(tokenizer.recipe, aim, target_share)
    recipe = _same_size(tokenizer, kept, expressions)
    with open_corpus(documents_or_paths, **reading) as corpus, make_progress(progress) as shown:
        text = LocalText(corpus, recipe.curation, workers, shown)
        words, _ = text.words(recipe)
        if not text.deciding_texts() and aim is None:
            raise ValueError(
                f"{text.totals.documents} documents are too few: a part of them is held out to"
                " decide by, and none was; pass more text"
            )

        def refine_by(target: TargetText | None) -> _Reworked:
            tokens, passes = list(tokenizer.vocabulary), dict[str, Any]()
            if expressions:
                tokens, passes["expression"] = learn_expressions(
                    tokens, words, text, recipe, workers, shown, target
                )
            tokens, passes["refinement"] = refine_tokens(
                tokens, text, recipe, rounds, workers, shown, target
            )
            return tokens, passes

        return _finish(refine_by, aim, kept, tokenizer, text, workers, shown)


_Reworked = tuple[list[Token], dict[str, Any]]


def _finish(
    rework: Callable[[TargetText | None], _Reworked],
    target: TargetText | None,
    recipe: Recipe,
    before: Tokenizer,
    text: TrainingText,
    threads: int,
    progress: Progress,
) -> Tokenizer:
    """The tokenizer that a rework makes, with its report."""
    tokens, passes = rework(target)
    changed = Tokenizer(tokens, recipe)
    changed.report = _report(changed, before, text, passes, threads, progress)
    if target is not None:
        plain = Tokenizer(rework(None)[0], recipe)
        found = target_report(changed, plain, text, target, threads)
        changed.report["target"] = changed.report["afterwards"][-1]["target"] = found
    return changed


def _target(target: Target, reading: dict[str, Any]) -> TargetText | None:
    return None if target is None else read_target(target, **reading)


def _with_share(recipe: Recipe, target: TargetText | None, share: float | None) -> Recipe:
    """The recipe, which says how much the target counts; one from before stays, as history."""
    if target is None:
        if share is not None:
            raise ValueError(f"target_share={share}: there is no target; pass target= / --target")
        return recipe
    given = recipe if share is None else replace(recipe, target_share=share)
    return replace(recipe, target_share=given.for_target().target_share)


def _refuse_layout(tokenizer: Tokenizer) -> None:
    if tokenizer.layout:
        raise ValueError(
            "the ids of this tokenizer are fixed: it was imported, or special tokens were added to"
            " it; prune or refine the tokenizer that `supratok train` wrote, and add special tokens"
            " last"
        )


def check_size(tokenizer: Tokenizer, vocab_size: int) -> None:
    """Refuse a size that pruning cannot reach."""
    fixed = vocab_size - tokenizer.recipe.room(vocab_size)
    least = fixed + alphabet_size(tokenizer.vocabulary)
    if vocab_size < least:
        raise ValueError(
            f"vocab_size={vocab_size} is too small: special tokens, bytes and the alphabet, which"
            f" stay, are {least:,}; ask for at least that many"
        )
    if vocab_size >= tokenizer.vocab_size:
        raise ValueError(
            f"vocab_size={vocab_size}: the tokenizer has {tokenizer.vocab_size:,} tokens, so there"
            " is nothing to drop; ask for fewer"
        )


def check_rounds(rounds: int) -> None:
    if rounds < 1:
        raise ValueError(f"rounds={rounds}: must be at least 1")


def _same_size(tokenizer: Tokenizer, recipe: Recipe, expressions: bool) -> Recipe:
    """The recipe of the rework: it does not fill a vocabulary that training left unfilled."""
    options = (recipe.expressions or Expressions()) if expressions else None
    return replace(recipe, vocab_size=tokenizer.vocab_size, expressions=options)


def _report(
    changed: Tokenizer,
    before: Tokenizer,
    text: TrainingText,
    passes: dict[str, Any],
    threads: int,
    progress: Progress,
) -> dict[str, Any]:
    """The old report, the new passes, and the gain on held-out text that decided nothing."""
    report = copy.deepcopy(before.report)
    done: dict[str, Any] = {
        "passes": _add_passes(report.setdefault("passes", {}), passes),
        "vocab_size": changed.vocab_size,
        "documents": text.totals.documents,
        "held_out_documents": text.totals.held_out_documents,
        "characters": text.totals.characters,
        "skipped": text.totals.skipped,
    }
    if measured := measure([before, changed], text, threads, progress):
        characters, (tokens_before, tokens) = measured
        done["held_out"] = {
            "characters": characters, "tokens_before": tokens_before, "tokens": tokens,
        }  # fmt: skip
        report["held_out"] = {"characters": characters, "tokens": tokens}
    report["born"] = births(changed)
    report["afterwards"] = [*report.get("afterwards", []), done]
    return report


def _add_passes(passes: dict[str, Any], more: dict[str, Any]) -> list[str]:
    """Add the facts of more passes; return their names: a second "pruning" is "pruning 2"."""
    names = []
    for name, facts in more.items():
        number = 1 + sum(old.split()[0] == name for old in passes)
        names.append(name if number == 1 else f"{name} {number}")
        passes[names[-1]] = facts
    return names
