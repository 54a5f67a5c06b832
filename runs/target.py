"""Claim: text of the kind to be served, a fifth of all evidence, gains more there than it costs.

    python runs/target.py                         # dense, 100,000 tokens
    python runs/target.py --sizes 50000 --shares 0.1 0.2 0.5 --only "BBC news"

TEST TEXT DECIDES HERE, in this experiment and in no other: the point is what a target is worth on
text that training never saw. One side of each text decides with the training text, the other only
measures: WikiText-103 validation and test; the halves of BBC news; the halves of the documentation
that comes with Python. The loss elsewhere is that on held-out documents of the corpus, which decide
nothing. Without the target: the same recipe, the same passes.
"""

from __future__ import annotations

import argparse
import platform
import sysconfig
from collections.abc import Callable
from pathlib import Path

from choosing import Taught, cells, sizes
from rows import (
    ENGLISH,
    Figures,
    Rows,
    claim,
    command,
    documents_used,
    first_documents,
    identity,
    located,
    options,
    write_table,
)
from supratok import Recipe
from supratok.cli import demo_text
from supratok.corpus.target import TargetText, halves, read_target
from supratok.lab.measure.figures import articles
from supratok.lab.measure.texts import read_text
from supratok.lab.report.tables import Table
from supratok.recipe import TARGET_SHARE

HEAD = [
    "target", "share", "decides, characters", "measures, characters", "C/T there without",
    "with the target", "gain", "C/T held out without", "with the target", "change", "seconds",
]  # fmt: skip


def wikitext(args: argparse.Namespace) -> TargetText:
    """Validation decides, test measures; article by article."""
    folder = located(args.test, "test/wikitext103")
    found = [articles(read_text(located(folder / f"wiki.{part}.raw", ""))) for part in
             ("valid", "test")]  # fmt: skip
    return TargetText(*found)


def bbc(args: argparse.Namespace) -> TargetText:
    return read_target(located(args.bbc, "test/bbc/bbc.jsonl.zst"))


def python(args: argparse.Namespace) -> TargetText:
    """The topics of help(), docstrings and comments, as the demo reads them."""
    prose = demo_text.read(args.python or Path(sysconfig.get_path("stdlib")))
    return halves([*prose.training, *prose.unseen])


TARGETS: dict[str, Callable[[argparse.Namespace], TargetText]] = {
    "WikiText-103, validation to test": wikitext,
    "BBC news": bbc,
    "Python documentation": python,
}


class Experiment:
    """All rows of one vocabulary size; what the corpus teaches is learnt once."""

    def __init__(self, args: argparse.Namespace, rows: Rows) -> None:
        self._args, self._rows = args, rows
        self._whole = located(args.corpus, ENGLISH)
        corpus = first_documents(self._whole, args.documents, args.out)
        self._taught = Taught(corpus, Recipe.dense(args.sizes[0]), args.threads)

    def row(self, name: str, target: TargetText, share: float) -> Figures:
        asked = {
            "row": f"{name}, {share}",
            "corpus": identity(self._whole),
            "documents": self._args.documents,
            "target": target.identity,
            "share": share,
            "recipe": self._taught.recipe.to_dict(),
        }
        return self._rows.get(asked, lambda: self._taught.gain(target, share))

    def close(self) -> None:
        self._taught.__exit__(None, None, None)


def main(arguments: list[str] | None = None) -> None:
    parser = options("What a target text gains there, and costs elsewhere.", "target", 100_000)
    add = parser.add_argument
    add("--bbc", type=Path, help="the news (default: from SUPRATOK_DATA)")
    add("--python", type=Path, help="a folder of Python files (default: the standard library)")
    add("--only", nargs="+", choices=TARGETS, default=list(TARGETS), metavar="TARGET")
    add("--shares", type=float, nargs="+", default=[TARGET_SHARE], metavar="SHARE")
    args = parser.parse_args(arguments)
    rows, lines = Rows(args.out, args.again), []
    experiment = Experiment(args, rows)
    for name in args.only:
        target = TARGETS[name](args)
        for share in args.shares:
            row = experiment.row(name, target, share)
            lines.append([name, f"{share:g}", *sizes(target), *cells(row)])
    experiment.close()
    whole = located(args.corpus, ENGLISH)
    notes = [
        "test text decides here, on the side named first, and in no other table",
        f"Recipe.dense({args.sizes[0]:,}); {whole.name} (SHA-256 {identity(whole)[:12]}),"
        f" {documents_used(args.documents)}; Python {platform.python_version()}",
        "seconds: pruning and refinement by the target, beside the training itself",
        rows.about(),
        command("target", arguments),
    ]
    write_table(args.out, Table("A target text", claim(__doc__), HEAD, lines, notes))


if __name__ == "__main__":
    main()
