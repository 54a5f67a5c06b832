"""`supratok compare`: compare tokenizers on a file.

supratok compare book.txt my.json tokenizer.json other.model --sample 3
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

from rich.text import Text

from ..corpus import open_corpus
from ..formats.measure import Measure, measure
from ..formats.peer import open_any
from .common import (
    ANY_TOKENIZER,
    FILES,
    add_reading_arguments,
    print_left_out,
    print_line,
    reading_of,
)
from .count import facts_of
from .draw import coloured, new_console, new_table, print_table, ratio

_SAMPLE = 300  # characters of a sampled line
_COLUMNS = (
    "tokenizer", "vocabulary", "tokens", "to the first", "characters/token", "bytes/token",
    "lossless", "MB/s",
)  # fmt: skip


def add_arguments(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("file", metavar="FILE", help=f"what to encode, one of {FILES}")
    add("tokenizers", nargs="+", metavar="TOKENIZER", help=ANY_TOKENIZER)
    add(
        "--sample",
        type=int,
        default=1,
        metavar="N",
        help="show the tokens of N lines, spread over the text (default: 1)",
    )
    add_reading_arguments(command)
    add("--json", action="store_true", help="print JSON (default: a table)")


def run(args: argparse.Namespace) -> None:
    peers = [open_any(path) for path in args.tokenizers]
    with open_corpus(Path(args.file), **reading_of(args)) as corpus:
        rows = [measure(peer, corpus) for peer in peers]
        print_left_out(args.file, corpus)
        sample = sample_lines(corpus, max(args.sample, 0))
    splits = [(line, {peer.name: peer.token_strings(line) for peer in peers}) for line in sample]
    if args.json:
        facts = [facts_of(row) | {"relative": _relative(row, rows[0])} for row in rows]
        shown = [{"text": line, "tokens": split} for line, split in splits]
        print_line(json.dumps({"file": args.file, "tokenizers": facts, "sample": shown}))
        return
    console = new_console()
    table = new_table(*_COLUMNS)
    for row in rows:
        table.add_row(*_cells(row, rows[0]))
    print_table(console, table)
    for _, split in splits:
        for name, tokens in split.items():
            console.print(Text(f"\n{name}: {len(tokens)} tokens", style="bold"))
            console.print(coloured(tokens, console.is_terminal), soft_wrap=True)


def _relative(row: Measure, first: Measure) -> float | None:
    return row.tokens / first.tokens if first.tokens else None


def _cells(row: Measure, first: Measure) -> list[str]:
    return [
        row.name,
        f"{row.vocab_size:,}",
        f"{row.tokens:,}",
        ratio(_relative(row, first)),
        ratio(row.characters_per_token),
        ratio(row.bytes_per_token),
        "yes" if row.lossless else "no",
        ratio(row.megabytes_per_second, digits=1),
    ]


def sample_lines(texts: Iterable[str], count: int) -> list[str]:
    """Lines that are not blank, spread evenly over the texts, each cut to fit a screen. In one
    reading: every line at first, every second one when there are many, then every fourth ..."""
    kept: list[str] = []
    stride = 1
    lines = (line for text in texts for line in text.splitlines() if line.strip())
    for number, line in enumerate(lines):
        if number % stride == 0:
            kept.append(line[:_SAMPLE])
            if len(kept) > 64 * count:
                kept, stride = kept[::2], 2 * stride
    if len(kept) <= count:
        return kept
    return [kept[(2 * place + 1) * len(kept) // (2 * count)] for place in range(count)]
