"""Claim: training with all its passes takes no longer than BPE-Standard by `tokenizers`.

    python runs/wall_time.py

Ours and theirs in turn (A B A B A B), each in a fresh process and on all cores, reading included
(benches/workers.py). Ratios are of pairs.
"""

from __future__ import annotations

import functools
from pathlib import Path
from statistics import median
from typing import Any

from rows import (
    ENGLISH,
    ROOT,
    Figures,
    Rows,
    claim,
    command,
    first_documents,
    identity,
    located,
    options,
    write_table,
)
from supratok import Recipe
from supratok.lab.bench import OURS
from supratok.lab.measure.workers import call_worker
from supratok.lab.report.tables import Table

work = functools.partial(call_worker, ROOT / "benches/workers.py")
HEAD = ["recipe", "what", "ours", "BPE-Standard", "ratio"]


def pair(corpus: Path, recipe: Recipe, folder: Path) -> Figures:
    """One training of each, one after the other."""
    out = folder / "tokenizer.json"
    ours = work("train", corpus=str(corpus), recipe=recipe.to_dict(), out=str(out))
    theirs = work("train_standard", corpus=str(corpus), vocab_size=recipe.vocab_size)
    return {"ours": ours, "theirs": theirs}


def lines_of(name: str, pairs: list[Figures]) -> list[list[str]]:
    lines = []
    for what, unit, scale in (("seconds", "s", 1.0), ("peak", "MB", 1e6)):
        ours, theirs = ([run[side][what] / scale for run in pairs] for side in ("ours", "theirs"))
        ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
        lines.append([
            name, "wall time" if what == "seconds" else "peak memory",
            f"{spread(ours, '.1f')} {unit}", f"{spread(theirs, '.1f')} {unit}",
            spread(ratios, ".2f"),
        ])  # fmt: skip
    return lines


def spread(values: list[float], form: str) -> str:
    """Median, lowest and highest: 16.8 (16.1-18.0)."""
    return f"{median(values):{form}} ({min(values):{form}}-{max(values):{form}})"


def main(arguments: list[str] | None = None) -> None:
    parser = options("Training time and memory, beside BPE-Standard.", "wall_time", 100_000)
    parser.add_argument("--only", nargs="+", choices=list(OURS), default=["default"])
    parser.add_argument("--repeats", type=int, default=3, help="pairs (default: 3)")
    args = parser.parse_args(arguments)
    if args.threads or args.test:
        parser.error("--threads, --test: both programs take all cores, and nothing is tested")
    whole = located(args.corpus, ENGLISH)
    corpus = first_documents(whole, args.documents, args.out)
    rows = Rows(args.out, args.again)
    asked: dict[str, Any] = {"corpus": identity(whole), "documents": args.documents}
    lines = []
    for name in args.only:
        recipe = OURS[name](*args.sizes)
        this = {**asked, "recipe": recipe.to_dict()}
        pairs = [
            rows.get(
                {**this, "row": f"{name}, pair {turn + 1}"},
                lambda recipe=recipe: pair(corpus, recipe, args.out),  # type: ignore[misc]
            )
            for turn in range(args.repeats)
        ]
        lines += lines_of(name, pairs)
    size = rows.get({**asked, "row": "the text"}, lambda: work("describe", corpus=str(corpus)))
    notes = [
        f"{whole.name} (SHA-256 {identity(whole)[:12]}): {size['documents']:,} documents,"
        f" {size['bytes'] / 1e6:,.1f} MB as UTF-8; {args.sizes[0]:,} tokens",
        f"median (lowest-highest) of {args.repeats} pairs in turn, each in a fresh process",
        "ours holds out 5% of the documents and measures on them; theirs learns from all",
        rows.about(),
    ]
    table = Table(
        "Training time and memory", claim(__doc__), HEAD, lines,
        [*notes, command("wall_time", arguments)], grouped=True,
    )  # fmt: skip
    write_table(args.out, table)


if __name__ == "__main__":
    main()
