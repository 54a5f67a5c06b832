"""`supratok decode`: convert ids back to text, byte for byte.

supratok encode my.json book.txt | supratok decode my.json | cmp - book.txt
"""

from __future__ import annotations

import argparse

from ..tokenizer import Tokenizer
from .common import TOKENIZER, display_name, open_input, write_output


def add_arguments(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("tokenizer", metavar="TOKENIZER", help=TOKENIZER)
    add(
        "files",
        nargs="*",
        metavar="FILES",
        help="ids as encode prints them (default: standard input)",
    )
    add("--lines", action="store_true", help="end each text with a newline (default: join them)")


def run(args: argparse.Namespace) -> None:
    tokenizer = Tokenizer.load(args.tokenizer)
    for name in args.files or ["-"]:
        with open_input(name) as file:
            for number, line in enumerate(file, 1):
                try:
                    data = tokenizer.decode_bytes(_ids(line))
                except ValueError as error:
                    raise ValueError(f"{display_name(name)}, line {number}: {error}") from error
                write_output(data + b"\n" if args.lines else data)


def _ids(line: bytes) -> list[int]:
    """The ids of a line, "12 7" or "[12, 7]"."""
    words = line.strip().removeprefix(b"[").removesuffix(b"]").replace(b",", b" ").split()
    for word in words:
        if not word.isdigit():
            word_text = word.decode(errors="replace")
            raise ValueError(f"{word_text!r} is no id; pass ids as `supratok encode` prints them")
    return [int(word) for word in words]
