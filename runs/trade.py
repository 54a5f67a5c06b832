"""Claim: `balanced` is a good compromise between fewer tokens and tokens worth learning.

    python runs/trade.py

Each row changes one option of `balanced`. Beside compression, the table has proxies for what a
language model must learn: rare phrases; the bits per character of a unigram model (probabilities
from the training text, one added to each count); and the Rényi efficiency, alpha 2.5, of the
tokens' distribution (Zouhar et al. 2023): its Rényi entropy as a share of the highest possible.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rows import (
    English,
    Figures,
    claim,
    command,
    number,
    options,
    ratio,
    shares,
    token_texts,
    trained,
    write_table,
)
from supratok import Recipe, Tokenizer
from supratok.corpus import open_corpus
from supratok.corpus.split import digest, is_held_out
from supratok.lab.measure.counts import crosses_words
from supratok.lab.measure.figures import renyi_efficiency
from supratok.lab.measure.texts import read_text
from supratok.lab.report import pictures
from supratok.lab.report.tables import Table
from supratok.recipe import Screen

FEW = 10  # documents
OFF = -1000.0  # bits: no phrase has less
NO_SCREEN = Screen(min_pmi=OFF, min_count=1, min_documents=1)
HEAD = [
    "recipe", "held out", "phrases", "of the vocabulary", "of its use", f"in < {FEW} documents",
    "unigram bits per character", "Rényi efficiency", "crossover", "seconds", "WikiText-103",
]  # fmt: skip


def grid(base: Recipe) -> dict[str, Recipe]:
    """The base, and each other value of one option at a time."""
    screen = base.screen or NO_SCREEN
    found = {"balanced": base}
    found |= {f"phrase_price {x:g}": replace(base, phrase_price=x) for x in (1.0, 1.5, 2.0, 3.0)}
    for bits in (OFF, 0.0, 1.0, 2.0):
        name = f"min_pmi {'off' if bits == OFF else format(bits, 'g')}"
        found[name] = replace(base, screen=replace(screen, min_pmi=bits))
    for documents in (1, 10, 30):
        changed = replace(screen, min_documents=documents)
        found[f"min_documents {documents}"] = replace(base, screen=changed)
    for on in (True, False):
        name = f"whole_words {'on' if on else 'off'}"
        found[name] = replace(base, boundaries=replace(base.boundaries, whole_words=on))
    same = (base, replace(base, screen=screen))  # a screen that passes everything is none
    return {name: recipe for name, recipe in found.items()
            if name == "balanced" or recipe not in same}  # fmt: skip


def training_usage(tokenizer: Tokenizer, corpus: Path, threads: int | None) -> NDArray[np.int64]:
    """How often each token occurs in the documents that are not held out."""
    counts = np.zeros(tokenizer.vocab_size, dtype=np.int64)
    texts: Iterator[str] = (t for t in open_corpus(corpus) if not is_held_out(digest(t)))
    while batch := list(itertools.islice(texts, 5000)):
        counts += tokenizer.usage(batch, threads)
    return counts


def document_counts(
    tokenizer: Tokenizer, documents: list[str], threads: int | None
) -> NDArray[np.int64]:
    """The number of documents with each token."""
    counts = np.zeros(tokenizer.vocab_size, dtype=np.int64)
    for ids in tokenizer.encode_batch(documents, threads, numpy=True):
        counts[np.unique(ids)] += 1
    return counts


def unigram_bits(used: NDArray[np.int64], learnt: NDArray[np.int64]) -> float:
    """The bits of a text by a unigram model: `used` counts its tokens, `learnt` the training's."""
    return float(-(used * np.log2((learnt + 1) / (learnt.sum() + len(learnt)))).sum())


def measure(
    corpus: Path, recipe: Recipe, documents: list[str], test: Path, threads: int | None
) -> Figures:
    tokenizer, seconds = trained(corpus, recipe, threads)
    used, texts = tokenizer.usage(documents, threads), token_texts(tokenizer)
    phrases = np.array([crosses_words(text) for text in texts], dtype=bool)
    rare = document_counts(tokenizer, documents, threads) < FEW
    bits = unigram_bits(used, training_usage(tokenizer, corpus, threads))
    text = read_text(test)
    return {
        "held_out": ratio(documents, int(used.sum())),
        **shares(texts, used),
        "rare_phrases": int((phrases & rare).sum()),
        "bits_per_character": bits / sum(map(len, documents)),
        "renyi_efficiency": renyi_efficiency(used, len(used)),
        "crossover": tokenizer.report.get("crossover"),
        "seconds": seconds,
        "test": ratio([text], tokenizer.count(text)),
    }


def line(name: str, row: Figures) -> list[str]:
    return [
        name, number(row["held_out"]), f"{row['phrases']:,}", f"{row['phrase_share']:.1%}",
        f"{row['phrase_use']:.1%}", f"{row['rare_phrases']:,}",
        number(row["bits_per_character"]), number(row["renyi_efficiency"]),
        number(row["crossover"]), number(row["seconds"], ".1f"), number(row["test"]),
    ]  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    parser = options("Compression and its cost, around `balanced`.", "trade", 100_000)
    parser.add_argument("--only", nargs="+", metavar="ROW", help="such as 'min_pmi 2'")
    args = parser.parse_args(arguments)
    recipes = grid(Recipe.balanced(args.sizes[0]))
    for name in args.only or ():
        if name not in recipes:
            parser.error(f"no row {name!r}; choose from {', '.join(recipes)}")
    english = English(args)
    names = args.only or list(recipes)
    found = {name: english.row(name, recipes[name], measure) for name in names}
    lines = [line(name, row) for name, row in found.items()]
    notes = [
        f"{args.sizes[0]:,} tokens; all columns but the last are of held-out text; the last chooses"
        " nothing",
    ]
    table = Table(
        "Compression against what is left to learn", claim(__doc__), HEAD, lines,
        [*english.about(), *notes, command("trade", arguments)], higher=[1, 10], lower=[6],
    )  # fmt: skip
    picture = pictures.trade(
        {name: (row["bits_per_character"], row["held_out"]) for name, row in found.items()},
        title="Compression against what is left to learn, one change at a time",
        x="unigram bits per character, held out", y="characters per token, held out",
        strong=["balanced"],
    )  # fmt: skip
    write_table(args.out, table, {"trade.svg": picture})


if __name__ == "__main__":
    main()
