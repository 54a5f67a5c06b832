"""Claim: some phrases cost a model bits, others pay, and training aids reduce the cost.

    python runs/variants.py
    python runs/variants.py --only balanced "balanced + shared" --budget 16000000

Small models (6L-384d) over vocabularies of 32,000, all with the same budget of tokens, as in the
paper. Each recipe changes one option; supratok.lab.lm.parts explains the training aids. Choose by
the half of the held-out documents that decides; the other half and WikiText-103 test are for the
figures.
"""

from __future__ import annotations

from lm import Models
from lm_jobs import AIDS, BEST_AID, BPE, MORE_AIDS, job, model_options
from lm_tables import bits, compared, notes
from rows import Figures, claim, command, write_table
from supratok.lab.report import pictures
from supratok.lab.report.tables import Table

SIZE, SHAPE, RATE, BUDGET = 32_000, (6, 384), 2e-3, 32_000_000
OTHER_AID = "composed, split 30% fading"
ROWS = [
    BPE, "plain", "balanced", "balanced, fewest", "dense", "SuperBPE", "price 3", "price 10",
    "PMI 2", "PMI 4", "300 documents", "boundary 5", "boundary 6.5", "whole words", "careful",
    *(f"balanced + {aid}" for aid in AIDS if aid not in MORE_AIDS),
    *(f"{name} + {BEST_AID}" for name in ("balanced, fewest", "boundary 6.5")),
    *(f"{name} + {OTHER_AID}"
      for name in ("balanced, fewest", "SuperBPE", "price 10", "PMI 4", "careful")),
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
        "Bits per character by recipe and training aid.", "variants", SIZE, SHAPE, RATE, ROWS
    )
    parser.add_argument("--budget", type=int, default=BUDGET, help="tokens")
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
    """Bits against density, a point for each row: one picture of recipes, one of training aids."""
    points = {
        row: (figures["tests"]["held out"]["characters_per_token"], bits(figures, "held out"))
        for row, figures in found.items()
    }
    recipes = {row: point for row, point in points.items() if " + " not in row}
    aids = {short(row): point for row, point in points.items() if " + " in row}
    if aids:
        aids |= {row: points[row] for row in (BPE, "balanced") if row in points}
    return {
        f"{name}.svg": pictures.trade(
            some, title="Bits per character against density, held-out documents",
            x="characters per token", y="bits per character (lower is better)",
            strong=["balanced", short(f"balanced + {BEST_AID}")],
        )
        for name, some in (("recipes", recipes), ("aids", aids)) if len(some) > 1
    }  # fmt: skip


def short(row: str) -> str:
    """A name that fits into a picture: without "balanced" and "composed"."""
    name, _, aid = row.partition(" + ")
    name = name.removeprefix("balanced").removeprefix(", ")
    return ": ".join(part for part in (name, aid.removeprefix("composed, ")) if part)


if __name__ == "__main__":
    main()
