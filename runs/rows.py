"""What the scripts of this folder share: where the texts are, rows that are computed once, tables.

    rows = Rows(Path("build/runs/sweep"))
    figures = rows.get({"row": "plain", "recipe": recipe.to_dict()}, lambda: measure(...))

A finished row is a JSON line in `rows.jsonl`: what was asked (which is how it is found again), the
figures, and how it was made. A run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import functools
import hashlib
import json
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import supratok
from supratok.corpus import Source, open_corpus
from supratok.heldout import HeldOut, digest, is_for_measuring, is_held_out
from supratok.lab.tables import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benches"))

from workers import cpu_model, take  # noqa: E402  # it lies in another folder
from workers import read_whole as read_whole  # noqa: E402

ENGLISH = "train/en100k.jsonl.zst"
WIKITEXT = "test/wikitext103/wiki.valid.raw"

Figures = dict[str, Any]


# --- Options and texts


def options(description: str, name: str) -> argparse.ArgumentParser:
    """The options that every script has."""
    parser = argparse.ArgumentParser(description=description)
    add = parser.add_argument
    add("--corpus", type=Path, help="what to train on, instead of that of SUPRATOK_DATA")
    add("--test", type=Path, help="what to measure on, likewise")
    add("--documents", type=int, metavar="N", help="use the first N documents only")
    add("--threads", type=int, help="all cores, unless said")
    add("--out", type=Path, default=Path("build/runs", name), help="where rows and tables go")
    add("--again", action="store_true", help="compute every row anew")
    return parser


def located(given: Path | None, name: str) -> Path:
    """The path that was given, or this one below SUPRATOK_DATA; ends the run if it is not there."""
    path = given or Path(os.environ.get("SUPRATOK_DATA") or ".", name)
    if not path.exists():
        raise SystemExit(
            f"{path}: not found; set SUPRATOK_DATA to the folder with train/ and test/, or pass"
            " --corpus and --test"
        )
    return path


def first_documents(path: Path, documents: int | None, folder: Path) -> Path:
    """The corpus, or a file of its first documents."""
    if documents is None:
        return path
    part = folder / f"{identity(path)[:12]}-{documents}.jsonl.zst"
    if not part.exists():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = part.with_suffix(".part")
        take(str(path), documents, str(unfinished))
        unfinished.rename(part)
    return part


@functools.cache
def identity(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def held_out(source: Source, *, measuring: bool = True) -> list[str]:
    """The held-out documents that training measures on (or the half that decides), bounded as
    there."""
    sample = HeldOut()
    for text in open_corpus(source):
        code = digest(text)
        if is_held_out(code) and is_for_measuring(code) == measuring:
            sample.add(text, code)
    return sample.documents


# --- Rows


class Rows:
    """The finished rows of a folder."""

    def __init__(self, folder: Path, again: bool = False) -> None:
        self._path = folder / "rows.jsonl"
        self._done: dict[str, dict[str, Any]] = {}  # of rows asked for twice, the latest
        self.shown: list[dict[str, Any]] = []  # in the order in which they were asked for
        folder.mkdir(parents=True, exist_ok=True)
        if self._path.exists():
            lines = self._path.read_text(encoding="utf-8").split("\n")
            if lines.pop():  # a line that was never finished
                self._path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            rows = [] if again else map(json.loads, lines)
            self._done = {_key(row["asked"]): row for row in rows}

    def get(self, asked: Figures, compute: Callable[[], Figures]) -> Figures:
        """The figures of a row, computed unless it is there."""
        asked = {"version": supratok.__version__, "code": code(), **asked}
        row = self._done.get(_key(asked))
        if row is None:
            began = time.monotonic()
            print(f"{asked['row']} ...", file=sys.stderr, flush=True)
            row = {"asked": asked, "figures": compute(), "made": _made()}
            print(f"{asked['row']}: {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            self._done[_key(asked)] = row
        self.shown.append(row)
        figures: Figures = row["figures"]
        return figures

    def about(self) -> str:
        """Version, commits, machines and dates of the rows asked for."""
        parts = [f"supratok {supratok.__version__}"]
        for name in ("commit", "machine", "date"):
            values = dict.fromkeys(row["made"][name] for row in self.shown)
            parts.append(f"{name} {', '.join(values)}")
        return "; ".join(parts)


def _key(asked: Figures) -> str:
    return json.dumps(asked, sort_keys=True)


def _made() -> dict[str, str]:
    return {
        "commit": commit(),
        "machine": f"{cpu_model()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


@functools.cache
def code(part: str = ".") -> str:
    """A digest of the program that learns, or of another part of the package: a row made by another
    one is stale. Comments and the layout of the code do not count, nor does what only shows
    results."""
    folder = Path(supratok.__file__).parent / part
    parts = [
        ast.dump(ast.parse(path.read_text(encoding="utf-8")))
        for path in sorted(folder.glob("*.py"))
        if not path.stem.startswith(("cli", "demo", "show", "reference"))
    ]
    parts += [identity(path) for path in sorted(folder.glob("_core*.so"))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


@functools.cache
def commit() -> str:
    """Of this checkout, with a + where files differ from it."""
    try:
        git = ["git", "-C", str(ROOT), "describe", "--always", "--exclude=*", "--dirty=+"]
        return subprocess.run(git, capture_output=True, check=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


# --- Measuring


def is_phrase(text: str) -> bool:
    """Whether a token holds parts of two words: whitespace between other characters."""
    return len(text.split()) > 1


def shares(texts: Sequence[str], usage: NDArray[np.int64]) -> Figures:
    """How many tokens are phrases, of the vocabulary and of its use."""
    phrases = np.array([is_phrase(text) for text in texts], dtype=bool)
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
    """A tokenizer, and the seconds its training took."""
    began = time.monotonic()
    tokenizer = supratok.train(source, recipe, threads, progress=sys.stderr.isatty())
    return tokenizer, time.monotonic() - began


def measure(
    source: Source, recipe: supratok.Recipe, documents: list[str], test: Path, threads: int | None
) -> Figures:
    """Train by a recipe, and measure on the test text as a whole and on held-out documents."""
    tokenizer, seconds = trained(source, recipe, threads)
    usage = tokenizer.usage(documents, threads)
    text = read_whole(str(test))
    return {
        "test": ratio([text], tokenizer.count(text)),
        "held_out": ratio(documents, int(usage.sum())),
        "seconds": seconds,
        "crossover": tokenizer.report.get("crossover"),
        "vocab_size": tokenizer.vocab_size,
        **shares(token_texts(tokenizer), usage),
    }


class English:
    """What is learnt from and measured on, by the scripts that train on English."""

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
        """Held out, and deciding nothing."""
        return held_out(self.corpus)

    def row(
        self, name: str, recipe: supratok.Recipe, measure: Callable[..., Figures] = measure
    ) -> Figures:
        """What `measure` finds for a recipe."""
        return self.rows.get(
            {**self.asked, "row": name, "recipe": recipe.to_dict()},
            lambda: measure(self.corpus, recipe, self.documents, self.test, self._threads),
        )

    def about(self) -> list[str]:
        """On what the table was made, and by what."""
        first = self.asked["documents"]
        part = f"its first {first:,} documents" if first else "all documents"
        return [
            f"{self.whole.name} (SHA-256 {identity(self.whole)[:12]}), {part}; {self.test.name}"
            " as one text; held out: documents of the corpus that decided nothing",
            self.rows.about(),
        ]


# --- Tables


def number(value: float | None, form: str = ".3f") -> str:
    """A cell; - where there is nothing."""
    return "-" if value is None else format(value, form)


def percent(value: float | None, other: float | None) -> str:
    """How much more `value` is than `other`: +5.2%."""
    return "-" if not value or not other else f"{value / other - 1:+.1%}"


def claim(script: str | None) -> str:
    """What a script is to show: the first paragraph of what it says about itself."""
    sentence = " ".join((script or "").split("\n\n")[0].removeprefix("Claim: ").split())
    return sentence[:1].upper() + sentence[1:]


def command(name: str, arguments: list[str] | None) -> str:
    """What was typed, as a note below the table."""
    given = sys.argv[1:] if arguments is None else arguments
    return f"`{shlex.join(['python', f'runs/{name}.py', *given])}`"


def write_table(folder: Path, table: Table, pictures: Mapping[str, str] | None = None) -> None:
    """Print it in Markdown, and write it to table.md, table.csv and table.json, with its pictures
    beside them."""
    for name, picture in (pictures or {}).items():
        (folder / name).write_text(picture, encoding="utf-8")
    table = replace(table, pictures=list(pictures or ()))
    print(table.markdown(), end="", flush=True)
    table.write(folder)
