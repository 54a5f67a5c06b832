"""Claim: which phrases cost a model bits, which pay, and whether training can be helped.

    python runs/variants.py
    python runs/variants.py --only default "default + shared" --budget 16000000

A small model (6L-384d) over vocabularies of 32,000, all with the same budget of tokens, as in the
paper. Recipes differ in one thing each; helps are those of supratok.lab.lm.parts. The half of the
held-out documents that decides is for choosing among them; the other half and WikiText-103 test
tell what came of it.
"""

from __future__ import annotations

from lm import BEST_HELP, BPE, HELPS, Models, bits, compared, job, model_options, notes, row_name
from rows import Figures, claim, command, write_table
from supratok.lab.report import pictures
from supratok.lab.report.tables import Table

SIZE, SHAPE, RATE, BUDGET = 32_000, (6, 384), 2e-3, 32_000_000
OTHER_HELP = "composed, split 30% fading"
ROWS = [
    BPE, "plain", "default", "default, fewest", "dense", "SuperBPE", "price 3", "price 10", "PMI 2",
    "PMI 4", "300 documents", "boundary 5", "boundary 6.5", "whole words", "careful",
    *(f"default + {help}" for help in HELPS),
    *(f"{name} + {BEST_HELP}" for name in ("default, fewest", "boundary 6.5")),
    *(f"{name} + {OTHER_HELP}"
      for name in ("default, fewest", "SuperBPE", "price 10", "PMI 4", "careful")),
]  # fmt: skip
HEAD = [
    "recipe", "C/T, held out", "deciding bits/character", f"over {BPE}",
    "held out", f"over {BPE}", "WikiText-103 test", f"over {BPE}", "tokens/s",
]  # fmt: skip


def line(row: str, found: Figures, base: Figures | None) -> list[str]:
    cells = compared(found, base, ("deciding", "held out", "WikiText-103 test"))
    density = found["tests"]["held out"]["characters_per_token"]
    return [row, f"{density:.3f}", *cells, f"{found['tokens'] / found['seconds']:,.0f}"]


def main(arguments: list[str] | None = None) -> None:
    parser = model_options(
        "Bits per character by recipe and by help.", "variants", SIZE, SHAPE, RATE
    )
    add = parser.add_argument
    add("--only", nargs="+", type=row_name, default=ROWS, metavar="ROW", help="RECIPE [+ HELP]")
    add("--budget", type=int, default=BUDGET, help="tokens")
    args = parser.parse_args(arguments)
    models, seeds = Models(args), args.seeds or [0]
    jobs = {(row, seed): job(row, args, args.budget, seed) for seed in seeds for row in args.only}
    done = models.rows_of(list(jobs.values()))
    found = {key: done[one] for key, one in jobs.items() if one in done}
    lines = [
        line(row if len(seeds) < 2 else f"{row}, seed {seed}", figures, found.get((BPE, seed)))
        for (row, seed), figures in found.items()
    ]
    table = Table(
        f"Which phrases pay: {args.size:,} tokens, {args.budget / 1e6:g} M read", claim(__doc__),
        HEAD, lines, [*notes(models, list(found.values())), command("variants", arguments)],
    )  # fmt: skip
    write_table(args.out, table, drawn({row: figures for (row, _), figures in found.items()}))


def drawn(found: dict[str, Figures]) -> dict[str, str]:
    """Bits against density, a point for each row: of recipes, and of helps."""
    points = {
        row: (figures["tests"]["held out"]["characters_per_token"], bits(figures, "held out"))
        for row, figures in found.items()
    }
    recipes = {row: point for row, point in points.items() if " + " not in row}
    helps = {short(row): point for row, point in points.items() if " + " in row}
    if helps:
        helps |= {row: points[row] for row in (BPE, "default") if row in points}
    return {
        f"{name}.svg": pictures.trade(
            some, title="Bits per character against density, held-out documents",
            x="characters per token", y="bits per character (lower is better)",
            strong=["default", short(f"default + {BEST_HELP}")],
        )
        for name, some in (("recipes", recipes), ("helps", helps)) if len(some) > 1
    }  # fmt: skip


def short(row: str) -> str:
    """A name that fits into a picture: helps compose and are for the default, unless said."""
    name, _, help = row.partition(" + ")
    name = name.removeprefix("default").removeprefix(", ")
    return ": ".join(part for part in (name, help.removeprefix("composed, ")) if part)


if __name__ == "__main__":
    main()
