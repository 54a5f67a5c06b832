"""`supratok verify`: the same ids and the same text in every runtime that is installed.

supratok verify my-model                           # hostile text, made for this tokenizer
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
from .common import FILES, put, reading_options, tell_skipped
from .show import new_console, new_table


def add_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("folder", metavar="FOLDER", help="that export wrote")
    add("files", nargs="*", metavar="FILES", help=f"text beside the hostile one: {FILES}")
    add("--lines", action="store_true", help="each line of a document is a text")
    add("--limit", type=int, metavar="N", help="so many texts of each file")
    add("--runtime", action="append", choices=NAMES, help="may be repeated; all, unless said")
    reading_options(command)
    add("--json", action="store_true")


def run(args: argparse.Namespace) -> None:
    """Raises if anything differs, after the table: the command then fails."""
    found = _verify(args)
    if args.json:
        rows = [dataclasses.asdict(row) for row in found.rows]
        put(json.dumps({"folder": args.folder, "runtimes": rows, "missing": found.missing}))
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
        source = Path(name)  # so that a misspelt file is an error, never a text
        with open_corpus(source, text_key=args.text_key, skip_bad=args.skip_bad) as corpus:
            texts = (text for document in corpus for text in _parts(document, args.lines))
            yield from itertools.islice(texts, args.limit)
            tell_skipped(name, corpus)


def _parts(document: str, lines: bool) -> list[str]:
    return document.split("\n") if lines else [document]


def show_verification(found: Verification) -> None:
    console = new_console()
    console.print(_table(found))
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
