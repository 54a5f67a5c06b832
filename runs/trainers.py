"""Claim: words alone train faster than with every other trainer of BPE on PyPI.

    pip install ffbpe rustbpe gigatoken bpeasy tokenizers
    python runs/trainers.py

BPE inside words, each trainer with its own way of cutting words, all cores, each in turn in a fresh
process. Time and memory include reading the corpus: ours and gigatoken read the file, the others
take our reader's documents as an iterator. A trainer that is not installed has no row.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import supratok
from rows import (
    ENGLISH,
    Rows,
    claim,
    command,
    first_documents,
    identity,
    located,
    options,
    write_table,
)
from supratok.corpus import open_corpus
from supratok.lab.baselines.boundless import PATTERN
from supratok.lab.measure.cost import peak_bytes
from supratok.lab.measure.workers import call_worker
from supratok.lab.report.tables import Table
from wall_time import spread

HEAD = ["trainer", "wall time", "to ours", "peak memory"]


def _ours(corpus: Path, size: int) -> None:
    supratok.train(corpus, supratok.Recipe(vocab_size=size, crossover=1.0), progress=False)


def _tokenizers(corpus: Path, size: int) -> None:
    from tokenizers import Tokenizer
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.trainers import BpeTrainer

    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = Whitespace()
    trainer = BpeTrainer(vocab_size=size, special_tokens=[], show_progress=False)
    tokenizer.train_from_iterator(open_corpus(corpus), trainer)


def _ffbpe(corpus: Path, size: int) -> None:
    ffbpe = importlib.import_module("ffbpe")

    ffbpe.train_bpe(open_corpus(corpus), vocab_size=size)


def _rustbpe(corpus: Path, size: int) -> None:
    rustbpe = importlib.import_module("rustbpe")

    rustbpe.Tokenizer().train_from_iterator(iter(open_corpus(corpus)), size)


def _gigatoken(corpus: Path, size: int) -> None:
    gigatoken = importlib.import_module("gigatoken")

    gigatoken.train_bpe(gigatoken.JsonlFileSource([str(corpus)]), size, [])


def _bpeasy(corpus: Path, size: int) -> None:
    bpeasy = importlib.import_module("bpeasy")

    bpeasy.train_bpe(iter(open_corpus(corpus)), PATTERN, 128, size)


TRAINERS: dict[str, Callable[[Path, int], None]] = {
    "supratok": _ours,
    "ffbpe": _ffbpe,
    "rustbpe": _rustbpe,
    "gigatoken": _gigatoken,
    "tokenizers": _tokenizers,
    "bpeasy": _bpeasy,
}


def timed(trainer: str, corpus: str, size: int) -> dict[str, Any]:
    """In a process of its own: seconds and the peak of memory."""
    began = perf_counter()
    TRAINERS[trainer](Path(corpus), size)
    return {"seconds": perf_counter() - began, "peak": peak_bytes()}


def main(arguments: list[str] | None = None) -> None:
    parser = options("Training words, beside other trainers.", "trainers", 100_000)
    parser.add_argument("--repeats", type=int, default=3, help="turns (default: 3)")
    args = parser.parse_args(arguments)
    whole, rows = located(args.corpus, ENGLISH), Rows(args.out, args.again)
    corpus = first_documents(whole, args.documents, args.out)
    names = [name for name in TRAINERS if importlib.util.find_spec(name)]
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for turn in range(args.repeats):
        for name in names:
            asked = {
                "row": f"{name}, turn {turn + 1}", "corpus": identity(whole),
                "documents": args.documents, "size": args.sizes[0],
            }  # fmt: skip
            one = rows.get(
                asked,
                lambda name=name: call_worker(  # type: ignore[misc]
                    Path(__file__), "timed", trainer=name, corpus=str(corpus), size=args.sizes[0]
                ),
            )
            found[name].append(one)
    ours = [run["seconds"] for run in found["supratok"]]
    lines = []
    for name, runs in found.items():
        seconds = [run["seconds"] for run in runs]
        ratios = [theirs / own for theirs, own in zip(seconds, ours, strict=True)]
        peak = median(run["peak"] for run in runs) / 1e6
        lines.append([
            name, f"{spread(seconds, '.1f')} s", spread(ratios, ".2f"), f"{peak:,.0f} MB",
        ])  # fmt: skip
    notes = [
        f"{whole.name} (SHA-256 {identity(whole)[:12]}), {args.sizes[0]:,} tokens; median"
        f" (lowest-highest) of {args.repeats} turns",
        rows.about(),
        command("trainers", arguments),
    ]
    write_table(args.out, Table("Trainers of words", claim(__doc__), HEAD, lines, notes))


if __name__ == "__main__":
    if sys.argv[1:2] == ["timed"]:
        answer = os.dup(1)
        os.dup2(2, 1)  # some trainers print while they work
        os.write(answer, json.dumps(timed(**json.loads(sys.argv[2]))).encode())
    else:
        main()
