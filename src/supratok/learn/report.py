"""The report of a tokenizer: what training read, what each pass did, and the result on held-out
text. `supratok inspect` shows it. It has no times: the same text gives the same file.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..common.progress import Progress
from ..corpus.target import TargetText
from ..readings import TrainingText
from ..tokenizer import Tokenizer


def training_report(
    tokenizer: Tokenizer,
    text: TrainingText,
    crossover: float | None,
    passes: dict[str, Any],
    threads: int,
    progress: Progress,
) -> dict[str, Any]:
    """The report on a training run; `passes` are the facts of each pass."""
    totals = text.totals
    curation = {} if totals.curation is None else {"curation": totals.curation}
    report: dict[str, Any] = {
        "documents": totals.documents,
        "held_out_documents": totals.held_out_documents,
        "trained_on": totals.training_documents,
        "characters": totals.characters,
        "skipped": totals.skipped,
        "passes": curation | passes,
    }
    if crossover is not None:
        report["crossover"] = crossover
    report["born"] = births(tokenizer)
    if measured := measure([tokenizer], text, threads, progress):
        characters, (tokens,) = measured
        report["held_out"] = {"characters": characters, "tokens": tokens}
    return report


def target_report(
    tokenizer: Tokenizer,
    without: Tokenizer,
    text: TrainingText,
    target: TargetText,
    threads: int,
) -> dict[str, Any]:
    """What a target gains on the half of it that measures, and costs on held-out text: the tokens
    of both, with it and `without`."""
    report: dict[str, Any] = {
        "share": tokenizer.recipe.target_share,
        "sha256": target.identity,
        "deciding": {
            "documents": len(target.deciding),
            "characters": sum(map(len, target.deciding)),
        },
    }
    for name, texts in (("measuring", target.measuring), ("held_out", text.measuring_texts())):
        if texts:
            report[name] = {
                "documents": len(texts),
                "characters": sum(map(len, texts)),
                "tokens": int(tokenizer.usage(texts, threads).sum()),
                "tokens_without": int(without.usage(texts, threads).sum()),
            }
    return report


def births(tokenizer: Tokenizer) -> dict[str, int]:
    """How many tokens each pass made."""
    return dict(Counter(token.born for token in tokenizer.vocabulary))


def measure(
    tokenizers: list[Tokenizer], text: TrainingText, threads: int, progress: Progress
) -> tuple[int, list[int]] | None:
    """The characters of the held-out text that decided nothing, and its tokens under each
    tokenizer; None without such text."""
    texts = text.measuring_texts()
    if not texts:
        return None
    progress.start("measuring")
    tokens = [int(one.usage(texts, threads).sum()) for one in tokenizers]
    characters = sum(map(len, texts))
    progress.end(characters_per_token=round(characters / tokens[-1], 3))
    return characters, tokens
