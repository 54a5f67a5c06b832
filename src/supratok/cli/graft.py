"""`supratok graft`: a model's GGUF file with our tokenizer in place of its own.

supratok graft converted.gguf my.json --eos '</s>' --out mine.gguf

For models whose class llama.cpp's converter cannot convert with our tokenizer, such as GPT-2: see
export/gguf.py.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..formats.gguf.write import graft
from ..formats.listing import listing_of
from ..tokenizer import Tokenizer
from .common import check_writable
from .export import role_options, roles_of


def add_options(command: argparse.ArgumentParser) -> None:
    command.set_defaults(interrupted="interrupted, nothing was written")
    add = command.add_argument
    add("model", type=Path, metavar="MODEL", help="a GGUF file, which stays as it is")
    add("tokenizer", metavar="TOKENIZER", help="a supratok file")
    add("--out", type=Path, required=True, metavar="PATH", help="the file to write")
    role_options(command)


def run(args: argparse.Namespace) -> None:
    check_writable(args.out)
    listing = listing_of(Tokenizer.load(args.tokenizer), roles_of(args))
    graft(args.model, args.out, listing)
    print(f"{args.out}: {args.model} with {len(listing.rows):,} tokens", file=sys.stderr)
    if listing.fewest:
        print(
            "its rule is `fewest`: llama.cpp prints the bytes that a model generates as private"
            " characters",
            file=sys.stderr,
        )
