"""`supratok refine`: swap tokens that save little on a corpus for others that save more.

supratok refine my.json corpus/*.jsonl.zst --out better.json
supratok refine my.json corpus/*.jsonl.zst --expressions --rounds 2 --out better.json
supratok refine my.json corpus/*.jsonl.zst --target tickets.jsonl --out for-tickets.json
"""

from __future__ import annotations

import argparse

from ..learn.rework import check_rounds, refine
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
        "--rounds",
        type=int,
        default=10,
        metavar="N",
        help="at most N rounds of swaps; it stops when one gains nothing (default: 10)",
    )
    command.add_argument(
        "--expressions", action="store_true", help="run the expression pass first (paper 3.3)"
    )
    add_target_arguments(command)
    add_job_arguments(command)


def run(args: argparse.Namespace) -> None:
    check_rounds(args.rounds)
    job, target = Job(args), target_of(args)
    tokenizer = Tokenizer.load(args.tokenizer)
    check_writable(args.out, job.reads(args.tokenizer))
    better = refine(
        tokenizer, job.files, args.rounds, args.expressions, **job.options,
        target=target, target_share=args.target_share,
    )  # fmt: skip
    job.save(better, "refined", summary_of_rework(better))
