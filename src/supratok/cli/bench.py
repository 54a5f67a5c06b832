"""`supratok bench`: compare tokenizers on your own corpus.

supratok bench corpus/*.jsonl.zst --sizes 32000 64000 --out bench
supratok bench corpus/*.jsonl.zst --tokenizers default SuperBPE my.json --sizes 64000 --out bench

The folder keeps every finished row, so an interrupted run resumes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..common.files import refuse_overwriting_in, write_whole
from ..lab.baselines import BASELINES
from ..lab.bench import Bench, Entry, entries
from ..lab.bench.table import bench_pictures, bench_table
from ..lab.report.page import find, page
from ..lab.report.tables import FILES as FILES_OF_TABLES
from ..recipe import PRESETS
from .common import FILES, files_read

DEFAULT = ("BPE-Bytes-GPT4o", "SuperBPE", "default", "dense")


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(interrupted="interrupted; finished rows are kept, run it again to resume")
    add = command.add_argument
    add("files", nargs="+", metavar="FILES", help=FILES)
    add(
        "--sizes",
        nargs="+",
        type=int,
        default=[32_000],
        metavar="N",
        help="vocabulary sizes (32000)",
    )
    add(
        "--tokenizers",
        nargs="+",
        default=list(DEFAULT),
        metavar="T",
        help=f"presets ({', '.join(PRESETS)}), baselines ({', '.join(BASELINES)}) or files; the"
        f" others are compared with the first (default: {' '.join(DEFAULT)})",
    )
    add(
        "--test",
        nargs="+",
        type=Path,
        metavar="FILES",
        help="documents to measure on (default: held-out ones)",
    )
    add(
        "--first",
        action="append",
        default=[],
        metavar="T=N",
        help="train the baseline T on the first N documents only; may be repeated",
    )
    add(
        "--out",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="folder for rows, tables and the report",
    )
    add("--threads", type=int, metavar="N", help="threads to use (default: all cores)")
    add("--again", action="store_true", help="compute finished rows again")
    add("--estimate", action="store_true", help="print the time and memory needed, and stop")


def run(args: argparse.Namespace) -> None:
    wanted = entries(args.tokenizers, args.sizes)
    written = (*FILES_OF_TABLES, "rows.jsonl", "report.html")
    read = files_read([*args.files, *(args.test or [])], files=args.tokenizers)
    refuse_overwriting_in(args.out, written, read)
    bench = Bench(
        [Path(name) for name in args.files],
        args.out,
        tests=_tests(args.test),
        first=_first(args.first),
        threads=args.threads,
        again=args.again,
    )
    _print_estimate(bench, wanted)
    if args.estimate:
        return
    rows = [bench.row(entry) for entry in wanted]
    test = next(iter(bench.tests))
    pictures = bench_pictures(rows, test)
    for name, picture in pictures.items():
        write_whole(args.out / name, picture)
    table = bench_table(bench, rows, bench.speeds(rows), test, list(pictures))
    table.write(args.out)
    print(table.markdown(), end="")
    report = args.out / "report.html"
    write_whole(report, page(find([args.out]), None))
    print(f"{report}: open it in a browser, or send it", file=sys.stderr)


def _tests(paths: list[Path] | None) -> dict[str, list[str]] | None:
    from ..corpus import open_corpus

    if paths is None:
        return None
    with open_corpus(paths) as corpus:
        return {", ".join(path.name for path in paths): list(corpus)}


def _first(given: list[str]) -> dict[str, int]:
    found = {}
    for one in given:
        name, _, count = one.rpartition("=")
        if name not in BASELINES or not count.isdigit() or int(count) < 1:
            raise ValueError(f"--first {one}: give a baseline and a number, such as SuperBPE=10000")
        found[name] = int(count)
    return found


def _print_estimate(bench: Bench, wanted: list[Entry]) -> None:
    """Print the rows to compute, with time and memory."""
    missing = [entry for entry in wanted if not bench.is_done(entry)]
    done = len(wanted) - len(missing)
    total = 0.0
    for entry in missing:
        seconds, memory = bench.estimate(entry)
        total += seconds
        print(f"{entry.label}: about {_time(seconds)}, {memory / 1e9:.1f} GB", file=sys.stderr)
    text = f"{len(missing)} rows to compute, {done} finished"
    print(f"{text}; about {_time(total)}, within a factor of two", file=sys.stderr)


def _time(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} min"
