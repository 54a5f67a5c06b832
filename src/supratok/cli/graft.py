"""`supratok graft`: replace the tokenizer of a model's GGUF file by ours.

supratok graft converted.gguf my.json --eos '</s>' --out mine.gguf

For models that llama.cpp's converter cannot convert with our tokenizer, such as GPT-2: see
formats/gguf/write.py.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..common.files import STANDARD_OUTPUT
from ..formats.gguf.write import graft
from ..formats.listing import listing_of
from ..tokenizer import Tokenizer
from .common import TOKENIZER, check_writable
from .export import add_role_arguments, roles_of

NOTES = "It needs the extra export; `supratok doctor` says what is missing."


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(interrupted="interrupted, nothing was written")
    add = command.add_argument
    add("model", type=Path, metavar="MODEL", help="a GGUF file; graft does not change it")
    add("tokenizer", metavar="TOKENIZER", help=TOKENIZER)
    add("--out", type=Path, required=True, metavar="PATH", help="the GGUF file to write")
    add_role_arguments(command)


def run(args: argparse.Namespace) -> None:
    if str(args.out) == STANDARD_OUTPUT:
        raise ValueError("--out -: a GGUF file cannot be written to standard output; name a file")
    check_writable(args.out, [args.model, args.tokenizer, args.chat_template])
    listing = listing_of(Tokenizer.load(args.tokenizer), roles_of(args))
    graft(args.model, args.out, listing)
    print(f"{args.out}: {args.model} with {len(listing.rows):,} tokens", file=sys.stderr)
    if listing.fewest:
        print(
            "under its rule `fewest`, llama.cpp prints the bytes that a model generates as private"
            " characters",
            file=sys.stderr,
        )
