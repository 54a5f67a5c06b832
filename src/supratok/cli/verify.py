"""`supratok verify`: check that every installed runtime gives the same ids and the same text.

supratok verify my-model                           # hostile text, generated from its tokens
supratok verify my-model corpus/*.jsonl.zst --lines --limit 10000
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.table import Table

from ..corpus import open_corpus
from ..formats.verify import NAMES, Verification, verify
from .common import FILES, add_reading_arguments, print_left_out, print_line, reading_of
from .draw import new_console, new_table, print_table

NOTES = (
    "It checks the programs that are installed; the extra verify has all of them, and `supratok"
    " doctor` says which are missing."
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("folder", metavar="FOLDER", help="a folder that export wrote")
    add("files", nargs="*", metavar="FILES", help=f"more texts to check: {FILES} (default: none)")
    add("--lines", action="store_true", help="each line is a text (default: each document is one)")
    add("--limit", type=int, metavar="N", help="read N texts of each file (default: all)")
    add(
        "--runtime",
        action="append",
        choices=NAMES,
        help="a runtime to check; may be repeated (default: all that are installed)",
    )
    add_reading_arguments(command)
    add("--json", action="store_true", help="print JSON (default: a table)")


def run(args: argparse.Namespace) -> None:
    """Raises ValueError after the table if any id or text differs."""
    if args.limit is not None and args.limit < 0:
        raise ValueError(f"--limit={args.limit}: must be at least 0")
    found = _verify(args)
    if args.json:
        rows = [dataclasses.asdict(row) for row in found.rows]
        print_line(json.dumps({"folder": args.folder, "runtimes": rows, "missing": found.missing}))
    else:
        show_verification(found)
    if not found.good:
        raise ValueError(f"{args.folder}: {found.problem()}")


def _verify(args: argparse.Namespace) -> Verification:
    shown = sys.stderr.isatty() and not args.json

    def watch(done: int) -> None:
        if shown:
            print(f"\r{done:,} texts", end="", file=sys.stderr, flush=True)

    found = verify(args.folder, _texts(args), runtimes=args.runtime, watch=watch)
    if shown:
        print("\r\033[K", end="", file=sys.stderr)
    return found


def _texts(args: argparse.Namespace) -> Iterator[str]:
    for name in args.files:
        with open_corpus(Path(name), **reading_of(args)) as corpus:
            texts = (text for document in corpus for text in _parts(document, args.lines))
            yield from itertools.islice(texts, args.limit)
            print_left_out(name, corpus)


def _parts(document: str, lines: bool) -> list[str]:
    return document.split("\n") if lines else [document]


def show_verification(found: Verification) -> None:
    console = new_console()
    print_table(console, _table(found))
    for note in found.notes():
        console.print(note)


def _table(found: Verification) -> Table:
    table = new_table(
        "runtime", "version", "texts", "tokens", "ids differ", "text lost", "left out", "seconds"
    )
    for row in found.rows:
        counts = (row.texts, row.tokens, row.different, row.lost, row.left_out)
        table.add_row(
            row.runtime, row.version, *(f"{count:,}" for count in counts), f"{row.seconds:.1f}"
        )
    return table
