"""The figures that supratok promises, each beside its bar: `make bench`, or

    python benches/bench.py --data FOLDER
    python benches/bench.py --corpus FILE --test FILE      # your own text

Both sides of a comparison run in turn, each time in a fresh process (`workers.py`). A figure is the
median, followed by the lowest and the highest.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import operator
import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from supratok.lab.measure.workers import call_worker

MISSING = """\
no data to measure on. Set SUPRATOK_DATA, or pass --data FOLDER, to a folder that holds
  train/en100k.jsonl.zst           JSON lines, each {"text": "a document"}, packed by zstd
  test/wikitext103/wiki.valid.raw  WikiText-103 raw, validation: plain UTF-8 text
or measure on your own text (the bars were set for the above):
  --corpus FILE   documents in any format that supratok reads, 100 MB or more
  --test FILE     plain UTF-8 text of 1 MB or more
"""
QUICK = 5  # repeats of measurements of about a second
WORKERS = Path(__file__).with_name("workers.py")
COMPARISONS = {">=": operator.ge, "<=": operator.le, "<": operator.lt}

RULES = ("merges", "fewest")
RECIPES: dict[str, dict[str, Any]] = {
    "merges": {"segmentation": "merges"},
    "fewest": {"segmentation": "fewest"},
    "SuperBPE-like": {"segmentation": "merges", "crossover": 0.78125},
    "plain BPE": {"segmentation": "merges", "crossover": 1.0},
}


@dataclass(frozen=True)
class Row:
    """One line of the table. `bar`, such as (">=", 5.5), is for the median of `values`."""

    what: str
    values: list[float]
    details: str
    bar: tuple[str, float] | None = None

    @property
    def verdict(self) -> str:
        if self.bar is None:
            return ""
        return "pass" if COMPARISONS[self.bar[0]](median(self.values), self.bar[1]) else "FAIL"

    def line(self) -> str:
        spread = f" ({min(self.values):.3f} to {max(self.values):.3f})" if self.values[1:] else ""
        figure = f"{median(self.values):.3f}{spread}; {self.details}"
        bar = f"{self.bar[0]} {self.bar[1]:.2f}" if self.bar else ""
        return LINE.format(self.what, figure, bar, self.verdict)


LINE = "| {:<42} | {:<62} | {:<8} | {:<7} |"


@dataclass(frozen=True)
class Setting:
    """The texts, and the folder for the tokenizers of this run."""

    corpus: str
    test: str
    vocab_size: int
    repeats: int
    folder: Path
    bytes: int  # of the corpus, as UTF-8

    def train(self, name: str, times: int = 1) -> Any:
        """Train over the corpus `times` times in a row; keep the tokenizer of one time."""
        recipe = {"vocab_size": self.vocab_size, **RECIPES[name]}
        out = self.file(name) if times == 1 else self.folder / "other.json"
        return work("train", corpus=self.corpus, recipe=recipe, out=str(out), times=times)

    def trained(self, name: str) -> str:
        """The tokenizer of this name, trained if no earlier row did so."""
        if not self.file(name).exists():
            self.train(name)
        return str(self.file(name))

    def with_twin(self, rule: str) -> tuple[str, str, int]:
        """The tokenizer, the same vocabulary for `tokenizers`, and the bytes of the test file."""
        path, twin = self.trained(rule), str(self.folder / f"{rule}.twin.json")
        size = work("make_twin", tokenizer=path, test=self.test, out=twin)["bytes"]
        return path, twin, size

    def file(self, name: str) -> Path:
        return self.folder / f"{name}.json"


def work(worker: str, *, one_thread: bool = False, **arguments: Any) -> Any:
    """A worker's answer, from a fresh process."""
    show_status(f"{worker} {' '.join(map(str, arguments.values()))}")
    answer = call_worker(WORKERS, worker, one_thread=one_thread, **arguments)
    show_status("")
    return answer


def show_status(message: str) -> None:
    """Show the current step on a terminal; the next message overwrites it."""
    if sys.stderr.isatty():
        print(f"\r\033[K{message[:100]}", end="", file=sys.stderr, flush=True)


# --- The rows


def training(setting: Setting) -> Iterator[Row]:
    """Time and memory of the whole training, reading included, all cores."""
    runs: dict[str, list[Any]] = {name: [] for name in (*RULES, "BPE-Standard")}
    for _ in range(setting.repeats):
        for rule in RULES:
            runs[rule].append(setting.train(rule))
        standard = work("train_standard", corpus=setting.corpus, vocab_size=setting.vocab_size)
        runs["BPE-Standard"].append(standard)
    for rule in RULES:
        what = f"training time to BPE-Standard, {rule}"
        yield ratios(what, "seconds", runs[rule], runs["BPE-Standard"], ("<=", 1.0))
    for name, peers in runs.items():
        peaks = [run["peak"] for run in peers]
        details = f"bytes a byte of text: {median(peaks) / 1e6:,.0f} MB"
        bar = ("<=", 4.0) if name in RULES else None
        values = [peak / setting.bytes for peak in peaks]
        yield Row(f"peak memory of training, {name}", values, details, bar)


def compression(setting: Setting) -> Iterator[Row]:
    """Characters per token of our two rules, SuperBPE's transition and plain BPE."""
    bars = {"merges": (">=", 5.50), "fewest": (">=", 5.66)}
    for name in RECIPES:
        figures = work("compression", tokenizer=setting.trained(name), test=setting.test)
        details = f"held out {figures['held_out']:.3f}; crossover {figures['crossover']:.3f}"
        yield Row(f"characters per token, {name}", [figures["test"]], details, bars.get(name))


def growth(setting: Setting) -> Iterator[Row]:
    """The corpus four times over as one stream, against once."""
    for rule in RULES:
        four, one = [], []
        for _ in range(setting.repeats):
            four.append(setting.train(rule, times=4))
            one.append(setting.train(rule))
        yield ratios(f"time of 4 times the corpus, {rule}", "seconds", four, one, ("<=", 4.0))
        yield ratios(f"memory of 4 times the corpus, {rule}", "peak", four, one, ("<", 1.1))


def encoding(setting: Setting) -> Iterator[Row]:
    """`encode` on one thread, against `tokenizers` running the same vocabulary: one text to an
    array, lines to lists."""
    bars = {"merges": (100.0, 15.0), "fewest": (20.0, 8.0)}
    for rule in RULES:
        path, twin, size = setting.with_twin(rule)
        for by_line, what, bar in zip(
            (False, True), ("one text", "by line"), bars[rule], strict=True
        ):
            ours, theirs = [], []
            for _ in range(QUICK):
                given: dict[str, Any] = {
                    "one_thread": True,
                    "by_line": by_line,
                    "test": setting.test,
                }
                ours.append(work("encode", tokenizer=path, **given))
                theirs.append(work("encode_twin", tokenizer=twin, **given))
            yield speeds(f"encode {what}, cold, {rule}", "cold", ours, theirs, size, (">=", bar))
            yield speeds(f"encode {what}, warm, {rule}", "warm", ours, theirs, size)


def batch(setting: Setting) -> Iterator[Row]:
    """`encode_batch` with two threads, and to arrays with all, against one, on documents."""
    cores = os.cpu_count() or 1
    for rule in RULES:
        for arrays, threads in sorted({(False, 2), (True, 2), (True, cores)}):
            figures = work("batch", tokenizer=setting.trained(rule), corpus=setting.corpus,
                           arrays=arrays, threads=threads, repeats=2 * QUICK)  # fmt: skip
            what = f"encode_batch, {threads} threads, {'arrays' if arrays else 'lists'}, {rule}"
            bar = 1.8 if threads <= 2 else 0.75 * threads
            yield speeds(
                what, "seconds", figures["many"], figures["one"], figures["bytes"], (">=", bar)
            )


def latency(setting: Setting) -> Iterator[Row]:
    """Texts of 20 characters, one call each, against programs with the same vocabulary."""
    path, twin, _ = setting.with_twin("merges")
    for program in ("tokenizers", "tiktoken"):
        if importlib.util.find_spec(program) is None:
            continue
        ours, theirs = [], []
        for _ in range(QUICK):
            files = {"tokenizer": path, "twin": twin, "test": setting.test}
            ours.append(work("latency", one_thread=True, program="supratok", **files))
            theirs.append(work("latency", one_thread=True, program=program, **files))
        for key in ("p50", "p99"):
            mine, others = ([run[key] for run in runs] for runs in (ours, theirs))
            details = f"{median(mine):.2f} µs to {median(others):.2f} µs"
            values = [a / b for a, b in zip(mine, others, strict=True)]
            yield Row(f"20 characters, {key}, to {program}", values, details)


def loading(setting: Setting) -> Iterator[Row]:
    """Reading the file of a tokenizer, against `tokenizers`."""
    for rule in RULES:
        path, twin, _ = setting.with_twin(rule)
        ours, theirs = [], []
        for _ in range(QUICK):
            ours.append(work("loading", program="supratok", file=path))
            theirs.append(work("loading", program="tokenizers", file=twin))
        yield ratios(f"time to load, {rule}", "seconds", ours, theirs)
        yield ratios(f"memory to load, {rule}", "peak", ours, theirs)


ROWS: dict[str, Callable[[Setting], Iterator[Row]]] = {
    rows.__name__: rows
    for rows in (training, compression, growth, encoding, batch, latency, loading)
}

Runs = list[dict[str, float]]


def ratios(
    what: str, key: str, ours: Runs, others: Runs, bar: tuple[str, float] | None = None
) -> Row:
    """Our time or memory as a multiple of theirs, pair by pair."""
    mine, theirs = ([run[key] for run in runs] for runs in (ours, others))
    unit, scale = ("MB", 1e6) if key == "peak" else ("s", 1.0)
    details = f"{median(mine) / scale:,.1f} {unit} to {median(theirs) / scale:,.1f} {unit}"
    return Row(what, [a / b for a, b in zip(mine, theirs, strict=True)], details, bar)


def speeds(
    what: str, key: str, ours: Runs, others: Runs, size: int, bar: tuple[str, float] | None = None
) -> Row:
    """Our speed over `size` bytes as a multiple of theirs, pair by pair."""
    mine, theirs = ([size / 1e6 / run[key] for run in runs] for runs in (ours, others))
    details = f"{median(mine):.1f} MB/s to {median(theirs):.2f} MB/s"
    return Row(what, [a / b for a, b in zip(mine, theirs, strict=True)], details, bar)


# --- The run


def main() -> int:
    parser = make_parser()
    args = parser.parse_args()
    corpus, test = find_data(parser, args)
    if importlib.util.find_spec("tokenizers") is None:
        parser.exit(2, "tokenizers is not installed: pip install supratok[compare]\n")
    with tempfile.TemporaryDirectory(prefix="supratok-bench-") as folder:
        if args.documents:
            whole, corpus = corpus, Path(folder, "part.jsonl.zst")
            work("take", corpus=str(whole), documents=args.documents, out=str(corpus))
        text = work("describe", corpus=str(corpus))
        head = {"command": shlex.join(["python", *sys.argv]), **work("surroundings"), "text": text}
        print("\n".join(f"{name}: {value}" for name, value in head.items()), flush=True)
        setting = Setting(
            str(corpus), str(test), args.vocab_size, args.repeats, Path(folder), text["bytes"]
        )
        rows = shown(row for name in args.only for row in ROWS[name](setting))
    if args.json:
        table = [{**asdict(row), "verdict": row.verdict} for row in rows]
        args.json.write_text(json.dumps({**head, "rows": table}, indent=1))
    return 1 if any(row.verdict == "FAIL" for row in rows) else 0


def shown(rows: Iterable[Row]) -> list[Row]:
    """Print each row when it is done, in Markdown."""
    print("\n" + LINE.format("what", "measured: median (lowest to highest)", "bar", "verdict"))
    print(LINE.replace("<", "-<").format(*[""] * 4), flush=True)
    done = []
    for row in rows:
        print(row.line(), flush=True)
        done.append(row)
    return done


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="The figures that supratok promises, each beside its bar."
    )
    add = parser.add_argument
    add("--data", type=Path, metavar="FOLDER", help="the data (or set SUPRATOK_DATA)")
    add("--corpus", type=Path, metavar="FILE", help="train on this instead; with --test")
    add("--test", type=Path, metavar="FILE", help="encode this instead; with --corpus")
    add("--only", type=row_names, default=list(ROWS), help=f"some of {','.join(ROWS)}")
    add("--documents", type=count, metavar="N", help="use only the first N documents")
    add("--vocab-size", type=count, default=100_000)
    add("--repeats", type=count, default=3, help="runs of each training (default: 3)")
    add("--json", type=Path, metavar="OUT", help="write the figures to this file too")
    return parser


def row_names(text: str) -> list[str]:
    for name in text.split(","):
        if name not in ROWS:
            raise argparse.ArgumentTypeError(f"{name!r}: choose from {', '.join(ROWS)}")
    return text.split(",")


def count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r}: a whole number, at least 1")
    return int(text)


def find_data(parser: argparse.ArgumentParser, args: argparse.Namespace) -> tuple[Path, Path]:
    """The corpus and the test file; ends the run if one does not exist."""
    if bool(args.corpus) != bool(args.test):
        parser.error("--corpus and --test go together")
    folder = args.data or Path(os.environ.get("SUPRATOK_DATA") or ".")
    corpus = args.corpus or folder / "train/en100k.jsonl.zst"
    test = args.test or folder / "test/wikitext103/wiki.valid.raw"
    for path in (corpus, test):
        if not path.is_file():
            parser.exit(2, f"{path}: not found; {MISSING}")
    return corpus, test


if __name__ == "__main__":
    sys.exit(main())
