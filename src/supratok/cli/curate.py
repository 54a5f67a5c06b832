"""`supratok curate`: documents by the entropy of their character bigrams, and a share of them kept.

supratok curate corpus.jsonl.zst                                    # look
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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import zstandard

from ..common.files import whole_file
from ..common.progress import Progress, make_progress
from ..corpus import Corpus, CorpusError, open_corpus
from ..corpus.curate import Curator, find_thresholds, with_entropies
from ..corpus.readers import json_line, kind
from ..corpus.split import digest
from ..recipe import Curation, Recipe
from ..tokenizer import usable_threads
from .common import (
    FILES,
    called,
    check_writable,
    put,
    reading_options,
    tell_skipped,
)
from .curate_show import check_picture, draw, show

QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)

_PACKERS: dict[str, Callable[[BinaryIO], contextlib.AbstractContextManager[Any]]] = {
    "": contextlib.nullcontext,
    # Without the time: the same documents give the same file.
    ".gz": lambda file: gzip.GzipFile("", "wb", fileobj=file, mtime=0),
    ".zst": lambda file: zstandard.ZstdCompressor().stream_writer(file, closefd=False),
}


def add_options(command: argparse.ArgumentParser) -> None:
    command.set_defaults(interrupted="interrupted, nothing was written")
    add = command.add_argument
    add("files", nargs="+", metavar="FILES", help=FILES)
    add("--out", type=Path, metavar="PATH", help="write what is kept: .jsonl, also .gz .zst")
    add("--low", type=float, metavar="BITS", help="less is low entropy (3.0)")
    add("--high", type=float, metavar="BITS", help="more is high entropy (4.5)")
    shares = ("LOW", "MEDIUM", "HIGH")
    add("--keep", type=float, nargs=3, metavar=shares, help="shares to keep (0.1 0.5 0.9)")
    add("--by-quantile", action="store_true", help="--low and --high are shares of the documents")
    add("--recipe", type=Path, metavar="FILE", help="take the [curation] of this TOML file")
    add("--picture", type=Path, metavar="PATH", help="draw the histogram: .png or .svg")
    add("--threads", type=int, metavar="N", help="as many as there are cores, unless said")
    reading_options(command)
    add("--whole-files", action="store_true", help="a text file is one document, not its lines")
    add("--json", action="store_true")


def run(args: argparse.Namespace) -> None:
    curation, threads = _curation(args), usable_threads(args.threads)
    if args.out:
        _packing(args.out)
        check_writable(args.out)
    if args.picture:
        check_picture(args.picture)
    reading = {name: getattr(args, name) for name in ("text_key", "whole_files", "skip_bad")}
    paths = [Path(name) for name in args.files]
    with open_corpus(paths, **reading) as corpus, make_progress(True) as progress:
        curator = Curator(find_thresholds(corpus, curation, threads, progress))
        quantiles = _curate(corpus, curator, args, threads, progress)
        skipped = dict(sorted(corpus.skipped.items()))
        tell_skipped(_name(args.files), corpus)
    if args.out:
        args.interrupted = f"interrupted, after {args.out} was written"
    facts = {"files": args.files, "quantiles": quantiles, **curator.report(), "skipped": skipped}
    if args.picture:
        draw(facts, _name(args.files), args.picture)
    if args.json:
        put(json.dumps(facts))
    else:
        show(facts)


def _name(files: list[str]) -> str:
    """For people: the file, or how many there are."""
    return Path(called(files[0])).name if len(files) == 1 else f"{len(files)} files"


def _curation(args: argparse.Namespace) -> Curation:
    """The options go before the recipe, and the recipe before the paper."""
    curation = Curation()
    if args.recipe:
        # The size of a vocabulary does not matter here, but the rest of the file must be right.
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
            raise CorpusError("the corpus is empty: no documents were found; check what was passed")
    progress.end(documents=len(found), kept=kept)
    values = np.quantile(np.frombuffer(found), QUANTILES, method="inverted_cdf")
    return dict(zip(map(str, QUANTILES), values.tolist(), strict=True))


@contextlib.contextmanager
def _writer(out: Path | None) -> Iterator[Callable[[bytes], object]]:
    """Takes lines for a file that appears whole or not at all; without one, forgets them."""
    if out is None:
        yield lambda _: None
        return
    with whole_file(out) as file, _PACKERS[_packing(out)](file) as packed:
        yield packed.write


def _packing(out: Path) -> str:
    form, packing = kind(out) or ("", "")
    if form != "json" or packing not in _PACKERS:
        raise ValueError(f"--out {out}: name it .jsonl, .jsonl.gz or .jsonl.zst, which it will be")
    return packing
