"""Claim: text teaches about one token for every 2 to 4 kB: 10 MB 5,800, 240 MB 62,000.

    python runs/fill.py

Trains `balanced` with more places than the text can fill, on the first part of the corpus, and
counts the tokens: all that training finds, and those that it counted at least 100 times when it
made them, which a model sees often enough to learn. The size at 1 GB and at 100 GB is the line
through the two largest parts, on logarithmic scales: an extrapolation.
"""

from __future__ import annotations

import math
from typing import Any

import supratok
from rows import ENGLISH, Rows, claim, command, identity, located, options, write_table
from supratok import Recipe
from supratok.corpus import open_corpus
from supratok.lab.report.tables import Table

PARTS = (1, 10, 100, 1000)  # MB of UTF-8; the last is all of the corpus
PLACES = 1 << 20
HEAD = ["text", "documents", "tokens found", "counted at least 100 times"]


def first_texts(corpus: Any, megabytes: int) -> list[str]:
    texts, size = [], 0
    for text in corpus:
        texts.append(text)
        size += len(text.encode())
        if size >= megabytes * 1e6:
            break
    return texts


def fill(texts: list[str], threads: int | None) -> dict[str, Any]:
    tokenizer = supratok.train(texts, Recipe.balanced(PLACES), threads)
    often = sum(token.count >= 100 for token in tokenizer.vocabulary)
    return {
        "bytes": sum(len(text.encode()) for text in texts),
        "documents": len(texts),
        "found": tokenizer.vocab_size,
        "often": often + 256,
    }


def extrapolated(rows: list[dict[str, Any]], megabytes: float) -> list[str]:
    """The line through the last two rows, on logarithmic scales."""
    first, last = rows[-2:]
    cells = []
    for name in ("found", "often"):
        slope = math.log(last[name] / first[name]) / math.log(last["bytes"] / first["bytes"])
        cells.append(last[name] * (megabytes * 1e6 / last["bytes"]) ** slope)
    shown = f"{megabytes / 1000:,.0f} GB (extrapolated)"
    return [shown, "", *(f"about {float(f'{cell:.1g}'):,.0f}" for cell in cells)]


def main(arguments: list[str] | None = None) -> None:
    parser = options("How many tokens a corpus can fill.", "fill")
    parser.add_argument("--parts", type=int, nargs="+", default=list(PARTS), metavar="MB")
    args = parser.parse_args(arguments)
    path = located(args.corpus, ENGLISH)
    rows = Rows(args.out, args.again)
    found = []
    for megabytes in args.parts:
        with open_corpus(path) as corpus:
            texts = first_texts(corpus, megabytes)
        asked = {"row": f"{megabytes} MB", "corpus": identity(path), "documents": len(texts)}
        found.append(rows.get(asked, lambda texts=texts: fill(texts, args.threads)))  # type: ignore[misc]
    lines = [
        [f"{row['bytes'] / 1e6:,.0f} MB", f"{row['documents']:,}", f"{row['found']:,}",
         f"{row['often']:,}"]
        for row in found
    ]  # fmt: skip
    if len(found) > 1 and found[-1]["bytes"] > found[-2]["bytes"]:
        lines += [extrapolated(found, megabytes) for megabytes in (1000, 100_000)]
    notes = [
        f"{path.name} (SHA-256 {identity(path)[:12]}), from its beginning; balanced",
        rows.about(),
        command("fill", arguments),
    ]
    write_table(args.out, Table("What a corpus can fill", claim(__doc__), HEAD, lines, notes))


if __name__ == "__main__":
    main()
