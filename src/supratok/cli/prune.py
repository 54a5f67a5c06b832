"""`supratok prune`: drop the tokens of a tokenizer that a corpus needs least.

supratok prune my.json corpus/*.jsonl.zst --vocab-size 50000 --out small.json
"""

from __future__ import annotations

import argparse

from ..learn.rework import check_size, prune
from ..tokenizer import Tokenizer
from .common import (
    TOKENIZER,
    Job,
    add_job_arguments,
    add_target_arguments,
    check_writable,
    target_of,
)
from .summary import summary_of_rework


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("tokenizer", metavar="TOKENIZER", help=TOKENIZER)
    command.add_argument(
        "--vocab-size",
        type=int,
        required=True,
        metavar="N",
        help="number of tokens to keep, bytes included",
    )
    add_target_arguments(command)
    add_job_arguments(command)


def run(args: argparse.Namespace) -> None:
    tokenizer = Tokenizer.load(args.tokenizer)
    check_size(tokenizer, args.vocab_size)
    job, target = Job(args), target_of(args)
    check_writable(args.out, job.reads(args.tokenizer))
    smaller = prune(
        tokenizer, job.files, args.vocab_size, **job.options,
        target=target, target_share=args.target_share,
    )  # fmt: skip
    job.save(smaller, "pruned", summary_of_rework(smaller))
