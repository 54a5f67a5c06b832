"""The report of a tokenizer: what training read, what each pass did, and the result on held-out
text. `supratok inspect` shows it. It has no times: the same text gives the same file.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..common.progress import Progress
from ..corpus.split import Split
from ..tokenizer import Tokenizer


def training_report(
    tokenizer: Tokenizer,
    split: Split,
    crossover: float | None,
    passes: dict[str, Any],
    threads: int,
    progress: Progress,
) -> dict[str, Any]:
    """The report on a training run; `passes` are the facts of each pass."""
    curation = {"curation": split.curator.report()} if split.curator else {}
    report: dict[str, Any] = {
        "documents": split.documents,
        "held_out_documents": split.held_out_documents,
        "trained_on": split.training_documents,
        "characters": split.characters,
        "skipped": split.skipped,
        "passes": curation | passes,
    }
    if crossover is not None:
        report["crossover"] = crossover
    report["born"] = births(tokenizer)
    if measured := measure([tokenizer], split, threads, progress):
        characters, (tokens,) = measured
        report["held_out"] = {"characters": characters, "tokens": tokens}
    return report


def births(tokenizer: Tokenizer) -> dict[str, int]:
    """How many tokens each pass made."""
    return dict(Counter(token.born for token in tokenizer.vocabulary))


def measure(
    tokenizers: list[Tokenizer], split: Split, threads: int, progress: Progress
) -> tuple[int, list[int]] | None:
    """The characters of the held-out text that decided nothing, and its tokens under each
    tokenizer; None without such text."""
    texts = split.measuring_texts()
    if not texts:
        return None
    progress.start("measuring")
    tokens = [int(one.usage(texts, threads).sum()) for one in tokenizers]
    characters = sum(map(len, texts))
    progress.end(characters_per_token=round(characters / tokens[-1], 3))
    return characters, tokens
