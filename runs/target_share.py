"""Claim: a target counts best as a fifth of all evidence; chosen on training text alone.

    python runs/target_share.py                       # three sources, five shares
    python runs/target_share.py --sources elife_articles --shares 0.2

Each row leaves one source out of the training text, and takes documents of it as the target: one
half decides, the other measures. A good share has most of the gain there for little loss on
held-out documents of the other sources. No test text is read.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from choosing import Taught, cells, sizes
from rows import ENGLISH, Rows, claim, command, identity, located, options, write_table
from supratok import Recipe
from supratok.corpus import open_corpus
from supratok.corpus.target import TargetText, halves
from supratok.lab.report.tables import Table

SOURCES = ("elife_articles", "mdn_docs", "acl_abstracts")
SHARES = (0.05, 0.1, 0.2, 0.35, 0.5)
HEAD = [
    "source left out", "share", "decides, characters", "measures, characters",
    "C/T there without", "with the target", "gain", "C/T held out without", "with the target",
    "change", "seconds",
]  # fmt: skip


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of the corpus, with their sources."""
    with open_corpus(path) as corpus:
        for _ in corpus:
            yield json.loads(corpus.line or b"{}")


def divided(
    path: Path, source: str, documents: int, characters: int
) -> tuple[list[str], TargetText]:
    """The first documents of all other sources, and a target of so many characters."""
    rest: list[str] = []
    target: list[str] = []
    size = 0
    for record in records(path):
        if record.get("source") == source:
            if size < characters:
                target.append(record["text"])
                size += len(record["text"])
        elif len(rest) < documents:
            rest.append(record["text"])
    return rest, halves(target)


def main(arguments: list[str] | None = None) -> None:
    parser = options("How much a target should count.", "target_share", 32_000)
    add = parser.add_argument
    add("--sources", nargs="+", default=list(SOURCES), metavar="SOURCE")
    add("--shares", type=float, nargs="+", default=list(SHARES), metavar="SHARE")
    add("--characters", type=int, default=1_200_000, help="of each target (default: 1,200,000)")
    args = parser.parse_args(arguments)
    path, documents = located(args.corpus, ENGLISH), args.documents or 15_000
    rows, lines = Rows(args.out, args.again), []
    recipe = Recipe.dense(args.sizes[0])
    for source in args.sources:
        rest, target = divided(path, source, documents, args.characters)
        with Taught(rest, recipe, args.threads) as taught:
            for share in args.shares:
                asked = {
                    "row": f"{source}, {share}", "corpus": identity(path), "documents": documents,
                    "target": target.identity, "recipe": recipe.to_dict(), "share": share,
                }  # fmt: skip
                row = rows.get(asked, functools.partial(taught.gain, target, share))
                lines.append([source, f"{share:g}", *sizes(target), *cells(row)])
    notes = [
        f"Recipe.dense({args.sizes[0]:,}); the first {documents:,} documents of the other sources"
        f" of {path.name} (SHA-256 {identity(path)[:12]})",
        rows.about(),
        command("target_share", arguments),
    ]
    table = Table("How much a target counts", claim(__doc__), HEAD, lines, notes, grouped=True)
    write_table(args.out, table)


if __name__ == "__main__":
    main()
