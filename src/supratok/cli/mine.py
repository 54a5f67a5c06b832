"""`supratok mine`: list the phrases of a corpus whose words belong together, with their figures.

supratok mine corpus.jsonl.zst                              # the 50 of highest worth
supratok mine corpus.jsonl.zst --sort npmi --min-words 3
supratok mine corpus.jsonl.zst --output-format csv --out phrases.csv     # all of them
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from ..common.files import STANDARD_OUTPUT, write_whole
from ..common.progress import make_progress
from ..corpus import open_corpus
from ..learn.mine import mine_corpus
from ..learn.seeds import Phrase
from ..recipe import Recipe, Seeds
from ..tokenizer import usable_threads
from .common import add_corpus_arguments, check_writable, paths, print_left_out, reading_of
from .draw import new_console, new_table, print_table, quoted

_TOP = 50
_COLUMNS = ("phrase", "words", "count", "pmi", "npmi", "gain", "worth")


def worth(phrase: Phrase) -> float:
    """Choice: tokens saved times NPMI. By tokens saved alone, " of the" and its like fill the
    screen; by PMI alone, boilerplate does."""
    return phrase.gain * phrase.npmi


_SORTS: dict[str, Callable[[Phrase], float]] = {
    "worth": worth,
    "gain": lambda phrase: phrase.gain,
    "count": lambda phrase: phrase.count,
    "pmi": lambda phrase: phrase.pmi,
    "npmi": lambda phrase: phrase.npmi,
}


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(interrupted="interrupted, nothing was written")
    add = command.add_argument
    for name, kind, what in (
        ("min-count", int, "a phrase occurs at least N times (default: 100)"),
        ("min-pmi", float, "at least X bits of mutual information (default: 2)"),
        ("min-npmi", float, "at least X of mutual information, normalised (default: no limit)"),
        ("min-words", int, "at least N words (default: 2)"),
        ("max-words", int, "at most N words (default: 6)"),
        ("overlap", float, "drop one of two phrases that share this much (default: 0.9)"),
    ):
        add(f"--{name}", type=kind, metavar="N" if kind is int else "X", help=what)
    add(
        "--recipe",
        type=Path,
        metavar="FILE.toml",
        help="read [seeds] and [boundaries] from this file (default: none)",
    )
    add(
        "--sort",
        choices=list(_SORTS),
        default="worth",
        help="gain is tokens saved, worth is gain times npmi (default: worth)",
    )
    add("--top", type=int, metavar="N", help=f"show N phrases (default: table {_TOP}, else all)")
    add(
        "--output-format",
        choices=["table", "csv", "json"],
        default="table",
        help="json is one object a line (default: table)",
    )
    add(
        "--out",
        type=Path,
        default=Path(STANDARD_OUTPUT),
        metavar="PATH",
        help="file to write (default: -, standard output)",
    )
    add_corpus_arguments(command)


def run(args: argparse.Namespace) -> None:
    seeds, recipe = _options(args)
    threads = usable_threads(args.threads)
    if args.top is not None and args.top < 1:
        raise ValueError(f"--top {args.top}: must be at least 1")
    with (
        open_corpus(paths(args.files), **reading_of(args)) as corpus,
        make_progress(True) as progress,
    ):
        check_writable(args.out, [*corpus.files, args.recipe])
        phrases, report = mine_corpus(corpus, seeds, recipe, threads, progress)
        print_left_out("mine", corpus)
    order = _SORTS[args.sort]
    phrases.sort(key=order, reverse=True)  # stable: equals stay by falling count, then by text
    shown = phrases[: args.top or (_TOP if args.output_format == "table" else None)]
    write_whole(args.out, {"table": _table, "csv": _csv, "json": _json}[args.output_format](shown))
    print(_summary(report, len(shown)), file=sys.stderr)


def _options(args: argparse.Namespace) -> tuple[Seeds, Recipe]:
    """The command line overrides the recipe file, which overrides the defaults."""
    size = 1 << 20  # a recipe needs one; mining does not use it
    recipe = Recipe(vocab_size=size)
    if args.recipe:
        recipe = Recipe.from_toml(args.recipe, vocab_size=size)
    names = (option.name for option in dataclasses.fields(Seeds))
    given = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    return dataclasses.replace(recipe.seeds or Seeds(), **given), recipe


def _summary(report: dict[str, Any], shown: int) -> str:
    chosen = report["chosen"]
    lengths = ", ".join(f"{count:,} of {n} words" for n, count in chosen.items())
    failed = ", ".join(f"{reason} {count:,}" for reason, count in report["rejected"].items())
    found = f"{sum(chosen.values()):,} phrases" + (f" ({lengths})" if lengths else "")
    return f"{found}; shown: {shown:,}; rejected by {failed}"


# --- Formats -----------------------------------------------------------------------------------


def _figures(phrase: Phrase) -> tuple[Any, ...]:
    text, words, count, pmi, npmi = phrase
    return text, words, count, round(pmi, 4), round(npmi, 4), phrase.gain, round(worth(phrase), 2)


def _csv(phrases: list[Phrase]) -> str:
    """Texts are quoted, so that no program drops their spaces."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerows([_COLUMNS, *map(_figures, phrases)])
    return file.getvalue()


def _json(phrases: list[Phrase]) -> str:
    rows = (dict(zip(_COLUMNS, _figures(phrase), strict=True)) for phrase in phrases)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _table(phrases: list[Phrase]) -> str:
    table = new_table("phrase", "words", "count", "PMI", "NPMI", "gain", "worth")
    for phrase in phrases:
        table.add_row(
            quoted(phrase.text),
            str(phrase.words),
            f"{phrase.count:,}",
            f"{phrase.pmi:.2f}",
            f"{phrase.npmi:.3f}",
            f"{phrase.gain:,}",
            f"{worth(phrase):,.0f}",
        )
    console = Console(file=io.StringIO(), markup=False, emoji=False, width=new_console().width)
    with console.capture() as captured:
        print_table(console, table)
    return captured.get()
