"""Claim: every runtime gives our ids and returns the text, on real text in all languages.

    python runs/exports.py

For each rule, train a tokenizer on the files of train/ml and export it in all formats. Then every
installed runtime encodes the first lines of these files and of the English corpus, and the hostile
texts. `--tokenizer FILE` takes a finished tokenizer instead.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from rows import (
    ENGLISH,
    Figures,
    Rows,
    claim,
    code,
    command,
    identity,
    located,
    options,
    trained,
    write_table,
)
from supratok import Recipe, Tokenizer
from supratok.corpus import open_corpus
from supratok.formats.export import FORMATS
from supratok.formats.verify import verify
from supratok.lab.report.tables import Table
from supratok.recipe import Segmentation

RULES: tuple[Segmentation, ...] = ("merges", "fewest")
SPECIALS = ("<s>", "</s>", "<pad>", "<unk>")
HEAD = [
    "rule", "vocabulary", "runtime", "version", "lines", "tokens", "ids differ", "text lost",
    "left out",
]  # fmt: skip


def lines(files: list[Path], each: int) -> Iterator[str]:
    """The first non-empty lines of each file."""
    for path in files:
        with open_corpus(path) as corpus:
            texts = (line for text in corpus for line in text.split("\n") if line)
            yield from itertools.islice(texts, each)


def measure(tokenizer: Tokenizer, folder: Path, files: list[Path], each: int) -> Figures:
    """Export, with the checks of `export` itself, then verify on the lines."""
    began = time.monotonic()
    specials = list(tokenizer.special_tokens)
    tokenizer.export(folder, FORMATS, eos=specials[1] if len(specials) > 1 else None)
    seconds = time.monotonic() - began

    def watch(done: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done:,} lines", end="", file=sys.stderr, flush=True)

    found = verify(folder, lines(files, each), watch=watch)
    return {
        "rule": tokenizer.recipe.segmentation,
        "vocab_size": tokenizer.vocab_size,
        "seconds": seconds,
        "runtimes": [asdict(row) for row in found.rows],
        "notes": found.notes(),
    }


def table_lines(figures: Figures) -> list[list[str]]:
    return [
        [
            figures["rule"],
            f"{figures['vocab_size']:,}",
            row["runtime"],
            row["version"],
            *(f"{row[name]:,}" for name in ("texts", "tokens", "different", "lost", "left_out")),
        ]
        for row in figures["runtimes"]
    ]


def main(arguments: list[str] | None = None) -> None:
    parser = options("Ids in every runtime on text in all languages.", "exports", 100_000)
    parser.add_argument("--only", nargs="+", choices=RULES, default=RULES, metavar="RULE")
    parser.add_argument(
        "--lines", type=int, default=12_500, help="lines of each file (default: 12,500)"
    )
    parser.add_argument("--tokenizer", type=Path, help="a finished tokenizer, instead of training")
    args = parser.parse_args(arguments)
    corpora = sorted(located(args.corpus, "train/ml").glob("*.jsonl.zst"))
    files = [*corpora, located(args.test, ENGLISH)]
    rows, lines, notes = Rows(args.out, args.again), [], []
    tokenizers = [args.tokenizer] if args.tokenizer else [
        trained_file(args, rule, corpora) for rule in args.only
    ]  # fmt: skip
    for path in tokenizers:
        figures = row(rows, args, path, files)
        lines += table_lines(figures)
        notes.append(f"{path.stem}: exported and checked in {figures['seconds']:.1f} s")
        notes += [f"{path.stem}: {note}" for note in figures["notes"]]
    notes.append(f"the first {args.lines:,} lines of each of {len(files)} files, and hostile texts")
    notes.append(rows.about())
    table = Table(
        "The same ids in every runtime", claim(__doc__), HEAD, lines,
        [*notes, command("exports", arguments)],
    )  # fmt: skip
    write_table(args.out, table)


def row(rows: Rows, args: argparse.Namespace, path: Path, files: list[Path]) -> Figures:
    asked = {
        "row": path.stem,
        "tokenizer": identity(path),
        "files": [identity(file) for file in files],
        "lines": args.lines,
        "exporter": code(("formats",)),
    }
    tokenizer, folder = Tokenizer.load(path), args.out / path.stem
    return rows.get(asked, lambda: measure(tokenizer, folder, files, args.lines))


def trained_file(args: argparse.Namespace, rule: Segmentation, corpora: list[Path]) -> Path:
    """The file of the tokenizer, trained if it does not exist."""
    path: Path = args.out / f"{rule}-{args.sizes[0]}-{code()}.json"
    if not path.exists():
        recipe = Recipe(vocab_size=args.sizes[0], segmentation=rule, special_tokens=SPECIALS)
        trained(corpora, recipe, args.threads)[0].save(path)
    return path


if __name__ == "__main__":
    main()
