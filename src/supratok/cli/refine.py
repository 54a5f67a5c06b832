"""`supratok refine`: tokens that save little on a corpus give their places to others.

supratok refine my.json corpus/*.jsonl.zst --out better.json
supratok refine my.json corpus/*.jsonl.zst --expressions --rounds 2 --out better.json
"""

from __future__ import annotations

import argparse

from ..learn.rework import check_rounds, refine_tokenizer
from ..tokenizer import Tokenizer, usable_threads
from .common import Making, making_options
from .summary import afterwards


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("tokenizer", metavar="TOKENIZER", help="a supratok file")
    making_options(command)
    command.add_argument(
        "--rounds", type=int, default=10, metavar="N", help="at most; they end when none pays (10)"
    )
    command.add_argument(
        "--expressions", action="store_true", help="the expression pass first (paper 3.3)"
    )


def run(args: argparse.Namespace) -> None:
    check_rounds(args.rounds)
    usable_threads(args.threads)
    tokenizer = Tokenizer.load(args.tokenizer)
    making = Making(args)
    better = refine_tokenizer(
        tokenizer, making.files, args.rounds, args.expressions, **making.options
    )
    making.save(better, "refined", afterwards(better))
