"""Shared by all scripts: options, texts, rows that are computed once, tables."""

from __future__ import annotations

import argparse
import functools
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import supratok
from supratok.corpus import Source, open_corpus
from supratok.corpus.split import held_out_half
from supratok.lab.measure import rows as lab_rows
from supratok.lab.measure.counts import crosses_words
from supratok.lab.measure.rows import Figures as Figures
from supratok.lab.measure.rows import code as code
from supratok.lab.measure.rows import identity as identity
from supratok.lab.measure.texts import read_text, write_first
from supratok.lab.report.tables import Table

ROOT = Path(__file__).resolve().parent.parent
ENGLISH = "train/en100k.jsonl.zst"
WIKITEXT = "test/wikitext103/wiki.valid.raw"


class Rows(lab_rows.Rows):
    """The finished rows of a folder, with the commit of this checkout."""

    def __init__(self, folder: Path, again: bool = False) -> None:
        super().__init__(folder, again, ROOT)


# --- Options and texts


def options(description: str, name: str, size: int | None = None) -> argparse.ArgumentParser:
    """The options of every script; `size`: the default of --sizes, where a script takes one."""
    parser = argparse.ArgumentParser(description=description)
    add = parser.add_argument
    add("--corpus", type=Path, help="training text (default: from SUPRATOK_DATA)")
    add("--test", type=Path, help="test text (default: from SUPRATOK_DATA)")
    add("--documents", type=int, metavar="N", help="use only the first N documents")
    add("--threads", type=int, help="default: all cores")
    add("--out", type=Path, default=Path("build/runs", name), help="folder for rows and tables")
    add("--again", action="store_true", help="ignore finished rows and compute them again")
    if size is not None:
        add("--sizes", type=int, nargs=1, default=[size], metavar="SIZE",
            help=f"vocabulary size (default: {size:,})")  # fmt: skip
    return parser


def located(given: Path | None, name: str) -> Path:
    """The given path, or `name` below SUPRATOK_DATA; ends the run if it does not exist."""
    path = given or Path(os.environ.get("SUPRATOK_DATA") or ".", name)
    if not path.exists():
        raise SystemExit(
            f"{path}: not found; set SUPRATOK_DATA to the folder with train/ and test/, or pass"
            " --corpus and --test"
        )
    return path


def first_documents(path: Path, documents: int | None, folder: Path) -> Path:
    """The corpus, or a file in `folder` with its first documents."""
    if documents is None:
        return path
    part = folder / f"{identity(path)[:12]}-{documents}.jsonl.zst"
    if not part.exists():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = part.with_suffix(".part")
        write_first(path, documents, unfinished)
        unfinished.rename(part)
    return part


def documents_used(documents: int | None) -> str:
    """The value of --documents, for a note."""
    return f"the first {documents:,} documents" if documents else "all documents"


def held_out(source: Source, *, measuring: bool = True) -> list[str]:
    """The half of the held-out documents that training measures on, or the half that decides."""
    with open_corpus(source) as corpus:
        return held_out_half(corpus, measuring=measuring)


# --- Measuring


def shares(texts: Sequence[str], usage: NDArray[np.int64]) -> Figures:
    """The number of phrases, and their share of the vocabulary and of its use."""
    phrases = np.array([crosses_words(text) for text in texts], dtype=bool)
    return {
        "phrases": int(phrases.sum()),
        "phrase_share": float(phrases.mean()),
        "phrase_use": float(usage[phrases].sum() / max(1, usage.sum())),
    }


def token_texts(tokenizer: supratok.Tokenizer) -> list[str]:
    return [tokenizer.token_text(id) for id in range(tokenizer.vocab_size)]


def ratio(texts: Iterable[str], tokens: int) -> float:
    """Characters per token."""
    return sum(map(len, texts)) / max(1, tokens)


def trained(
    source: Source, recipe: supratok.Recipe, threads: int | None
) -> tuple[supratok.Tokenizer, float]:
    """A tokenizer, and the seconds of its training."""
    began = time.monotonic()
    tokenizer = supratok.train(source, recipe, threads, progress=sys.stderr.isatty())
    return tokenizer, time.monotonic() - began


def measure(
    source: Source, recipe: supratok.Recipe, documents: list[str], test: Path, threads: int | None
) -> Figures:
    """Train by a recipe; measure on the test file as one text and on held-out documents."""
    tokenizer, seconds = trained(source, recipe, threads)
    usage = tokenizer.usage(documents, threads)
    text = read_text(test)
    return {
        "test": ratio([text], tokenizer.count(text)),
        "held_out": ratio(documents, int(usage.sum())),
        "seconds": seconds,
        "crossover": tokenizer.report.get("crossover"),
        "vocab_size": tokenizer.vocab_size,
        **shares(token_texts(tokenizer), usage),
    }


class English:
    """The corpus, the test text and the rows of scripts that train on English."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.whole, self.test = located(args.corpus, ENGLISH), located(args.test, WIKITEXT)
        self.corpus = first_documents(self.whole, args.documents, args.out)
        self.rows = Rows(args.out, args.again)
        self.asked = {
            "corpus": identity(self.whole),
            "documents": args.documents,
            "test": identity(self.test),
        }
        self._threads: int | None = args.threads

    @functools.cached_property
    def documents(self) -> list[str]:
        """The held-out documents that decide nothing."""
        return held_out(self.corpus)

    def row(
        self, name: str, recipe: supratok.Recipe, measure: Callable[..., Figures] = measure
    ) -> Figures:
        """The figures of a recipe by `measure`."""
        return self.rows.get(
            {**self.asked, "row": name, "recipe": recipe.to_dict()},
            lambda: measure(self.corpus, recipe, self.documents, self.test, self._threads),
        )

    def about(self) -> list[str]:
        """Notes: the texts, version, commit, machine and date."""
        return [
            f"{self.whole.name} (SHA-256 {identity(self.whole)[:12]}),"
            f" {documents_used(self.asked['documents'])}; {self.test.name} as one text; held out:"
            " documents of the corpus that decided nothing",
            self.rows.about(),
        ]


# --- Tables


def number(value: float | None, form: str = ".3f") -> str:
    """A cell; - for None."""
    return "-" if value is None else format(value, form)


def percent(value: float | None, other: float | None) -> str:
    """How much more `value` is than `other`: +5.2%."""
    return "-" if not value or not other else f"{value / other - 1:+.1%}"


def claim(script: str | None) -> str:
    """A script's claim: the first paragraph of its docstring."""
    sentence = " ".join((script or "").split("\n\n")[0].removeprefix("Claim: ").split())
    return sentence[:1].upper() + sentence[1:]


def command(name: str, arguments: list[str] | None) -> str:
    """The command line, as a note below the table."""
    given = sys.argv[1:] if arguments is None else arguments
    return f"`{shlex.join(['python', f'runs/{name}.py', *given])}`"


def write_table(folder: Path, table: Table, pictures: Mapping[str, str] | None = None) -> None:
    """Print the table in Markdown; write table.md, table.csv, table.json and its pictures."""
    for name, picture in (pictures or {}).items():
        (folder / name).write_text(picture, encoding="utf-8")
    table = replace(table, pictures=list(pictures or ()))
    print(table.markdown(), end="", flush=True)
    table.write(folder)
