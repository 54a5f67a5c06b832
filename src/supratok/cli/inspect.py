"""`supratok inspect`: show the recipe, the tokens and the training of a tokenizer.

supratok inspect my.json
supratok inspect my.json --corpus book.txt --top 30
supratok inspect my.json --toml > recipe.toml
supratok inspect my.json --corpus book.txt --html my.html
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..common.files import write_whole
from ..pages.facts import Usage, describe
from ..tokenizer import Tokenizer
from ..tokenizer.inputs import naming
from .common import (
    TOKENIZER,
    add_reading_arguments,
    check_writable,
    corpus_files,
    output_name,
    print_line,
    write_output,
)
from .draw import new_console, new_table, print_table, quoted
from .summary import summary_of


def add_arguments(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("tokenizer", metavar="TOKENIZER", help=TOKENIZER)
    add(
        "--top",
        type=int,
        default=10,
        metavar="N",
        help="number of tokens in each list (default: 10)",
    )
    add(
        "--corpus",
        nargs="+",
        metavar="FILES",
        help="count how often these files use each token (default: show counts from training)",
    )
    add_reading_arguments(command)
    shown = command.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print JSON (default: tables)")
    shown.add_argument(
        "--toml", action="store_true", help="print the recipe for `train --recipe` and no more"
    )
    shown.add_argument(
        "--html",
        type=Path,
        metavar="PAGE",
        help="write a page to send around, such as my.html (default: tables)",
    )


def run(args: argparse.Namespace) -> None:
    if args.html is not None:
        check_writable(args.html, _read(args), "--html")
    tokenizer = Tokenizer.load(args.tokenizer)
    if args.toml:
        write_output(tokenizer.recipe.to_toml().encode())
        return
    usage, characters = _usage(tokenizer, args) if args.corpus else (None, 0)
    with naming(args.tokenizer):  # the report of a damaged file may hold anything
        facts = describe(tokenizer, usage, max(args.top, 0), characters)
        if args.html is not None:
            page = _page(tokenizer, facts, args)
        elif args.json:
            print_line(json.dumps({"tokenizer": args.tokenizer, **facts}))
        else:
            _show(facts, tokenizer)
    if args.html is not None:
        write_whole(args.html, page)
        print(f"{output_name(args.html)}: open it in a browser, or send it", file=sys.stderr)


def _read(args: argparse.Namespace) -> Iterator[str]:
    yield args.tokenizer
    yield from corpus_files(args.corpus or [])


def _usage(tokenizer: Tokenizer, args: argparse.Namespace) -> tuple[Usage, int]:
    """How often the files of --corpus use each id, and their characters."""
    from ..formats.runtime import Ours  # which tables without a corpus do without
    from .uses import uses_in

    (usage,), characters = uses_in(args, [Ours(args.tokenizer, tokenizer)])
    return usage, characters


def _page(tokenizer: Tokenizer, facts: dict[str, Any], args: argparse.Namespace) -> str:
    from ..pages.inspect_page import page  # which tables in a terminal do without

    files = [Path(name).name for name in args.corpus or []]
    return page(
        Path(args.tokenizer).name, tokenizer.recipe, facts, list(summary_of(tokenizer)), files
    )


def _show(facts: dict[str, Any], tokenizer: Tokenizer) -> None:
    console = new_console()
    boundaries = facts["recipe"].pop("boundaries")
    for name, value in (facts["recipe"] | boundaries).items():
        console.print(f"{name:20} {value}")
    table = new_table("vocabulary", "tokens", "share", "use")
    rows = facts["born"] | {"cross a word boundary": facts["crossing"]}
    for name, row in rows.items():
        use = f"{row['use']:.1%}" if "use" in row else "-"
        table.add_row(name, f"{row['tokens']:,}", f"{row['share']:.1%}", use)
    print_table(console, table)
    console.print("longest")
    for text in facts["longest"]:
        console.print(f"  {len(text):>10,}  {quoted(text)}", soft_wrap=True)
    console.print(f"\nmost used, by {facts['most_used']['by']}")
    for text, count in facts["most_used"]["tokens"]:
        console.print(f"  {count:>10,}  {quoted(text)}", soft_wrap=True)
    console.print("\ntraining")
    for line in summary_of(tokenizer):
        console.print(f"  {line}", soft_wrap=True)
