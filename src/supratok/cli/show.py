"""`supratok show`: the tokens of a text by several tokenizers, in the terminal or as a page.

supratok show my.json plain.json --text 'in New York'
supratok show my.json plain.json --file letter.txt --html letter.html
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from ..common.files import write_whole
from ..pages.card import Card, open_cards
from ..pages.tokens import encode
from .common import (
    ANY_TOKENIZER,
    check_writable,
    display_name,
    open_input,
    output_name,
)
from .draw import coloured, new_console

NOTES = "The page is one file that loads nothing and sends nothing; it works without a server."
_MOST = 2_000  # tokens in the terminal


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(interrupted="interrupted; nothing is written")
    add = command.add_argument
    add("files", nargs="+", metavar="TOKENIZER", help=ANY_TOKENIZER)
    source = command.add_mutually_exclusive_group()
    source.add_argument("--text", metavar="TEXT", help="the text itself (default: standard input)")
    source.add_argument(
        "--file", metavar="FILE", help="a file of plain text (default: standard input)"
    )
    add(
        "--html",
        type=Path,
        metavar="PAGE",
        help="write a page such as tokens.html, or - for standard output (default: show the tokens"
        " in the terminal)",
    )
    add("--title", metavar="TEXT", help="the title of the page (default: that of the text's file)")


def run(args: argparse.Namespace) -> None:
    if args.html is not None:
        check_writable(args.html, [*args.files, args.file], "--html")
    cards = open_cards(args.files)
    text = args.text if args.text is not None else _read(args.file or "-")
    if args.html is None:
        _show(cards, text)
        return
    from ..pages.page import show_page  # here, since the terminal needs no template

    named = Path(args.file).name if args.file and args.file != "-" else None
    title = args.title or (f"The tokens of {named}" if named else "One text, several tokenizers")
    write_whole(args.html, show_page(cards, text, title))
    size = f"{len(text):,} character{'' if len(text) == 1 else 's'}"
    print(f"{output_name(args.html)}: {size}, tokenizers: {len(cards)}", file=sys.stderr)


def _read(name: str) -> str:
    with open_input(name) as file:
        data = file.read()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{display_name(name)}: invalid UTF-8 at byte offset {error.start}; convert it to UTF-8"
        ) from error


def _show(cards: Sequence[Card], text: str) -> None:
    console = new_console()
    for place, card in enumerate(cards):
        encoded = encode(card, text)
        ids = encoded.ids[:_MOST].tolist()
        ratio = f", {len(text) / len(encoded):.2f} characters per token" if len(encoded) else ""
        title = f"{card.letter} {card.name}: {len(encoded):,} tokens{ratio}"
        console.print(Text(("\n" if place else "") + title, style="bold"), soft_wrap=True)
        console.print(coloured(list(map(card.text, ids)), console.is_terminal), soft_wrap=True)
        if len(encoded) > _MOST:
            console.print(f"and {len(encoded) - _MOST:,} more tokens")
