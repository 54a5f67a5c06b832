"""`supratok extend`: phrases as new tokens of a Hugging Face tokenizer, whose ids all stay.

supratok extend --base gpt2-folder --add 20000 corpus/*.jsonl.zst --out longer
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from ..common.progress import Events
from ..extend import Extension, extend
from ..recipe import Boundaries
from .common import making_options


def add_options(command: argparse.ArgumentParser) -> None:
    making_options(command, out="the folder to write, new or empty")
    add = command.add_argument
    add("--base", required=True, metavar="PATH", help="a folder with a tokenizer.json, or the file")
    add("--add", type=int, required=True, metavar="N", help="new tokens to learn")
    add("--boundaries", choices=["open", "careful"], default="open")
    add("--min-count", type=int, default=10, metavar="N", help="of a new token (default 10)")
    add("--min-documents", type=int, default=10, metavar="N", help="that hold it (default 10)")


def run(args: argparse.Namespace) -> None:
    began = time.monotonic()
    events = Events(sys.stderr) if args.json else None
    extension = extend(
        args.base,
        [Path(name) for name in args.files],
        args.add,
        args.out,
        boundaries=getattr(Boundaries, args.boundaries)(),
        min_count=args.min_count,
        min_documents=args.min_documents,
        threads=args.threads,
        progress=events or not args.quiet,
        text_key=args.text_key,
        whole_files=args.whole_files,
        skip_bad=args.skip_bad,
    )
    seconds = round(time.monotonic() - began, 2)
    if events:
        facts = {"out": str(args.out), "added": len(extension.tokens), "seconds": seconds}
        events.emit("done", **facts, report=extension.report)
    elif not args.quiet:
        head = f"{args.out}: {len(extension.tokens):,} new tokens, learnt in {seconds:,.1f} s"
        print(head, *_story(extension, args.add), sep="\n", file=sys.stderr)


def _story(extension: Extension, asked: int) -> Iterator[str]:
    if len(extension.tokens) < asked:
        yield f"fewer than the {asked:,} asked for: no other phrase is frequent enough"
    some = ", ".join(repr(token.text) for token in extension.tokens[:5])
    yield f"ids {extension.first_new_id:,} to {extension.vocab_size - 1:,}: {some} ..."
    if held_out := extension.report.get("held_out"):
        before, after = held_out["tokens_before"], held_out["tokens"]
        share = f"{1 - after / before:.1%} fewer"
        yield f"held-out text: {before:,} tokens before, {after:,} now, {share}"
    if left_out := extension.report["left_out"]:
        yield f"left out, as they say what the base was: {', '.join(left_out)}"
