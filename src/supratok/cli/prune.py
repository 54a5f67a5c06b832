"""`supratok prune`: drop the tokens of a tokenizer that a corpus can best do without.

supratok prune my.json corpus/*.jsonl.zst --vocab-size 50000 --out small.json
"""

from __future__ import annotations

import argparse

from ..learn.rework import check_size, prune_tokenizer
from ..tokenizer import Tokenizer, usable_threads
from .common import Making, making_options
from .summary import afterwards


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("tokenizer", metavar="TOKENIZER", help="a supratok file")
    making_options(command)
    command.add_argument(
        "--vocab-size", type=int, required=True, metavar="N", help="tokens to keep, bytes included"
    )


def run(args: argparse.Namespace) -> None:
    tokenizer = Tokenizer.load(args.tokenizer)
    check_size(tokenizer, args.vocab_size)
    usable_threads(args.threads)
    making = Making(args)
    smaller = prune_tokenizer(tokenizer, making.files, args.vocab_size, **making.options)
    making.save(smaller, "pruned", afterwards(smaller))
