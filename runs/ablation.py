"""Claim: each component of the paper earns its place (its Table 3).

    python runs/ablation.py --documents 50000         # as many as in the paper

One `replace` takes a component out of a base recipe, or puts it in as in Recipe.paper where the
base lacks it. The change is in characters per token: negative where taking out loses density.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rows import English, claim, command, number, options, percent, write_table
from supratok import Recipe
from supratok.lab.bench import OURS
from supratok.lab.report import pictures
from supratok.lab.report.tables import Table

BASES = ("balanced", "paper")
# For each component: the option, its value without the component, the paper's change (Table 3).
COMPONENTS: dict[str, tuple[str, Any, str]] = {
    "curriculum": ("curriculum", False, "-5.8%"),
    "cross-boundary": ("crossover", 1.0, "-6.1%"),
    "entropy filtering": ("curation", None, "-2.9%"),
    "script-aware": ("scripts", None, "-2.4%"),
    "PMI seeds": ("seeds", None, "-2.0%"),
    "expressions": ("expressions", None, "-"),
    "screen": ("screen", None, "-"),
}
HEAD = ["base", "change", "WikiText-103", "change", "held out", "change", "paper, taken out",
        "seconds"]  # fmt: skip


def variants(base: Recipe) -> Iterator[tuple[str, Recipe, str]]:
    """Each change of one component, its recipe, and the paper's figure."""
    full = Recipe.paper(base.vocab_size)
    for component, (name, without, paper) in COMPONENTS.items():
        if getattr(base, name) != without:
            yield f"without {component}", replace(base, **{name: without}), paper
        elif getattr(full, name) != without:
            yield f"put in: {component}", replace(base, **{name: getattr(full, name)}), paper


def lines_of(base: str, recipe: Recipe, english: English) -> Iterator[list[str]]:
    whole = english.row(base, recipe)
    yield [
        base, "-", number(whole["test"]), "-", number(whole["held_out"]), "-", "(5.951)",
        number(whole["seconds"], ".1f"),
    ]  # fmt: skip
    for change, variant, paper in variants(recipe):
        found = english.row(f"{base} {change}", variant)
        yield [
            base, change, number(found["test"]), percent(found["test"], whole["test"]),
            number(found["held_out"]), percent(found["held_out"], whole["held_out"]),
            paper, number(found["seconds"], ".1f"),
        ]  # fmt: skip


def drawn(lines: list[list[str]]) -> dict[str, str]:
    """The changes of each base as bars."""
    columns = {"WikiText-103": 3, "held out": 5, "the paper, taken out": 6}
    return {
        f"{base}.svg": pictures.bars(
            {
                line[1]: {
                    name: float(line[column].rstrip("%")) / 100
                    for name, column in columns.items()
                    if line[column] != "-"
                }
                for line in lines
                if line[0] == base and line[1] != "-"
            },
            title=f"The change by one component of the recipe {base!r}",
            paper=["the paper, taken out"],
        )
        for base in dict.fromkeys(line[0] for line in lines)
    }


def main(arguments: list[str] | None = None) -> None:
    parser = options("The worth of each component, beside the paper's.", "ablation", 100_000)
    parser.add_argument("--only", nargs="+", choices=BASES, default=list(BASES))
    args = parser.parse_args(arguments)
    english, (size,) = English(args), args.sizes
    lines = [line for base in args.only for line in lines_of(base, OURS[base](size), english)]
    notes = [
        f"{size:,} tokens; `put in` adds what the base lacks, so there a gain is positive",
        "seeds matter only with a screen: without one every pair is allowed",
        "the paper's figures (Table 3) are of 50,000 other documents at 100,000 tokens",
    ]
    table = Table(
        "Components taken out (Table 3)", claim(__doc__), HEAD, lines,
        [*english.about(), *notes, command("ablation", arguments)], paper=[6], grouped=True,
    )  # fmt: skip
    write_table(args.out, table, drawn(lines))


if __name__ == "__main__":
    main()
