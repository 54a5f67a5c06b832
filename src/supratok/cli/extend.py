"""`supratok extend`: add phrases as new tokens to a Hugging Face tokenizer; its ids all stay.

supratok extend --base gpt2-folder --add 20000 corpus/*.jsonl.zst --out longer
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from ..extending import Extension, extend
from ..recipe import Boundaries
from .common import Job, add_job_arguments

NOTES = "It needs the extra extend; `supratok doctor` says what is missing."


def add_arguments(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add(
        "--base",
        required=True,
        metavar="PATH",
        help="a tokenizer.json, a folder with one, or a supratok file with the rule merges",
    )
    add("--add", type=int, required=True, metavar="N", help="number of new tokens to learn")
    add(
        "--boundaries",
        choices=["open", "careful", "clauses"],
        default="open",
        help="open: phrases may cross punctuation; careful: not the end of a sentence or a colon;"
        " clauses: no punctuation before a space (default: open)",
    )
    add(
        "--min-count",
        type=int,
        default=10,
        metavar="N",
        help="a new token occurs at least N times (default: 10)",
    )
    add(
        "--min-documents",
        type=int,
        default=10,
        metavar="N",
        help="a new token occurs in at least N documents (default: 10)",
    )
    add_job_arguments(command, out="the folder to write, new or empty")


def run(args: argparse.Namespace) -> None:
    job = Job(args)
    extension = extend(
        args.base,
        job.files,
        args.add,
        args.out,
        boundaries=getattr(Boundaries, args.boundaries)(),
        min_count=args.min_count,
        min_documents=args.min_documents,
        **job.options,
    )
    args.interrupted = f"interrupted, after {args.out} was written"
    added = len(extension.tokens)
    done = f"{added:,} new tokens, learnt"
    job.finish({"added": added}, done, extension.report, _summary(extension, args.add))


def _summary(extension: Extension, asked: int) -> Iterator[str]:
    if len(extension.tokens) < asked:
        yield f"fewer than the {asked:,} asked for: no other phrase is frequent enough"
    some = ", ".join(repr(token.text) for token in extension.tokens[:5])
    yield f"ids {extension.first_new_id:,} to {extension.vocab_size - 1:,}: {some} ..."
    if held_out := extension.report.get("held_out"):
        before, after = held_out["tokens_before"], held_out["tokens"]
        share = f"{1 - after / before:.1%} fewer"
        yield f"held-out text: {before:,} tokens before, {after:,} now, {share}"
    if left_out := extension.report["left_out"]:
        yield f"not copied, since they describe the base: {', '.join(left_out)}"
