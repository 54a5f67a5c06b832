"""Claim: a model whose tokenizer is extended by phrases loses little if a sample of text sets the
level of the new tokens, and regains it soon.

    python runs/extend_model.py
    python runs/extend_model.py --model FOLDER --add 20000 --budgets 10000000
    python runs/extend_model.py --documents 99800 --size 32000 --shape 12 768 1024 --batch 32 \\
        --tokens 300000000 --rate 0.001 --add 20000 --budgets 3000000 10000000 30000000

The first trains a small model over plain BPE, extends its tokenizer and continues its training from
each start: two minutes each on two cores. The second takes any causal model of `transformers`, the
third is for a GPU. The control is the same model with its old tokenizer and the same continued
training, measured after as many tokens, and after as much text as the extended model has read.
"""

from __future__ import annotations

import argparse
import functools
import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from extend_base import Ground
from extend_lm import bits, teach
from rows import Figures, Rows, claim, command, options, percent, write_table
from supratok.extending import start_embeddings
from supratok.extending.starts import STARTS
from supratok.lab.lm.coder import Coder
from supratok.lab.lm.stream import Stream
from supratok.lab.lm.training import Plan
from supratok.lab.report import pictures
from supratok.lab.report.tables import Table

CONTROL = "not extended"
SAMPLED = " + sample"
ROWS = [*STARTS, *(f"{start}{SAMPLED}" for start in STARTS)]
BUDGETS = [100_000, 400_000, 1_000_000]


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = options("What a model loses when it is extended, and regains.", "extend_model")
    parser.set_defaults(documents=20_000)
    add = parser.add_argument
    add("--only", nargs="+", default=ROWS, choices=ROWS, metavar="START", help=", ".join(ROWS))
    add("--model", type=Path, help="folder of a transformers model (default: train a small one)")
    add("--size", type=int, default=8_000, help="tokens of the base that is trained")
    add("--shape", type=int, nargs=3, default=[4, 192, 256],
        metavar=("LAYERS", "WIDTH", "CONTEXT"))  # fmt: skip
    add("--untied", action="store_true", help="train a base whose output has rows of its own")
    add("--tokens", type=int, default=1_500_000, help="that the base reads")
    add("--rate", type=float, default=2e-3, help="highest learning rate of the base")
    add("--add", type=int, default=4_000, help="phrases to add")
    add("--sample", type=int, default=20_000, metavar="TOKENS",
        help="of training text, for the levels of new tokens")  # fmt: skip
    add("--budgets", type=int, nargs="+", default=BUDGETS, metavar="TOKENS",
        help="at which continued training is measured")  # fmt: skip
    add("--more-rate", type=float, default=2e-4, help="learning rate of continued training")
    add("--batch", type=int, default=16, help="windows in a step")
    add("--measured", type=int, default=100_000, metavar="CHARACTERS", help="of held-out text")
    add("--seeds", type=int, nargs="+", default=[0], help="of the order of texts")
    add("--device", default="auto", help="default: cuda where there is a GPU, otherwise cpu")
    add("--prepare", action="store_true", help="make the base and the extension only")
    add("--cache", type=Path, default=Path("build/baselines"), help="folder of trained baselines")
    return parser.parse_args(arguments)


# --- Rows


class Run:
    """Continued training from each start, measured at each budget."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args, self.ground = args, Ground(args)
        self.rows = Rows(args.out, args.again)

    def row(self, name: str, seed: int) -> Figures:
        args = self.args
        names = ("add", "sample", "budgets", "more_rate", "batch", "measured")
        asked = {
            "row": f"{name}, seed {seed}", "base": self.ground.asked, "seed": seed,
            **{key: getattr(args, key) for key in names},
        }  # fmt: skip
        return self.rows.get(asked, functools.partial(self._computed, name, seed))

    def _computed(self, name: str, seed: int) -> Figures:
        ground, extended = self.ground, name != CONTROL
        coder = ground.coder(ground.extended if extended else ground.base)
        model = self._started(name) if extended else ground.model()
        found: Figures = {}

        def measure(*budgets: int) -> None:
            now = self._measured(model, coder)
            found.update({str(tokens): now for tokens in budgets})

        measure(0)
        budgets = self._budgets(extended)
        plan = Plan(
            tokens=max(budgets), batch=self.args.batch, rate=self.args.more_rate, warm_up=0.05,
            last_rate=1.0, seed=seed,
        )  # fmt: skip
        stream = Stream(ground.longer[extended], coder.end, seed)
        steps = {tokens: replace(plan, tokens=tokens).steps(ground.context) for tokens in budgets}
        rungs = {
            step: functools.partial(measure, *(one for one in budgets if steps[one] == step))
            for step in steps.values()
        }
        teach(model, plan, stream, ground.context, ground.device, rungs)
        return {"at": found, "characters": ground.density(extended)}

    def _started(self, name: str) -> Any:
        ground, model = self.ground, self.ground.model().to(self.ground.device)
        sample = ground.sample if name.endswith(SAMPLED) else None
        start_embeddings(model, ground.extended, name.removesuffix(SAMPLED), sample=sample)  # type: ignore[arg-type]
        return model

    def _budgets(self, extended: bool) -> list[int]:
        """The control is measured at the same tokens, and on the same text."""
        budgets: list[int] = self.args.budgets
        return budgets if extended else sorted({*budgets, *map(self.same_text, budgets)})

    def same_text(self, tokens: int) -> int:
        """The base's tokens of the text that so many tokens of the extended tokenizer hold."""
        return round(tokens * self.ground.density(True) / self.ground.density(False))

    def _measured(self, model: Any, coder: Coder) -> Figures:
        ground = self.ground
        found = bits(model, coder, ground.texts["held out"], ground.context, ground.device)
        return {"bits": found.per_character, "tokens": sum(found.tokens)}


def of(rows: Sequence[Figures], tokens: int) -> float:
    """Bits per character after so many tokens: the mean over seeds."""
    return statistics.fmean(row["at"][str(tokens)]["bits"] for row in rows)


def spread(rows: Sequence[Figures], tokens: int) -> float:
    """The largest difference between seeds."""
    values = [row["at"][str(tokens)]["bits"] for row in rows]
    return float(max(values) - min(values))


# --- The table


def line(name: str, rows: list[Figures], control: list[Figures], run: Run) -> list[str]:
    last, extended = max(run.args.budgets), name != CONTROL
    tokens, old = (one[0]["at"]["0"]["tokens"] for one in (rows, control))
    at = [of(rows, budget) for budget in (0, *run.args.budgets)]
    text = of(control, run.same_text(last))
    return [
        name, f"{tokens:,} ({tokens / old - 1:+.1%})" if extended else f"{tokens:,}",
        *(f"{value:.4f}" for value in at), percent(at[0], of(control, 0)) if extended else "-",
        percent(at[-1], of(control, last)) if extended else "-",
        percent(at[-1], text) if extended else f"({text:.4f})",
    ]  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    args = parsed(arguments)
    torch.set_num_threads(args.threads or torch.get_num_threads())
    run = Run(args)
    if args.prepare:
        raise SystemExit(f"{run.ground.base}, {run.ground.extended}: finished")
    found = {name: [run.row(name, seed) for seed in args.seeds] for name in [CONTROL, *args.only]}
    control, last = found[CONTROL], max(args.budgets)
    head = [
        "start of new rows", "tokens of held-out text", "bits/character at the start",
        *(f"after {budget / 1e6:g} M tokens" for budget in args.budgets), "lost at the start",
        f"after {last / 1e6:g} M, over the control", "the same, control on the same text",
    ]  # fmt: skip
    lines = [line(name, rows, control, run) for name, rows in found.items()]
    table = Table(
        f"Extended by {len(run.ground.extension.tokens):,} phrases", claim(__doc__), head, lines,
        [*notes(run, found), command("extend_model", arguments)],
    )  # fmt: skip
    write_table(args.out, table, {"extend.svg": drawn(found, args.budgets)})


def notes(run: Run, found: dict[str, list[Figures]]) -> list[str]:
    args, ground = run.args, run.ground
    base = str(args.model) if args.model else (
        f"GPT-2 of {args.shape[0]}L-{args.shape[1]}d, context {args.shape[2]},"
        f" {'untied' if args.untied else 'tied'}, over BPE of {args.size:,}; it has read"
        f" {args.tokens / 1e6:g} M tokens"
    )  # fmt: skip
    size = sum(map(len, ground.texts["held out"]))
    most = max(spread(rows, max(args.budgets)) for rows in found.values())
    return [
        f"base: {base}; {ground.whole.name}, the first {args.documents:,} documents: half for the"
        " base, half for continued training",
        f"held out: {size:,} characters that decided nothing; control: {CONTROL}, the same"
        f" continued training at a rate of {args.more_rate:g}; sample: {args.sample:,} tokens",
        f"seeds: {', '.join(map(str, args.seeds))}; largest difference between them:"
        f" {most:.4f} bits per character",
        run.rows.about(),
    ]


def drawn(found: dict[str, list[Figures]], budgets: list[int]) -> str:
    series = {
        name: {budget: of(rows, budget) for budget in budgets} for name, rows in found.items()
    }
    return pictures.sweep(
        series, title="Bits per character after an extension, by continued training",
        unit="bits per character", across="tokens read after the extension", strong=[CONTROL],
    )  # fmt: skip


if __name__ == "__main__":
    main()
