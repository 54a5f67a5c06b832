"""The command `supratok`: train | encode | decode | count | inspect | compare | curate | mine |
prune | refine | export | verify | graft | import | extend | bench | tune | report.

What programs read goes to standard output, as UTF-8 whatever the terminal; what people watch while
they wait goes to standard error. Exit codes: 0 well, 1 an error in one line, 2 a misspelt command,
130 Ctrl-C, 141 nobody reads the output any more.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from .. import Tokenizer, __version__
from ..corpus import Corpus, open_corpus
from ..formats.measure import Measure, measure, total
from ..formats.peer import open_any
from . import (
    bench,
    curate,
    export,
    extend,
    graft,
    importing,
    mine,
    prune,
    refine,
    report,
    train,
    tune,
    verify,
)
from .common import (
    FILES,
    called,
    put,
    reading_options,
    tell_skipped,
    write,
)
from .inspect import learnt, show_learnt
from .show import coloured, new_console, new_table, ratio

_SAMPLE = 300  # characters of a line that `compare` shows


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    args = _parse(argv)
    try:
        args.run(args)
        sys.stdout.flush()
        return 0
    except KeyboardInterrupt:
        return _stop(args.interrupted, 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return 141
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        return _stop(f"supratok: error: {what}", 1)
    except (ValueError, ImportError) as error:
        return _stop(f"supratok: error: {' '.join(str(error).split())}", 1)


def _stop(line: str, code: int) -> int:
    print(line, file=sys.stderr)
    return code


# --- The command line ------------------------------------------------------------------------


def _parse(argv: list[str] | None) -> argparse.Namespace:
    """Files may also stand after options, which argparse alone refuses: encode T --lines F."""
    parser = _parser()
    args, rest = parser.parse_known_args(argv)
    if rest and ("files" not in args or any(word.startswith("-") and word != "-" for word in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        args.files += rest
    return args


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="supratok", description="Tokenizers whose tokens cross word boundaries."
    )
    parser.add_argument("--version", action="version", version=f"supratok {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for run, add_options, what in (
        (train.run, train.add_options, "learn a tokenizer from text"),
        (_encode, _encode_options, "text to ids"),
        (_decode, _decode_options, "ids back to text, byte for byte"),
        (_count, _count_options, "tokens and characters per token of files"),
        (_inspect, _inspect_options, "what a tokenizer has learnt"),
        (_compare, _compare_options, "tokenizers side by side on a file"),
        (curate.run, curate.add_options, "documents by their entropy, and a share of them kept"),
        (mine.run, mine.add_options, "the phrases of a corpus that hold together"),
        (prune.run, prune.add_options, "drop the least useful tokens of a tokenizer"),
        (refine.run, refine.add_options, "swap tokens for others that save more"),
        (export.run, export.add_options, "a folder for transformers, SentencePiece, llama.cpp"),
        (verify.run, verify.add_options, "the same ids in every runtime that is installed"),
        (graft.run, graft.add_options, "a GGUF model with our tokenizer in place of its own"),
        (importing._import, importing.add_options, "a tokenizer from elsewhere, with its ids"),
        (extend.run, extend.add_options, "phrases as new tokens of a Hugging Face tokenizer"),
        (bench.run, bench.add_options, "tokenizers against each other on your corpus"),
        (tune.run, tune.add_options, "look for the recipe with the best score on your corpus"),
        (report.run, report.add_options, "the tables and pictures of runs as one page"),
    ):
        name = _name(run)
        command = commands.add_parser(name, help=what, description=f"{name}: {what}.")
        command.set_defaults(run=run, interrupted="interrupted")
        add_options(command)
    return parser


def _name(run: Callable[[argparse.Namespace], None]) -> str:
    """`_count` here is "count", and `run` in commands/curate.py is "curate"."""
    return (run.__module__.split(".")[-1] if run.__name__ == "run" else run.__name__).lstrip("_")


_ANY = "a supratok file, a tokenizer.json, a SentencePiece .model or a .tiktoken (also .zst)"


def _encode_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("tokenizer", metavar="TOKENIZER")
    command.add_argument("files", nargs="*", metavar="FILES", help="text as it is; else stdin")
    command.add_argument("--lines", action="store_true", help="each line is a text, not each file")
    command.add_argument("--tokens", action="store_true", help="token strings instead of ids")
    command.add_argument(
        "--allow-special", action="store_true", help="special tokens in the text become their ids"
    )
    command.add_argument("--json", action="store_true", help="a JSON array for each text")


def _decode_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("tokenizer", metavar="TOKENIZER")
    command.add_argument("files", nargs="*", metavar="FILES", help="ids as encode wrote them")
    command.add_argument("--lines", action="store_true", help="a newline after each text")


def _count_options(command: argparse.ArgumentParser) -> None:
    command.description = "Tokens of files. A text file is one text, its newlines included."
    command.add_argument("tokenizer", metavar="TOKENIZER", help=_ANY)
    command.add_argument("files", nargs="+", metavar="FILES", help=FILES)
    reading_options(command)
    command.add_argument("--json", action="store_true")


def _inspect_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("tokenizer", metavar="TOKENIZER")
    command.add_argument("--top", type=int, default=10, metavar="N", help="tokens in each list")
    command.add_argument(
        "--corpus", nargs="+", metavar="FILES", help="count the use of tokens here"
    )
    reading_options(command)
    shown = command.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true")
    shown.add_argument("--toml", action="store_true", help="its recipe, as train --recipe reads it")


def _compare_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", metavar="FILE", help="one text, if it is a text file")
    command.add_argument("tokenizers", nargs="+", metavar="TOKENIZER", help=_ANY)
    command.add_argument(
        "--sample", type=int, default=1, metavar="N", help="lines to show split (default 1)"
    )
    reading_options(command)
    command.add_argument("--json", action="store_true")


# --- encode, decode --------------------------------------------------------------------------


def _encode(args: argparse.Namespace) -> None:
    tokenizer = Tokenizer.load(args.tokenizer)
    for text in _texts(args.files or ["-"], args.lines):
        ids = tokenizer.encode(text, allow_special=args.allow_special)
        shown: list[Any] = [tokenizer.token_text(id) for id in ids] if args.tokens else ids
        if args.json:
            put(json.dumps(shown, ensure_ascii=False))
        elif args.tokens:
            put(" ".join(json.dumps(token, ensure_ascii=False) for token in shown))
        else:
            put(" ".join(map(str, ids)))


def _decode(args: argparse.Namespace) -> None:
    tokenizer = Tokenizer.load(args.tokenizer)
    for name in args.files or ["-"]:
        with _opened(name) as file:
            for number, line in enumerate(file, 1):
                try:
                    data = tokenizer.decode_bytes(_ids(line))
                except ValueError as error:
                    raise ValueError(f"{called(name)}, line {number}: {error}") from error
                write(data + b"\n" if args.lines else data)


def _texts(names: list[str], lines: bool) -> Iterator[str]:
    """Each file, or each line without its newline."""
    for name in names:
        with _opened(name) as file:
            offset = 0
            for part in file if lines else [file.read()]:
                try:
                    yield (part.removesuffix(b"\n") if lines else part).decode()
                except UnicodeDecodeError as error:
                    raise ValueError(
                        f"{called(name)}: invalid UTF-8 at byte offset {offset + error.start};"
                        " convert it to UTF-8"
                    ) from error
                offset += len(part)


def _ids(line: bytes) -> list[int]:
    """The ids of a line, "12 7" or "[12, 7]"."""
    words = line.strip().removeprefix(b"[").removesuffix(b"]").replace(b",", b" ").split()
    for word in words:
        if not word.isdigit():
            raise ValueError(f"{word.decode(errors='replace')!r} is no id; pass what encode wrote")
    return [int(word) for word in words]


@contextlib.contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        yield sys.stdin.buffer
    else:
        with open(name, "rb") as file:
            yield file


# --- count, compare --------------------------------------------------------------------------


def _count(args: argparse.Namespace) -> None:
    peer = open_any(args.tokenizer)
    rows = []
    for name in args.files:
        with _open_whole(name, args) as corpus:
            rows.append(measure(peer, corpus, check=False))
            rows[-1].name = called(name)
            tell_skipped(name, corpus)
    whole = total(rows)
    if args.json:
        files = [_facts(row) for row in rows]
        put(json.dumps({"tokenizer": peer.name, "files": files, "total": _facts(whole)}))
        return
    table = new_table("file", "tokens", "characters", "characters/token", "bytes/token")
    for row in [*rows, whole] if len(rows) > 1 else rows:
        ratios = (ratio(row.characters_per_token), ratio(row.bytes_per_token))
        table.add_row(row.name, f"{row.tokens:,}", f"{row.characters:,}", *ratios)
    new_console().print(table)


def _compare(args: argparse.Namespace) -> None:
    peers = [open_any(path) for path in args.tokenizers]
    with _open_whole(args.file, args) as corpus:
        rows = [measure(peer, corpus) for peer in peers]
        tell_skipped(args.file, corpus)
        sample = _sample(corpus, args.sample)
    splits = [(line, {peer.name: peer.token_strings(line) for peer in peers}) for line in sample]
    if args.json:
        facts = [_facts(row) | {"relative": _relative(row, rows[0])} for row in rows]
        shown = [{"text": line, "tokens": split} for line, split in splits]
        put(json.dumps({"file": args.file, "tokenizers": facts, "sample": shown}))
        return
    console = new_console()
    console.print(_comparison(rows))
    for _, split in splits:
        for name, tokens in split.items():
            console.print(Text(f"\n{name}: {len(tokens)} tokens", style="bold"))
            console.print(coloured(tokens, console.is_terminal), soft_wrap=True)


def _open_whole(name: str, args: argparse.Namespace) -> Corpus:
    """Path: so that a misspelt file is an error, never a text."""
    return open_corpus(Path(name), text_key=args.text_key, whole_files=True, skip_bad=args.skip_bad)


def _facts(row: Measure) -> dict[str, Any]:
    facts = dataclasses.asdict(row) | {
        "characters_per_token": row.characters_per_token,
        "bytes_per_token": row.bytes_per_token,
        "megabytes_per_second": row.megabytes_per_second,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _relative(row: Measure, first: Measure) -> float | None:
    return row.tokens / first.tokens if first.tokens else None


def _comparison(rows: list[Measure]) -> Table:
    table = new_table(
        "tokenizer", "vocabulary", "tokens", "to the first", "characters/token", "bytes/token",
        "lossless", "MB/s",
    )  # fmt: skip
    for row in rows:
        table.add_row(
            row.name,
            f"{row.vocab_size:,}",
            f"{row.tokens:,}",
            ratio(_relative(row, rows[0])),
            ratio(row.characters_per_token),
            ratio(row.bytes_per_token),
            "yes" if row.lossless else "no",
            ratio(row.megabytes_per_second, digits=1),
        )
    return table


def _sample(corpus: Corpus, count: int) -> list[str]:
    """The first lines that hold something, each cut to what fits a screen."""
    lines = (line for text in corpus for line in text.splitlines() if line.strip())
    return [line[:_SAMPLE] for line in itertools.islice(lines, count)]


# --- inspect ---------------------------------------------------------------------------------


def _inspect(args: argparse.Namespace) -> None:
    tokenizer = Tokenizer.load(args.tokenizer)
    if args.toml:
        write(tokenizer.recipe.to_toml().encode())
        return
    usage = _usage(tokenizer, args) if args.corpus else None
    facts = learnt(tokenizer, usage, max(args.top, 0))
    if args.json:
        put(json.dumps({"tokenizer": args.tokenizer, **facts}))
    else:
        show_learnt(facts, tokenizer)


def _usage(tokenizer: Tokenizer, args: argparse.Namespace) -> NDArray[np.int64]:
    """How often each id is used in the files of --corpus, a few documents at a time."""
    usage = np.zeros(tokenizer.vocab_size, dtype=np.int64)
    paths = [Path(name) for name in args.corpus]
    with open_corpus(paths, text_key=args.text_key, skip_bad=args.skip_bad) as corpus:
        documents = iter(corpus)
        while some := list(itertools.islice(documents, 256)):
            usage += tokenizer.usage(some)
        tell_skipped("--corpus", corpus)
    return usage
