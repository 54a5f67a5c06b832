"""Claim: at every vocabulary size, fewer tokens than SuperBPE and BPE (the paper's Table 5).

    python runs/sweep.py                                   # hours for the whole
    python runs/sweep.py --sizes 100000 --only default SuperBPE-like

Rows: our recipes; SuperBPE by stock `tokenizers`, and its transition in our program;
BPE-Standard, and plain BPE in our program. Characters per token of WikiText-103 validation as one
text, and of held-out documents that decided nothing.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import tokenizers
from numpy.typing import NDArray
from tokenizers import Tokenizer

from baselines import (
    characters_per_token,
    check_cache,
    mark,
    seconds_of,
    superbpe,
)
from rows import (
    English,
    Figures,
    claim,
    command,
    identity,
    number,
    options,
    percent,
    ratio,
    read_whole,
    shares,
    write_table,
)
from supratok import Recipe
from supratok.corpus import open_corpus
from supratok.heldout import digest, is_held_out
from supratok.lab import pictures
from supratok.lab.stock import bpe_standard
from supratok.lab.tables import Table

OURS: dict[str, Callable[[int], Recipe]] = {
    "dense": Recipe.dense,
    "default": lambda size: Recipe(vocab_size=size),
    "paper": Recipe.paper,
    # Paper, Table 5: no tokenizer's text is curated.
    "paper, not curated": lambda size: Recipe.paper(size, curation=None),
    "SuperBPE-like": lambda size: Recipe(
        vocab_size=size, crossover=0.78125, screen=None, phrase_price=1.0
    ),
    "plain": lambda size: Recipe(vocab_size=size, crossover=1.0),
}
BASELINES = ("SuperBPE", "BPE-Standard")
CODE = f"tokenizers {tokenizers.__version__}, four words, no colon"  # of the baselines
AGAINST = (*BASELINES, "SuperBPE-like")
# Paper, Table 5: SupraTok, SuperBPE, BPE.
PAPER = {
    50_000: (5.57, 5.13, 4.52),
    100_000: (5.78, 5.68, 4.92),
    200_000: (6.32, 6.15, 5.02),
    256_000: (6.45, 6.18, 5.01),
    300_000: (6.62, 6.20, 5.02),
}
PLACES = {
    "dense": 0,
    "default": 0,
    "paper": 0,
    "paper, not curated": 0,
    "SuperBPE": 1,
    "BPE-Standard": 2,
}


class TrainingDocuments:
    """The documents that our program learns from: all but the held-out ones."""

    def __init__(self, corpus: Path) -> None:
        self._corpus = corpus

    def __iter__(self) -> Iterator[str]:
        return (text for text in open_corpus(self._corpus) if not is_held_out(digest(text)))


def usage(tokenizer: Tokenizer, texts: list[str]) -> NDArray[np.int64]:
    """How often each id occurs in the encodings of the texts."""
    counts = np.zeros(tokenizer.get_vocab_size(), dtype=np.int64)
    for start in range(0, len(texts), 500):
        batch = tokenizer.encode_batch(texts[start : start + 500], add_special_tokens=False)
        ids = [id for encoding in batch for id in encoding.ids]
        counts += np.bincount(ids, minlength=len(counts))
    return counts


class Sweep(English):
    """A row by its name and size."""

    def __init__(self, args: argparse.Namespace) -> None:
        super().__init__(args)
        self._on, self._cache = args.baselines_on, args.cache
        if "SuperBPE" in args.only:
            check_cache(args.cache, mark(identity(self.whole), args.documents, self._on))

    def find(self, name: str, size: int) -> Figures:
        if name in OURS:
            return self.row(f"{name} {size:,}", OURS[name](size))
        asked = {"row": f"{name} {size:,}", "size": size, "on": self._on, "code": CODE}
        return self.rows.get({**self.asked, **asked}, lambda: self._baseline(name, size))

    def _baseline(self, name: str, size: int) -> Figures:
        tokenizer, seconds = self._train(name, size)
        uses = usage(tokenizer, self.documents)
        names = [str(tokenizer.id_to_token(id)) for id in range(len(uses))]
        return {
            "test": characters_per_token(tokenizer, read_whole(str(self.test))),
            "held_out": ratio(self.documents, int(uses.sum())),
            "seconds": seconds,
            "vocab_size": len(uses),
            **shares([name.replace("Ġ", " ").replace("Ċ", "\n") for name in names], uses),
        }

    def _train(self, name: str, size: int) -> tuple[Tokenizer, float | None]:
        corpus = self.corpus
        texts = open_corpus(corpus) if self._on == "all" else TrainingDocuments(corpus)
        if name == "SuperBPE":
            return superbpe(texts, size, self._cache), seconds_of(self._cache, size)
        began = time.monotonic()
        tokenizer, apart = bpe_standard(texts, size)
        return tokenizer, time.monotonic() - began - apart


HEAD = [
    "size", "row", "WikiText-103", "in the paper", *[f"over {name}" for name in AGAINST],
    "held out", *[f"over {name}, held out" for name in AGAINST[:2]], "seconds", "phrases",
    "their use, held out", "crossover",
]  # fmt: skip


def in_paper(name: str, size: int) -> str:
    """What the paper has in this place, and over its SuperBPE and its BPE: 5.78 +1.8% +17.5%."""
    if size not in PAPER or name not in PLACES:
        return "-"
    value, others = PAPER[size][PLACES[name]], PAPER[size][PLACES[name] + 1 :]
    return " ".join([f"{value:.2f}", *[percent(value, other) for other in others]])


def lines_of(size: int, found: dict[str, Figures]) -> Iterator[list[str]]:
    """The rows of one size, with what each has over those it is held against."""
    for name, row in found.items():
        others = [found.get(other, {}) for other in AGAINST]
        yield [
            f"{size:,}", name, number(row["test"]), in_paper(name, size),
            *[percent(row["test"], other.get("test")) for other in others],
            number(row["held_out"]),
            *[percent(row["held_out"], other.get("held_out")) for other in others[:2]],
            number(row["seconds"], ".1f"), f"{row['phrase_share']:.1%}", f"{row['phrase_use']:.1%}",
            number(row.get("crossover")),
        ]  # fmt: skip


def drawn(found: dict[int, dict[str, Figures]]) -> dict[str, str]:
    """Characters per token over the sizes, of the test text with the paper's, and held out."""
    kinds = {"test": "WikiText-103 validation", "held_out": "held-out documents"}
    texts = {}
    for kind, text in kinds.items():
        names = dict.fromkeys(name for rows in found.values() for name in rows)
        series = {
            name: {size: rows[name][kind] for size, rows in found.items() if name in rows}
            for name in names
        }
        if kind == "test":
            series |= {
                f"{name}, the paper's": {
                    size: PAPER[size][place] for size in found if size in PAPER
                }
                for place, name in enumerate(("SupraTok", "SuperBPE", "BPE"))
            }
        texts[f"{kind}.svg"] = pictures.sweep(
            series, title=f"Characters per token of {text}, by vocabulary size",
            strong=["dense", "default"], paper=[name for name in series if "the paper's" in name],
        )  # fmt: skip
    return texts


def make_parser() -> argparse.ArgumentParser:
    parser = options("Characters per token by vocabulary size, beside the paper's.", "sweep")
    names = [*OURS, *BASELINES]
    add = parser.add_argument
    add("--sizes", type=int, nargs="+", default=list(PAPER))
    add("--only", nargs="+", choices=names, default=names, metavar="ROW", help=", ".join(names))
    add("--cache", type=Path, default=Path("build/baselines"), help="of SuperBPE")
    add("--baselines-on", choices=["all", "training"], default="all",
        help="all documents, or those that our program learns from (it holds 5%% out)")  # fmt: skip
    return parser


def main(arguments: list[str] | None = None) -> None:
    args = make_parser().parse_args(arguments)
    sweep = Sweep(args)
    found = {size: {name: sweep.find(name, size) for name in args.only} for size in args.sizes}
    lines = [line for size, rows in found.items() for line in lines_of(size, rows)]
    too = ", held-out ones too: their held-out figures flatter them"
    notes = [
        f"SuperBPE and BPE-Standard learnt from {args.baselines_on} documents"
        f"{too if args.baselines_on == 'all' else ''}",
        "BPE-Standard throws whitespace away: it cannot give the text back",
        "in the paper: Table 5, over its SuperBPE and its BPE; of other training text, not curated",
    ]
    table = Table(
        "Against SuperBPE and BPE by vocabulary size (Table 5)", claim(__doc__), HEAD, lines,
        [*sweep.about(), *notes, command("sweep", arguments)], paper=[3], higher=[2, 7],
        grouped=True, aside=[row for row, line in enumerate(lines) if line[1] == "BPE-Standard"],
    )  # fmt: skip
    write_table(args.out, table, drawn(found))


if __name__ == "__main__":
    main()
