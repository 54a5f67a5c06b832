"""`supratok count`: count the tokens of files.

supratok count my.json book.txt corpus.jsonl.zst
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any

from ..corpus import open_corpus
from ..corpus.kinds import DOCUMENT
from ..formats.measure import Measure, measure, total
from ..formats.peer import open_any
from .common import (
    ANY_TOKENIZER,
    FILES,
    add_reading_arguments,
    display_name,
    print_left_out,
    print_line,
    reading_of,
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.description = f"Count the tokens of files. {DOCUMENT}."
    add = command.add_argument
    add("tokenizer", metavar="TOKENIZER", help=ANY_TOKENIZER)
    add("files", nargs="+", metavar="FILES", help=FILES)
    add_reading_arguments(command)
    add("--json", action="store_true", help="print JSON (default: a table)")


def run(args: argparse.Namespace) -> None:
    peer = open_any(args.tokenizer)
    rows = []
    for name in args.files:
        with open_corpus(Path(name), **reading_of(args)) as corpus:
            rows.append(measure(peer, corpus, check=False))
            rows[-1].name = display_name(name)
            print_left_out(name, corpus)
    whole = total(rows)
    if args.json:
        files = [facts_of(row) for row in rows]
        print_line(json.dumps({"tokenizer": peer.name, "files": files, "total": facts_of(whole)}))
    else:
        _show([*rows, whole] if len(rows) > 1 else rows)


def facts_of(row: Measure) -> dict[str, Any]:
    """The figures of a measurement that are known, for JSON."""
    facts = dataclasses.asdict(row) | {
        "characters_per_token": row.characters_per_token,
        "bytes_per_token": row.bytes_per_token,
        "megabytes_per_second": row.megabytes_per_second,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _show(rows: list[Measure]) -> None:
    from .draw import new_console, new_table, print_table, ratio

    table = new_table("file", "tokens", "characters", "characters/token", "bytes/token")
    for row in rows:
        ratios = (ratio(row.characters_per_token), ratio(row.bytes_per_token))
        table.add_row(row.name, f"{row.tokens:,}", f"{row.characters:,}", *ratios)
    print_table(new_console(), table)
