"""Shared by the scripts that compare tokenizers on English (sweep, compression, latency): a bench
on the corpus and WikiText-103 of SUPRATOK_DATA, cells and notes.

    args = bench_options("Characters per token.", "sweep", [50_000], ROWS).parse_args()
    bench = make_bench(args, args.out, wikitext(args))
    rows = rows_of(bench, args.only, args.sizes)
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from rows import ENGLISH, ROOT, first_documents, located, options
from supratok import Recipe
from supratok.lab.baselines import BASELINES
from supratok.lab.bench import HELD_OUT, Bench, Row, compared, entries
from supratok.lab.bench import OURS as PRESETS
from supratok.lab.measure.figures import articles
from supratok.lab.measure.texts import read_text
from supratok.lab.report.tables import NOTHING

OURS: dict[str, Callable[[int], Recipe]] = {
    **{
        name: PRESETS[name] for name in ("dense", "balanced", "default", "paper")
    },  # in the order of tables
    # Paper, Tables 4A and 5: no tokenizer's text is curated.
    "paper, not curated": lambda size: Recipe.paper(size, curation=None),
    "SuperBPE-like": lambda size: Recipe(
        vocab_size=size, crossover=0.78125, screen=None, phrase_price=1.0
    ),
    "plain": lambda size: Recipe(vocab_size=size, crossover=1.0),
}
SUPRATOK = (
    "dense",
    "balanced",
    "default",
    "paper",
    "paper, not curated",
)  # SupraTok in the paper's tables
STANDARD = "BPE-Standard"
CROSSING = "SP-BPE-CrossBoundary"
VALIDATION, TEST = "validation", "test"
FILES = {VALIDATION: "wiki.valid.raw", TEST: "wiki.test.raw"}


# --- Options and texts


def bench_options(
    description: str, name: str, sizes: Sequence[int], only: Sequence[str], several: bool = False
) -> argparse.ArgumentParser:
    """The options of every script, and those of a bench."""
    parser = options(description, name)
    add, names = parser.add_argument, [*OURS, *BASELINES]
    add("--sizes", type=int, nargs="+" if several else 1, default=list(sizes), metavar="SIZE")
    add("--only", nargs="+", choices=names, default=list(only), metavar="ROW",
        help=f"some of {', '.join(names)}")  # fmt: skip
    add("--first", type=part, action="append", default=[], metavar="ROW=N",
        help="train this baseline on the first N documents only; repeatable")  # fmt: skip
    add("--cache", type=Path, default=Path("build/baselines"), help="folder of trained baselines")
    return parser


def part(given: str) -> tuple[str, int]:
    """A baseline and a number of documents, from NAME=N."""
    name, _, count = given.rpartition("=")
    if name not in BASELINES or not count.isdigit() or int(count) < 1:
        raise argparse.ArgumentTypeError(f"{given!r}: such as {CROSSING}=5000")
    return name, int(count)


def wikitext(args: argparse.Namespace) -> dict[str, list[str]]:
    """The articles of WikiText-103, validation and test; `--test` is another such folder."""
    folder = located(args.test, "test/wikitext103")
    paths = {name: located(folder / file, "") for name, file in FILES.items()}
    return {name: articles(read_text(path)) for name, path in paths.items()}


def make_bench(
    args: argparse.Namespace,
    folder: Path,
    tests: Mapping[str, list[str]] | None,
    corpus: Path | None = None,
) -> Bench:
    """A bench on the corpus of the options, or another. Without tests, it measures on held-out
    documents of the corpus."""
    corpus = corpus or first_documents(located(args.corpus, ENGLISH), args.documents, args.out)
    return Bench(
        [corpus], folder, tests=tests, first=dict(args.first), recipes=OURS,
        threads=args.threads, again=args.again, checkout=ROOT, cache=args.cache,
    )  # fmt: skip


def rows_of(bench: Bench, names: Iterable[str], sizes: Iterable[int]) -> list[Row]:
    return [bench.row(entry) for entry in entries(names, sizes, OURS)]


def by_size(rows: Iterable[Row]) -> list[dict[str, Row]]:
    """The rows of each size by name."""
    groups = itertools.groupby(rows, lambda row: row.entry.size)
    return [{row.entry.name: row for row in group} for _, group in groups]


# --- Cells


def in_paper(name: str) -> str:
    """The name in the paper."""
    return "SupraTok" if name in SUPRATOK else name


def density(row: Row, test: str) -> str:
    """Characters per token with the interval: 5.780 (5.731 to 5.829)."""
    found = row.measured[test]
    low, high = found["characters_per_token_interval"]
    return f"{found['characters_per_token']:.3f} ({low:.3f} to {high:.3f})"


def over(row: Row, other: Row | None, test: str) -> str:
    """How much denser than another, with the interval: +1.8% (+1.5% to +2.1%)."""
    found = other and compared(row, other, test)
    return f"{found.value:+.1%} ({found.low:+.1%} to {found.high:+.1%})" if found else NOTHING


def whole(row: Row) -> str:
    """Whether the tokenizer is lossless on the tested texts."""
    lost = row.losses or {}
    return f"no: {lost['changed']} of {lost['texts']}" if lost.get("changed") else "yes"


def seconds(row: Row) -> str:
    return NOTHING if row.seconds is None else f"{row.seconds:,.1f}"


def share(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.1%}"


def lossy(rows: Sequence[Row]) -> list[int]:
    """The places of lossy rows, which do not compete."""
    return [place for place, row in enumerate(rows) if row.lossy]


# --- Notes


def about(args: argparse.Namespace, bench: Bench, rows: Sequence[Row]) -> list[str]:
    """Notes: the texts, the exceptions, version, commit, machine and date."""
    once = list({row.entry.name: row for row in rows}.values())
    return [
        _texts(args, bench),
        *_losses(once),
        *_parts(bench, [row.entry.name for row in once]),
        *_short(rows),
        "in brackets: 95% intervals by bootstrap over documents; tokenizers are compared on the"
        " same resamples",
        bench.rows.about(),
    ]


def _texts(args: argparse.Namespace, bench: Bench) -> str:
    facts, path = bench.learnt_from, located(args.corpus, ENGLISH)
    first = f"the first {args.documents:,} documents of " if args.documents else ""
    tests = ", ".join(f"{name} ({len(texts):,})" for name, texts in bench.tests.items())
    less = "" if HELD_OUT in bench.tests else " without the 5% that training holds out"
    return (
        f"{first}{path.name}: baselines learnt from {facts['documents']:,} documents,"
        f" {facts['bytes'] / 1e6:,.1f} MB (SHA-256 {facts['sha256'][:12]}), ours from the same"
        f"{less}; test documents: {tests}"
    )


def _losses(rows: Sequence[Row]) -> list[str]:
    """One note for each way of losing text."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        reasons.setdefault(row.lossy, []).append(row.entry.name)
    return [f"lossy: {', '.join(names)}: {why}" for why, names in reasons.items() if why]


def _parts(bench: Bench, names: list[str]) -> list[str]:
    """One note for each baseline that learnt from a part of the corpus."""
    most = bench.learnt_from["documents"]
    return [
        f"{name} learnt from the first {count:,} of {most:,} documents: on all of them its figures"
        " would differ and its training would take longer"
        for name, count in bench.first.items()
        if name in names and count < most
    ]


def _short(rows: Sequence[Row]) -> list[str]:
    """A note on vocabularies of another size than asked for."""
    other = [row for row in rows if row.entry.size not in (None, row.vocab_size)]
    found = (f"{row.entry.label} has {row.vocab_size:,}" for row in other)
    return [f"not of the size asked for: {'; '.join(found)}"] if other else []
