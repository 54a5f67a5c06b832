"""`supratok encode`: convert text to ids.

supratok encode my.json book.txt                   # 1187 262 ...
supratok encode my.json --lines --tokens < book.txt
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from ..tokenizer import Tokenizer
from .common import TOKENIZER, display_name, open_input, print_line


def add_arguments(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("tokenizer", metavar="TOKENIZER", help=TOKENIZER)
    add("files", nargs="*", metavar="FILES", help="files of plain text (default: standard input)")
    add("--lines", action="store_true", help="each line is a text (default: each file is one)")
    add("--tokens", action="store_true", help="print the tokens' texts instead of ids")
    add(
        "--allow-special",
        action="store_true",
        help="encode special tokens in the text as their ids (default: as plain text)",
    )
    add("--json", action="store_true", help="print a JSON array for each text")


def run(args: argparse.Namespace) -> None:
    tokenizer = Tokenizer.load(args.tokenizer)
    for text in _texts(args.files or ["-"], args.lines):
        ids = tokenizer.encode(text, allow_special=args.allow_special)
        shown: list[Any] = [tokenizer.token_text(id) for id in ids] if args.tokens else ids
        if args.json:
            print_line(json.dumps(shown, ensure_ascii=False))
        elif args.tokens:
            print_line(" ".join(json.dumps(token, ensure_ascii=False) for token in shown))
        else:
            print_line(" ".join(map(str, ids)))


def _texts(names: list[str], lines: bool) -> Iterator[str]:
    """Each file, or each line without its newline."""
    for name in names:
        with open_input(name) as file:
            offset = 0
            for part in file if lines else [file.read()]:
                try:
                    yield (part.removesuffix(b"\n") if lines else part).decode()
                except UnicodeDecodeError as error:
                    raise ValueError(
                        f"{display_name(name)}: invalid UTF-8 at byte offset"
                        f" {offset + error.start}; convert it to UTF-8"
                    ) from error
                offset += len(part)
