"""`supratok curate`: sort documents by the entropy of their character bigrams, and keep a share.

supratok curate corpus.jsonl.zst                                    # show the histogram
supratok curate corpus.jsonl.zst --out kept.jsonl.zst               # the paper's thresholds
supratok curate corpus.jsonl.zst --by-quantile --low 0.05 --high 0.25 --keep 0 0.5 1
"""

from __future__ import annotations

import argparse
import array
import contextlib
import dataclasses
import gzip
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import zstandard

from ..common.files import STANDARD_OUTPUT, whole_file
from ..common.progress import Progress, make_progress
from ..corpus import Corpus, open_corpus
from ..corpus.curate import Curator, find_thresholds, with_entropies
from ..corpus.kinds import kind
from ..corpus.records import json_line
from ..corpus.split import digest
from ..recipe import Curation, Recipe
from ..tokenizer import usable_threads
from .common import (
    add_corpus_arguments,
    check_writable,
    display_name,
    output_name,
    paths,
    print_left_out,
    print_line,
    reading_of,
)
from .curate_show import check_picture, draw, show

QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)

_PACKERS: dict[str, Callable[[BinaryIO], contextlib.AbstractContextManager[Any]]] = {
    "": contextlib.nullcontext,
    # mtime=0: the same documents give the same file.
    ".gz": lambda file: gzip.GzipFile("", "wb", fileobj=file, mtime=0),
    ".zst": lambda file: zstandard.ZstdCompressor().stream_writer(file, closefd=False),
}


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(interrupted="interrupted, nothing was written")
    add = command.add_argument
    add(
        "--out",
        type=Path,
        metavar="PATH",
        help="write the kept documents to a .jsonl, .jsonl.gz or .jsonl.zst, or as .jsonl to - for"
        " standard output (default: do not)",
    )
    add("--low", type=float, metavar="BITS", help="low entropy is below this (default: 3.0)")
    add("--high", type=float, metavar="BITS", help="high entropy is above this (default: 4.5)")
    add(
        "--keep",
        type=float,
        nargs=3,
        metavar=("LOW", "MEDIUM", "HIGH"),
        help="the share of each bin to keep (default: 0.1 0.5 0.9)",
    )
    add(
        "--by-quantile",
        action="store_true",
        help="--low and --high are shares of the documents (default: bits)",
    )
    add(
        "--recipe",
        type=Path,
        metavar="FILE",
        help="read [curation] from this TOML file; other options override it (default: none)",
    )
    add(
        "--picture",
        type=Path,
        metavar="PATH",
        help="draw the histogram to a .png or .svg (default: do not)",
    )
    add("--json", action="store_true", help="print JSON (default: a table and a histogram)")
    add_corpus_arguments(command)


def run(args: argparse.Namespace) -> None:
    curation, threads = _curation(args), usable_threads(args.threads)
    opened = open_corpus(paths(args.files), **reading_of(args))
    with opened as corpus, make_progress(True) as progress:
        if args.out:
            _packing(args.out)
            check_writable(args.out, [*corpus.files, args.recipe])
        if args.picture:
            check_picture(args.picture, corpus.files)
        curator = Curator(find_thresholds(corpus, curation, threads, progress))
        quantiles = _curate(corpus, curator, args, threads, progress)
        skipped = dict(sorted(corpus.skipped.items()))
        print_left_out(_name(args.files), corpus)
    if args.out:
        args.interrupted = f"interrupted, after {output_name(args.out)} was written"
    facts = {"files": args.files, "quantiles": quantiles, **curator.report(), "skipped": skipped}
    if args.picture:
        draw(facts, _name(args.files), args.picture)
    to_stderr = bool(args.out) and str(args.out) == STANDARD_OUTPUT  # which has the documents
    if not args.json:
        show(facts, to_stderr)
    elif to_stderr:
        print(json.dumps(facts), file=sys.stderr)
    else:
        print_line(json.dumps(facts))


def _name(files: list[str]) -> str:
    """For people: the name of the file, or the number of files."""
    return Path(display_name(files[0])).name if len(files) == 1 else f"{len(files)} files"


def _curation(args: argparse.Namespace) -> Curation:
    """The options override the recipe, which overrides the paper's values."""
    curation = Curation()
    if args.recipe:
        # A recipe needs a size, which curation does not use; the rest of the file must be right.
        found = Recipe.from_toml(args.recipe, vocab_size=1000).curation
        if found is None:
            raise ValueError(f"{args.recipe}: no table [curation]; add one, or pass --low, --high")
        curation = found
    chosen = {name: getattr(args, name) for name in ("low", "high", "keep")}
    changes = {name: value for name, value in chosen.items() if value is not None}
    return dataclasses.replace(
        curation, by_quantile=args.by_quantile or curation.by_quantile, **changes
    )


def _curate(
    corpus: Corpus, curator: Curator, args: argparse.Namespace, threads: int, progress: Progress
) -> dict[str, float]:
    """Decide on every document, write those to keep, and return the quantiles of entropy."""
    found, kept = array.array("d"), 0
    with _writer(args.out) as write:
        for batch in with_entropies(corpus, threads, "curating", progress):
            found.frombytes(batch.bits.tobytes())
            for text, line, bits in zip(batch.texts, batch.lines, batch.bits.tolist(), strict=True):
                keeps = curator.decide(bits, digest(text))
                curator.record(bits, len(text), keeps)
                if keeps:
                    kept += 1
                    write((line or json_line({args.text_key: text})) + b"\n")
        if not found:
            corpus.refuse_empty()
    progress.end(documents=len(found), kept=kept)
    values = np.quantile(np.frombuffer(found), QUANTILES, method="inverted_cdf")
    return dict(zip(map(str, QUANTILES), values.tolist(), strict=True))


@contextlib.contextmanager
def _writer(out: Path | None) -> Iterator[Callable[[bytes], object]]:
    """A function that writes to `out`, which appears whole or not at all; None discards all."""
    if out is None:
        yield lambda _: None
        return
    with whole_file(out) as file, _PACKERS[_packing(out)](file) as packed:
        yield packed.write


def _packing(out: Path) -> str:
    if str(out) == STANDARD_OUTPUT:
        return ""
    form, packing = kind(out)
    if form not in ("json", "jsonl") or packing not in _PACKERS:
        raise ValueError(
            f"--out {out}: name it .jsonl, .jsonl.gz or .jsonl.zst, or - for standard output"
        )
    return packing
