"""Claim: rules by script and language are worth 11.9% (the paper's Table 1).

    python runs/languages.py

Tokenizers over seven languages, with the recipe's `scripts` and without; characters per token of
FLORES-200 devtest, line by line, and of held-out documents, by language.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from statistics import mean

from rows import (
    Figures,
    Rows,
    claim,
    command,
    documents_used,
    first_documents,
    held_out,
    identity,
    located,
    number,
    options,
    percent,
    ratio,
    trained,
    write_table,
)
from supratok import Recipe
from supratok.lab.bench import OURS
from supratok.lab.report import pictures
from supratok.lab.report.tables import Table

BASES = ("balanced", "paper")
# Paper, Table 1: characters per token without and with the rules.
PAPER = {
    "zh": (1.21, 1.36), "ja": (1.58, 1.83), "th": (2.34, 2.71), "ko": (2.09, 2.26),
    "tr": (4.89, 5.42), "fi": (4.71, 5.18), "ar": (3.12, 3.45),
}  # fmt: skip
HEAD = [
    "recipe", "language", "FLORES without", "with", "difference", "held out without", "with",
    "difference", "paper without", "with", "difference",
]  # fmt: skip

Texts = dict[str, list[str]]  # by language


def measure(corpora: list[Path], recipe: Recipe, tests: dict[str, Texts],
            threads: int | None) -> Figures:  # fmt: skip
    """Characters per token by kind of text and language."""
    tokenizer, seconds = trained(corpora, recipe, threads)
    figures: Figures = {"seconds": seconds}
    for kind, by_language in tests.items():
        figures[kind] = {
            language: ratio(texts, int(tokenizer.usage(texts, threads).sum()))
            for language, texts in by_language.items()
        }
    return figures


def lines_of(base: str, without: Figures, with_: Figures, languages: list[str]) -> list[list[str]]:
    """A line for each language, and one of averages."""
    lines: list[list[str]] = [[base, language] for language in [*languages, "average"]]
    paper_without, paper_with = ({code: PAPER[code][side] for code in languages} for side in (0, 1))
    for before, after in (
        (without["flores"], with_["flores"]),
        (without["held_out"], with_["held_out"]),
        (paper_without, paper_with),
    ):
        for line, code in zip(lines, languages, strict=False):
            line += [number(before[code]), number(after[code]), percent(after[code], before[code])]
        average = mean(after[code] / before[code] for code in languages) - 1
        lines[-1] += [*(number(mean(side.values())) for side in (before, after)), f"{average:+.1%}"]
    return lines


def drawn(base: str, lines: list[list[str]]) -> str:
    """FLORES-200 by language, with the rules and without, ours and the paper's."""
    columns = {"without": 2, "with": 3, "the paper without": 8, "the paper with": 9}
    items = {
        line[1]: {name: float(line[column]) for name, column in columns.items()} for line in lines
    }
    return pictures.languages(
        items, title=f"Characters per token of FLORES-200, recipe {base!r}: script rules",
        paper=list(columns)[2:],
    )  # fmt: skip


class Seven:
    """The corpora and test texts by language, and the rows."""

    def __init__(self, args: argparse.Namespace) -> None:
        folder, test = located(args.corpus, "train/ml"), located(args.test, "test/flores200")
        wholes = [located(folder / f"{code}.jsonl.zst", "") for code in args.languages]
        sentences = [located(test / f"{code}.devtest", "") for code in args.languages]
        self.corpora = [first_documents(path, args.documents, args.out) for path in wholes]
        self.rows, self.threads = Rows(args.out, args.again), args.threads
        self.tests: dict[str, Texts] = {
            "flores": {path.stem: path.read_text("utf-8").splitlines() for path in sentences},
            "held_out": dict(zip(args.languages, map(held_out, self.corpora), strict=True)),
        }
        self.asked = {
            "corpus": [identity(path) for path in wholes],
            "documents": args.documents,
            "test": [identity(path) for path in sentences],
        }

    def row(self, name: str, recipe: Recipe) -> Figures:
        return self.rows.get(
            {**self.asked, "row": name, "recipe": recipe.to_dict()},
            lambda: measure(self.corpora, recipe, self.tests, self.threads),
        )


def main(arguments: list[str] | None = None) -> None:
    parser = options(
        "Script rules on and off by language, beside the paper's.", "languages", 100_000
    )
    parser.add_argument("--only", nargs="+", choices=BASES, default=list(BASES))
    parser.add_argument("--languages", nargs="+", choices=list(PAPER), default=list(PAPER))
    args = parser.parse_args(arguments)
    seven, shown = Seven(args), {}
    lines: list[list[str]] = []
    for base in args.only:
        recipe = OURS[base](*args.sizes)
        with_ = seven.row(base, recipe)
        without = seven.row(f"{base} without script rules", replace(recipe, scripts=None))
        own = lines_of(base, without, with_, args.languages)
        lines, shown[f"{base}.svg"] = lines + own, drawn(base, own)
    notes = [
        f"{documents_used(args.documents)} of {', '.join(args.languages)}; {args.sizes[0]:,} tokens"
        " in all",
        "FLORES-200 devtest by line; held out: documents of the corpora that decided nothing",
        "averages: of the figures, and of the differences; the paper's (Table 1) are of other"
        " training text (CulturaX)",
        seven.rows.about(),
        command("languages", arguments),
    ]
    table = Table(
        "Script rules by language (Table 1)", claim(__doc__), HEAD, lines, notes,
        paper=[8, 9, 10], grouped=True,
    )  # fmt: skip
    write_table(args.out, table, shown)


if __name__ == "__main__":
    main()
