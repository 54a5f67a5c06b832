"""`supratok compare`: compare tokenizers on a file.

supratok compare book.txt my.json tokenizer.json other.model --sample 3
"""

from __future__ import annotations

import argparse
import itertools
import json

from rich.table import Table
from rich.text import Text

from ..corpus import Corpus
from ..formats.measure import Measure, measure
from ..formats.peer import open_any
from .common import ANY_TOKENIZER, add_reading_arguments, open_whole, print_line, print_skipped
from .count import facts_of
from .show import coloured, new_console, new_table, ratio

_SAMPLE = 300  # characters of a sampled line


def add_arguments(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("file", metavar="FILE", help="one text if it is a text file, else its records")
    add("tokenizers", nargs="+", metavar="TOKENIZER", help=ANY_TOKENIZER)
    add(
        "--sample",
        type=int,
        default=1,
        metavar="N",
        help="show the tokens of the first N lines (default: 1)",
    )
    add_reading_arguments(command)
    add("--json", action="store_true", help="print JSON (default: a table)")


def run(args: argparse.Namespace) -> None:
    peers = [open_any(path) for path in args.tokenizers]
    with open_whole(args.file, args) as corpus:
        rows = [measure(peer, corpus) for peer in peers]
        print_skipped(args.file, corpus)
        sample = _sample(corpus, args.sample)
    splits = [(line, {peer.name: peer.token_strings(line) for peer in peers}) for line in sample]
    if args.json:
        facts = [facts_of(row) | {"relative": _relative(row, rows[0])} for row in rows]
        shown = [{"text": line, "tokens": split} for line, split in splits]
        print_line(json.dumps({"file": args.file, "tokenizers": facts, "sample": shown}))
        return
    console = new_console()
    console.print(_table(rows))
    for _, split in splits:
        for name, tokens in split.items():
            console.print(Text(f"\n{name}: {len(tokens)} tokens", style="bold"))
            console.print(coloured(tokens, console.is_terminal), soft_wrap=True)


def _relative(row: Measure, first: Measure) -> float | None:
    return row.tokens / first.tokens if first.tokens else None


def _table(rows: list[Measure]) -> Table:
    table = new_table(
        "tokenizer", "vocabulary", "tokens", "to the first", "characters/token", "bytes/token",
        "lossless", "MB/s",
    )  # fmt: skip
    for row in rows:
        table.add_row(
            row.name,
            f"{row.vocab_size:,}",
            f"{row.tokens:,}",
            ratio(_relative(row, rows[0])),
            ratio(row.characters_per_token),
            ratio(row.bytes_per_token),
            "yes" if row.lossless else "no",
            ratio(row.megabytes_per_second, digits=1),
        )
    return table


def _sample(corpus: Corpus, count: int) -> list[str]:
    """The first lines that are not blank, each cut to fit a screen."""
    lines = (line for text in corpus for line in text.splitlines() if line.strip())
    return [line[:_SAMPLE] for line in itertools.islice(lines, count)]
