"""Claim: words stop gaining from more text sooner than phrases do.

    python runs/saturation.py

Trains on samples of the corpus (by hash), with words alone (`crossover=1.0`) and with phrases, and
measures on the same held-out documents, which none of them learns from.
"""

from __future__ import annotations

from rows import (
    ENGLISH,
    Rows,
    claim,
    command,
    held_out,
    identity,
    located,
    number,
    options,
    percent,
    ratio,
    write_table,
)
from supratok import Recipe, train
from supratok.corpus import open_corpus
from supratok.lab.measure.rows import Figures
from supratok.lab.report.tables import Table

HEAD = [
    "documents", "text", "words alone", "to half the text", "`balanced`", "to half the text",
    "phrases over words", "phrases in it",
]  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    parser = options("Characters per token against the size of the corpus.", "saturation", 100_000)
    parser.add_argument("--halvings", type=int, default=5, help="of the corpus (default: 5)")
    args = parser.parse_args(arguments)
    corpus, rows = located(args.corpus, ENGLISH), Rows(args.out, args.again)
    documents = held_out(corpus)
    whole = sum(1 for _ in open_corpus(corpus))
    sizes = [whole >> halving for halving in range(args.halvings, -1, -1)]
    (size,) = args.sizes

    def measured(recipe: Recipe, most: int) -> Figures:
        tokenizer = train(corpus, recipe, args.threads, progress=False, max_documents=most)
        usage = tokenizer.usage(documents, args.threads)
        return {
            "held_out": ratio(documents, int(usage.sum())),
            "characters": tokenizer.report["characters"],
            "phrases": tokenizer.report["born"].get("multiword", 0),
        }

    lines: list[list[str]] = []
    before: list[float | None] = [None, None]
    for most in sizes:
        found = []
        for name, recipe in (("words", Recipe(vocab_size=size, crossover=1.0)),
                             ("balanced", Recipe.balanced(size))):  # fmt: skip
            asked = {
                "row": f"{name}, {most} documents", "corpus": identity(corpus), "most": most,
                "recipe": recipe.to_dict(),
            }  # fmt: skip
            found.append(rows.get(asked, lambda recipe=recipe, most=most: measured(recipe, most)))  # type: ignore[misc]
        words, both = (one["held_out"] for one in found)
        lines.append([
            f"{most:,}", f"{found[0]['characters'] / 1e6:,.0f} M characters",
            number(words), percent(words, before[0]), number(both), percent(both, before[1]),
            percent(both, words), f"{found[1]['phrases']:,}",
        ])  # fmt: skip
        before = [words, both]
    notes = [
        f"{corpus.name} (SHA-256 {identity(corpus)[:12]}); {size:,} tokens; characters per token of"
        f" {len(documents):,} held-out documents",
        rows.about(),
        command("saturation", arguments),
    ]
    table = Table("Characters per token against text", claim(__doc__), HEAD, lines, notes)
    write_table(args.out, table)


if __name__ == "__main__":
    main()
