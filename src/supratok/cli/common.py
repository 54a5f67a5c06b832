"""Code that the verbs share: arguments, input, output, and checks before an hour of work."""

from __future__ import annotations

import argparse
import contextlib
import functools
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ..common.files import STANDARD_OUTPUT, refuse_overwriting, refuse_unwritable
from ..common.progress import Events
from ..common.sizes import parse_size
from ..corpus import Corpus, open_corpus
from ..corpus.kinds import DOCUMENT, FORMATS
from ..corpus.paths import describe
from ..corpus.split import HOLD_OUT
from ..recipe import TARGET_SHARE
from ..tokenizer import Tokenizer, usable_threads
from ..tokenizer.file import FILE as SUPRATOK_FILE

FILES = (
    "files (.txt .jsonl .json .parquet, source code, also .gz .bz2 .xz .zst), folders, globs, or -"
    f" for standard input. {DOCUMENT}"
)
OUT = "file to write, or - for standard output"
TOKENIZER = "a supratok file, or a folder that export wrote"
ANY_TOKENIZER = (
    "a supratok file, a tokenizer.json, a SentencePiece .model or a .tiktoken (also .zst), or a"
    " folder that holds one"
)


# --- Arguments ---------------------------------------------------------------------------------


def add_reading_arguments(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add(
        "--format",
        choices=FORMATS,
        default="auto",
        help="the format of the files: text (documents end at blank lines), lines (each line is a"
        " document), code (each file is one), jsonl, json (also an array) or parquet (default:"
        " auto, by their suffixes)",
    )
    add(
        "--text-key",
        default="text",
        metavar="KEY",
        help="the key or column of the text in JSON and parquet (default: text)",
    )
    add(
        "--whole-files",
        action="store_true",
        help="a text file is one document (default: documents end at blank lines)",
    )
    add("--skip-bad", action="store_true", help="skip and count records that cannot be read")


def add_split_arguments(command: argparse.ArgumentParser) -> None:
    """Which documents train."""
    add = command.add_argument
    add(
        "--max-documents",
        type=int,
        metavar="N",
        help="train on a sample of N documents, chosen by hash, not the first ones (default: all)",
    )
    add(
        "--max-bytes",
        metavar="SIZE",
        help="train on a sample of so much text, such as 10GB, chosen by hash (default: all)",
    )
    add(
        "--hold-out",
        type=float,
        default=HOLD_OUT,
        metavar="SHARE",
        help="hold out this share of the documents, to decide and to measure on; 0 for none"
        f" (default: {HOLD_OUT})",
    )


def split_of(args: argparse.Namespace) -> dict[str, Any]:
    """The options that `add_split_arguments` added."""
    most = None if args.max_bytes is None else parse_size(args.max_bytes, "--max-bytes")
    return {
        "max_documents": args.max_documents, "max_bytes": most, "hold_out": args.hold_out,
    }  # fmt: skip


def add_target_arguments(command: argparse.ArgumentParser) -> None:
    """Text of the kind that the tokenizer will serve."""
    add = command.add_argument
    add(
        "--target",
        nargs="+",
        metavar="FILES",
        help="text of the kind to be served, read like FILES: one half decides with them which"
        " tokens stay, the other measures the gain; takes up to twice as long (default: none)",
    )
    add(
        "--target-share",
        type=float,
        metavar="SHARE",
        help="how much the target counts, in all evidence (default: the recipe's, or"
        f" {TARGET_SHARE})",
    )


def target_of(args: argparse.Namespace) -> list[Path] | None:
    """The files of --target; checks both options."""
    share = args.target_share
    if share is not None and not args.target:
        raise ValueError(f"--target-share {share}: there is no target; pass --target FILES")
    if share is not None and not 0.0 < share <= 1.0:
        raise ValueError(f"--target-share {share}: a share above 0, at most 1")
    return paths(args.target) if args.target else None


def add_memory_argument(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--memory",
        metavar="SIZE",
        help="use about so much memory, such as 8GB; tables that outgrow it go to files, and the"
        " result is the same (default: what it takes)",
    )


def reading_of(args: argparse.Namespace) -> dict[str, Any]:
    """The options of `open_corpus` that `add_reading_arguments` added."""
    names = ("format", "text_key", "whole_files", "skip_bad")
    return {name: getattr(args, name) for name in names}


def add_corpus_arguments(command: argparse.ArgumentParser, files: str = "+") -> None:
    """For commands that read a whole corpus. `files`: how many, as argparse writes it."""
    add = command.add_argument
    add("files", nargs=files, metavar="FILES", help=FILES)
    add("--threads", type=int, metavar="N", help="number of threads (default: all cores)")
    add_reading_arguments(command)


def add_job_arguments(command: argparse.ArgumentParser, out: str = OUT, files: str = "+") -> None:
    """For commands that read a corpus and write a tokenizer: train, prune, refine, extend."""
    command.set_defaults(interrupted="interrupted, nothing was written")
    command.add_argument("--out", type=Path, required=True, metavar="PATH", help=out)
    add_corpus_arguments(command, files)
    shown = command.add_mutually_exclusive_group()
    shown.add_argument("--quiet", action="store_true", help="show nothing but errors")
    shown.add_argument("--json", action="store_true", help="show progress as one JSON event a line")


# --- From a corpus to a tokenizer --------------------------------------------------------------


class Job:
    """A command from its arguments to its last line: options for the library, and the result.

    job = Job(args)
    tokenizer = train(job.files, recipe, **job.options)
    job.save(tokenizer, "learnt", summary_of(tokenizer))
    """

    def __init__(self, args: argparse.Namespace) -> None:
        usable_threads(args.threads)  # a bad number fails now
        self._args, self._began = args, time.monotonic()
        self._events = Events(sys.stderr) if args.json else None
        self.speaks = not (args.quiet or args.json)  # to people
        self.files = paths(args.files)
        self.reading = reading_of(args)
        self.options: dict[str, Any] = {
            "threads": args.threads,
            "progress": self._events or not args.quiet,
            **self.reading,
        }

    @functools.cached_property
    def corpus(self) -> Corpus:
        """The files of the corpus; nothing is read from it."""
        with open_corpus(self.files, **self.reading) as corpus:
            return corpus

    def reads(self, *others: Path | None) -> Iterator[str | Path | None]:
        """All that the command reads, a target too. The other files come first: naming those of
        the corpus finds what is wrong with it."""
        yield from others
        yield from self.corpus.files
        yield from corpus_files(getattr(self._args, "target", None) or ())

    def save(self, tokenizer: Tokenizer, done: str, summary: Iterable[str]) -> None:
        """Write the tokenizer to --out, and finish."""
        tokenizer.save(self._args.out)
        self._args.interrupted = f"interrupted, after {output_name(self._args.out)} was written"
        size = tokenizer.vocab_size
        facts = {"vocab_size": size}
        self.finish(facts, f"{size:,} tokens, {done}", tokenizer.report, summary)

    def finish(
        self, facts: dict[str, Any], done: str, report: dict[str, Any], summary: Iterable[str]
    ) -> None:
        """Print the result: for programs with --json, for people without it."""
        out, seconds = self._args.out, round(time.monotonic() - self._began, 2)
        if self._events:
            result = {"out": str(out), **facts, "seconds": seconds, "report": report}
            counts = {reason: len(names) for reason, names in self.corpus.left_out.items()}
            self._events.emit("done", **result, left_out=counts)
            return
        # Files always; records with --quiet alone, since the summary names them.
        skipped = report.get("afterwards", [report])[-1].get("skipped")
        if line := describe(self.corpus.left_out, skipped if self._args.quiet else None):
            print(line, file=sys.stderr)
        if not self._args.quiet:
            print(
                f"{output_name(out)}: {done} in {seconds:,.1f} s",
                *summary,
                sep="\n",
                file=sys.stderr,
            )


def check_writable(
    out: Path, read: Iterable[str | Path | None] = (), option: str = "--out"
) -> None:
    """Refuse, before the work, what cannot be written, and what the command itself reads."""
    if out.is_dir():
        raise ValueError(f"{option} {out}: a folder; name the file to write in it")
    refuse_unwritable(out, f"{option} {out}")
    refuse_overwriting(out, files_in(read), f"{option} {out}")


def files_in(read: Iterable[str | Path | None]) -> Iterator[str | Path]:
    """The paths that a command reads; of a folder, the tokenizers that it may hold."""
    for path in read:
        if path is not None and Path(path).is_dir():
            for name in (SUPRATOK_FILE, "tokenizer.json", "tokenizer.model"):
                yield from (Path(path, name), Path(path, f"{name}.zst"))
        elif path is not None:
            yield path


def corpus_files(names: Iterable[str | Path]) -> Iterator[str]:
    """All files of a corpus, its folders and globs expanded."""
    for name in names:
        with open_corpus(Path(name)) as corpus:
            yield from corpus.files


def output_name(out: Path) -> str:
    return "standard output" if str(out) == STANDARD_OUTPUT else str(out)


# --- Input and output --------------------------------------------------------------------------


def paths(names: Iterable[str]) -> list[Path]:
    """As `Path`, so that the library refuses a misspelt file and never reads it as a text."""
    return [Path(name) for name in names]


@contextlib.contextmanager
def open_input(name: str) -> Iterator[BinaryIO]:
    """A file, or standard input for "-"."""
    if name == "-":
        yield sys.stdin.buffer
    else:
        with open(name, "rb") as file:
            yield file


def display_name(name: str) -> str:
    return "standard input" if name == "-" else name


def print_line(line: str) -> None:
    write_output(line.encode() + b"\n")


def write_output(data: bytes) -> None:
    """All of it: under PYTHONUNBUFFERED a single write to a pipe may take only the beginning."""
    rest = memoryview(data)
    while rest:
        rest = rest[sys.stdout.buffer.write(rest) :]


def print_left_out(name: str, corpus: Corpus) -> None:
    """One line, if a reading left anything out."""
    if line := corpus.describe_left_out():
        print(f"{display_name(name)}: {line}", file=sys.stderr)
