"""`supratok tokenize`: write a corpus as files of ids that trainers read.

supratok tokenize my.json corpus/*.jsonl.zst --out shards                  # also in several runs
supratok tokenize my.json corpus/*.jsonl.zst --out shards --output-format megatron --eos '</s>'
supratok tokenize my.json corpus/*.jsonl.zst --dry-run                     # tokens, time, disk
supratok tokenize --check shards
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..common.progress import Events
from ..corpus.kinds import kind
from ..corpus.readers import read_head
from ..readings.open import ENGINES
from ..shards.check import check
from ..shards.estimate import estimate
from ..shards.folder import MANIFEST
from ..shards.formats import FORMATS
from ..shards.make import SHARD_TOKENS, Run, tokenize
from ..tokenizer import Tokenizer, usable_threads
from ..tokenizer.file import FILE, FORMAT
from .common import FILES, TOKENIZER, Job, add_reading_arguments, print_line, reading_of
from .estimate import FACTOR, count, rough_size, rough_time

NOTES = (
    "The same command continues a run that was interrupted, and ends with the same bytes. The"
    " tokenizer may also follow the files, or be named with --tokenizer. The format parquet needs"
    " the extra parquet."
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(
        interrupted="interrupted; the finished shards stay, and the same command goes on"
    )
    add = command.add_argument
    add("files", nargs="*", metavar="TOKENIZER FILES", help=f"{TOKENIZER}; then {FILES}")
    add("--tokenizer", metavar="PATH", help="the tokenizer (default: the first argument)")
    what = command.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--out", type=Path, metavar="FOLDER", help="write the shards to this folder (default: none)"
    )
    what.add_argument(
        "--dry-run",
        action="store_true",
        help="write nothing: estimate tokens, time and disk from samples",
    )
    what.add_argument(
        "--check",
        type=Path,
        metavar="FOLDER",
        help="compare the files of a folder with the sizes and checksums of its manifest"
        " (default: do not)",
    )
    add(
        "--output-format",
        choices=list(FORMATS),
        default="numpy",
        help="numpy: flat files of uint16 or uint32, as nanoGPT and OLMo read them; megatron:"
        " Megatron-LM's indexed dataset; parquet: a row a document (default: numpy)",
    )
    end = command.add_mutually_exclusive_group()
    end.add_argument(
        "--eos",
        metavar="T",
        help="the special token after each document (default: the tokenizer's, under a usual name"
        " such as </s>)",
    )
    end.add_argument("--no-eos", action="store_true", help="put nothing between documents")
    add(
        "--shard-tokens",
        type=int,
        default=SHARD_TOKENS,
        metavar="N",
        help="a shard has whole documents and at most N tokens; a longer document is a shard of its"
        f" own (default: {SHARD_TOKENS:,})",
    )
    add(
        "--by-file",
        action="store_true",
        help="begin new shards with each file, under its name (default: shard-00000 and so on)",
    )
    add(
        "--engine",
        choices=ENGINES,
        default="local",
        help="where to encode: on this machine or, with --by-file, on a Ray cluster whose machines"
        " all see the files and the folder (default: local)",
    )
    add("--address", metavar="A", help="the address of the cluster (default: one on this machine)")
    add(
        "--restart",
        action="store_true",
        help="remove the shards that the folder holds, and begin again",
    )
    add("--threads", type=int, metavar="N", help="number of threads (default: all cores)")
    shown = command.add_mutually_exclusive_group()
    shown.add_argument("--quiet", action="store_true", help="show nothing but errors")
    shown.add_argument("--json", action="store_true", help="show progress as one JSON event a line")
    add_reading_arguments(command)


def run(args: argparse.Namespace) -> None:
    if args.check:
        _check(args)
        return
    tokenizer = Tokenizer.load(_tokenizer_of(args))
    job = Job(args)
    options: dict[str, Any] = {
        "output_format": args.output_format,
        "eos": False if args.no_eos else args.eos or True,
        "shard_tokens": args.shard_tokens,
        "by_file": args.by_file,
    }
    if args.dry_run:
        _estimate(args, job, tokenizer, options)
        return
    done = (args.out / MANIFEST).exists() and not args.restart
    manifest = tokenize(
        job.files,
        tokenizer,
        args.out,
        **options,
        restart=args.restart,
        engine=args.engine,
        address=args.address,
        **job.options,
    )
    args.interrupted = f"interrupted, after {args.out} was written"
    facts = {name: manifest[name] for name in ("documents", "tokens", "bytes")}
    facts["shards"] = len(manifest["shards"])
    report = {"skipped": manifest["skipped"]}
    described = f"{'already done: ' if done else ''}{_described(manifest)}"
    job.finish(facts, described, report, _skipped(manifest))


def _tokenizer_of(args: argparse.Namespace) -> str:
    """The path of the tokenizer, taken from the arguments: it may stand before or after the
    files."""
    files: list[str] = args.files
    if not files:
        raise ValueError("no files; name the tokenizer and the files of the corpus")
    if args.tokenizer:
        return str(args.tokenizer)
    if len(files) < 2:
        raise ValueError(f"{files[0]}: name the tokenizer and the files of the corpus")
    place = 0 if _is_tokenizer(files[0]) or not _is_tokenizer(files[-1]) else -1
    return files.pop(place)


def _is_tokenizer(name: str) -> bool:
    """Whether a path leads to a supratok file, which begins with its format."""
    path = Path(name)
    if path.is_dir():
        return any((path / f"{FILE}{packing}").exists() for packing in ("", ".zst"))
    head = read_head(path, kind(path)[1]) if path.is_file() else b""
    return head.lstrip().startswith(b"{") and f'"format": "{FORMAT}"'.encode() in head[:200]


def _described(manifest: dict[str, Any]) -> str:
    return (
        f"{count(len(manifest['shards']), 'shard')}, {count(manifest['documents'], 'document')},"
        f" {manifest['tokens']:,} tokens, {rough_size(manifest['bytes'])}"
    )


def _skipped(manifest: dict[str, Any]) -> Iterator[str]:
    for reason, number in manifest["skipped"].items():
        yield f"skipped: {count(number, 'record')}, {reason}"


def _check(args: argparse.Namespace) -> None:
    manifest = check(args.check, Events() if args.json else not args.quiet)
    if args.json:
        facts = {name: manifest[name] for name in ("documents", "tokens", "bytes")}
        print_line(json.dumps({"folder": str(args.check), **facts, "good": True}))
    elif not args.quiet:
        print_line(f"{args.check}: {_described(manifest)}; all sizes and checksums agree")


def _estimate(
    args: argparse.Namespace, job: Job, tokenizer: Tokenizer, options: dict[str, Any]
) -> None:
    threads = usable_threads(args.threads)
    found = estimate(
        Run(tokenizer, files=job.corpus.files, reading=reading_of(args), **options), threads
    )
    if args.json:
        print_line(json.dumps({name: round(value) for name, value in found._asdict().items()}))
        return
    print_line(
        f"about {found.documents:,.0f} documents, {found.tokens:,.0f} tokens,"
        f" {rough_size(found.bytes)} of disk and {rough_time(found.seconds)} on"
        f" {count(threads, 'core')}, {FACTOR}"
    )
