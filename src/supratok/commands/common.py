"""What the commands share: options, output, and looking before an hour of work."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from ..corpus import Corpus

FILES = "files (.txt .jsonl .parquet, also .gz .zst .xz), folders, globs, or - for standard input"


def reading_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--text-key", default="text", metavar="KEY", help="of JSON and parquet")
    command.add_argument("--skip-bad", action="store_true", help="leave out what cannot be read")


def check_writable(out: Path, option: str = "--out") -> None:
    """An hour of training must not end at a folder that is not there."""
    if out.is_dir():
        raise ValueError(f"{option} {out}: a folder; name the file to write in it")
    try:
        with tempfile.TemporaryFile(dir=out.parent):
            pass
    except OSError as error:
        raise ValueError(
            f"{option} {out}: cannot write in the folder {out.parent} ({error.strerror});"
            " make it, or choose another"
        ) from error


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
