"""`supratok bench`: compare tokenizers on your own corpus.

supratok bench corpus/*.jsonl.zst --sizes 32000 64000 --out bench
supratok bench corpus/*.jsonl.zst --tokenizers default SuperBPE my.json --sizes 64000 --out bench

The folder keeps every finished row, so an interrupted run resumes.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path

from ..common.files import refuse_overwriting_in, write_whole
from ..formats.peer import open_any
from ..lab.baselines import BASELINES
from ..lab.bench import Bench, Entry, entries
from ..lab.bench.table import HEAD, bench_pictures, bench_table
from ..lab.report.page import find, page
from ..lab.report.tables import FILES as FILES_OF_TABLES
from ..lab.report.tables import Table
from ..recipe import PRESETS
from .common import FILES, corpus_files, files_in
from .draw import new_console, new_table, print_table
from .estimate import FACTOR, count, note, rough_size, rough_time, warn_of_memory

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
        help="vocabulary sizes to train (default: 32000)",
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
        help="files of documents to measure on (default: documents held out of training)",
    )
    add(
        "--first",
        action="append",
        default=[],
        metavar="T=N",
        help="train the baseline T on the first N documents only; may be repeated (default: on all"
        " documents)",
    )
    add(
        "--out",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="the folder for rows, tables and the report",
    )
    add("--threads", type=int, metavar="N", help="number of threads (default: all cores)")
    add("--again", action="store_true", help="compute finished rows again")
    add("--estimate", action="store_true", help="print the time and memory needed, and stop")


def run(args: argparse.Namespace) -> None:
    wanted = entries(args.tokenizers, args.sizes)
    for entry in wanted:
        if entry.size is None:
            open_any(entry.name)  # a file that cannot be read fails now
    written = (*FILES_OF_TABLES, "rows.jsonl", "report.html")
    texts = corpus_files([*args.files, *(args.test or [])])
    read = itertools.chain(files_in(args.tokenizers), texts)
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
    if sys.stdout.isatty():
        _show(table, args.out)
    else:
        print(table.markdown(), end="")
    report = args.out / "report.html"
    write_whole(report, page(find([args.out]), None))
    print(f"{report}: open it in a browser, or send it", file=sys.stderr)


def _show(table: Table, folder: Path) -> None:
    """The main columns, for a terminal of 80 columns; the folder has all of them."""
    shown = new_table("tokenizer", "chars/token", "vs first", "lossless", "train s", "MB/s")
    places = [HEAD.index(name) for name in ("C/T", "to the first", "lossless", "training s")]
    for line in table.lines:
        cells = [line[place].split(":")[0] for place in [*places, HEAD.index("encoding MB/s")]]
        shown.add_row(f"{line[1]} {line[0]}", *cells)
    console = new_console()
    console.print(table.title, style="bold")
    print_table(console, shown)
    console.print(
        "chars/token: characters per token, more is denser; vs first: compared with the first"
        " tokenizer of the same size; train s: seconds of training; MB/s: encoding, one thread"
    )
    console.print(f"All columns, with intervals: {folder / 'table.md'}", soft_wrap=True)


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
    total, most = 0.0, 0
    for entry in missing:
        seconds, memory = bench.estimate(entry)
        total += seconds
        most = max(most, memory)
        note(f"{entry.label}: about {rough_time(seconds)}, {rough_size(memory)} of memory")
    text = f"{count(len(missing), 'row')} to compute, {done} finished"
    note(f"{text}; about {rough_time(total)}, {FACTOR}")
    warn_of_memory(most)
