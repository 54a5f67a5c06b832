"""What the commands share: options, output, and looking before an hour of work."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..common.files import refuse_unwritable
from ..common.progress import Events
from ..corpus import Corpus
from ..tokenizer import Tokenizer

FILES = "files (.txt .jsonl .parquet, also .gz .zst .xz), folders, globs, or - for standard input"


def reading_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--text-key", default="text", metavar="KEY", help="of JSON and parquet")
    command.add_argument("--skip-bad", action="store_true", help="leave out what cannot be read")


def making_options(command: argparse.ArgumentParser, out: str = "the file to write") -> None:
    """Of the commands that read a corpus and write a tokenizer: train, prune, refine, extend."""
    command.set_defaults(interrupted="interrupted, nothing was written")
    add = command.add_argument
    add("files", nargs="+", metavar="FILES", help=FILES)
    add("--out", type=Path, required=True, metavar="PATH", help=out)
    add("--threads", type=int, metavar="N", help="as many as there are cores, unless said")
    reading_options(command)
    add("--whole-files", action="store_true", help="a text file is one document, not its lines")
    shown = command.add_mutually_exclusive_group()
    shown.add_argument("--quiet", action="store_true", help="show nothing but errors")
    shown.add_argument("--json", action="store_true", help="progress as JSON, an event a line")


class Making:
    """From the first reading to the file: options for the work, and what is told at its end.

    making = Making(args)
    tokenizer = train([...], recipe, **making.options)
    making.save(tokenizer, "learnt", story(tokenizer))
    """

    def __init__(self, args: argparse.Namespace) -> None:
        check_writable(args.out)
        self._args, self._began = args, time.monotonic()
        self._events = Events(sys.stderr) if args.json else None
        self.options: dict[str, Any] = {
            "threads": args.threads,
            "progress": self._events or not args.quiet,
            "text_key": args.text_key,
            "whole_files": args.whole_files,
            "skip_bad": args.skip_bad,
        }

    @property
    def files(self) -> list[Path]:
        """Paths: so that a misspelt file is an error, never a text."""
        return [Path(name) for name in self._args.files]

    def save(self, tokenizer: Tokenizer, done: str, story: Iterable[str]) -> None:
        """Write the file, and tell people or programs about it."""
        out = self._args.out
        tokenizer.save(out)
        self._args.interrupted = f"interrupted, after {out} was written"
        seconds = round(time.monotonic() - self._began, 2)
        if self._events:
            facts = {"out": str(out), "vocab_size": tokenizer.vocab_size, "seconds": seconds}
            self._events.emit("done", **facts, report=tokenizer.report)
        elif not self._args.quiet:
            head = f"{out}: {tokenizer.vocab_size:,} tokens, {done} in {seconds:,.1f} s"
            print(head, *story, sep="\n", file=sys.stderr)


def check_writable(out: Path, option: str = "--out") -> None:
    if out.is_dir():
        raise ValueError(f"{option} {out}: a folder; name the file to write in it")
    refuse_unwritable(out, f"{option} {out}")


def called(name: str) -> str:
    return "standard input" if name == "-" else name


def put(line: str) -> None:
    write(line.encode() + b"\n")


def write(data: bytes) -> None:
    """All of it: under PYTHONUNBUFFERED a single write to a pipe may take only the beginning."""
    rest = memoryview(data)
    while rest:
        rest = rest[sys.stdout.buffer.write(rest) :]


def tell_skipped(name: str, corpus: Corpus) -> None:
    for reason, count in sorted(corpus.skipped.items()):
        print(f"{called(name)}: skipped {count:,} records: {reason}", file=sys.stderr)
