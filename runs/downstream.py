"""Claim: at the same budget of tokens, models over our tokens are better (paper, Tables 8 to 11).

    python runs/downstream.py
    python runs/downstream.py --only balanced BPE-Bytes-GPT4o --budget 10000000

A 12L-768d model for each tokenizer, all with vocabularies of the same size. For each model: bits
per character and perplexity of WikiText-103 test (Table 10), HellaSwag and MMLU by the likelihood
of the joined text (Tables 8 and 9), the variety of its samples (Table 11), and the time and energy
of its training (Table 2). The paper trains on 10 billion tokens, with a vocabulary of 256,000.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from lm import Models
from lm_jobs import BEST_AID, BPE, Job, job, model_options
from lm_tables import bits, difference_cell, mean_against, notes, spread
from rows import Figures, claim, command, located, number, write_table
from supratok.lab.lm.coder import Coder
from supratok.lab.lm.generation import distinct, first_words, sample
from supratok.lab.lm.likelihood import endings
from supratok.lab.lm.seeds import paired
from supratok.lab.lm.tasks import (
    Accuracy,
    Item,
    accuracy,
    compared,
    hellaswag,
    is_right,
    mmlu,
    questions,
)
from supratok.lab.report import pictures
from supratok.lab.report.tables import NOTHING, Table

SIZE, BUDGET = 50_000, 20_000_000
BEST = f"balanced + {BEST_AID}"
MAIN = [BPE, BEST]  # with every seed
ROWS = [
    *MAIN, "balanced", "balanced, fewest", "SuperBPE", "plain", "without curriculum",
    "with entropy filtering",
]  # fmt: skip
SAMPLES, SAMPLE_TOKENS, SAMPLE_WORDS = 1_000, 100, 50
# Paper, Table 9: HellaSwag and MMLU. Table 8 repeats the first and the last.
PAPER_TASKS = {
    "balanced": (35.3, 27.9), "without curriculum": (33.2, 26.1), "plain": (33.4, 26.3),
    BPE: (32.0, 25.5),  # and without entropy filtering 34.2 and 27.0: ours has none to take out
}  # fmt: skip
PAPER_BITS = {"balanced": (24.31, 0.92, 847), BPE: (26.89, 1.01, 1109)}  # Table 10
PAPER_DISTINCT = {"balanced": (0.67, 0.89, 0.94), BPE: (0.65, 0.87, 0.93)}  # Table 11
WIKITEXT = "WikiText-103 test"


# --- Further measures


class Tasks:
    """HellaSwag, MMLU and samples. The items are read while a model trains."""

    def __init__(self, args: argparse.Namespace) -> None:
        shots = f", {args.shots} shots" if args.shots else ""
        self.__name__ = f"tasks{shots}" + (f", {args.items} items" if args.items else "")
        self._hellaswag = located(args.hellaswag, "test/hellaswag/hellaswag_val.jsonl.zst")
        self._mmlu = located(args.mmlu, "test/mmlu/mmlu.tar.zst")
        self._items, self._shots, self._room = args.items, args.shots, args.shape[2] - 1
        self._pool = ThreadPoolExecutor(1)
        self._ready: dict[str, Future[dict[str, list[Item]]]] = {}

    def prepare(self, coder: Coder) -> Future[dict[str, list[Item]]]:
        name = coder.peer.name
        if name not in self._ready:
            self._ready[name] = self._pool.submit(self._made, coder)
        return self._ready[name]

    def _made(self, coder: Coder) -> dict[str, list[Item]]:
        return {
            "HellaSwag": hellaswag(self._hellaswag)[: self._items],
            "MMLU": mmlu(self._mmlu, coder, self._room, shots=self._shots)[: self._items],
        }

    def __call__(self, model: Any, coder: Coder, device: str) -> Figures:
        found: Figures = {}
        for name, items in self.prepare(coder).result().items():
            scores = endings(model, coder, questions(items), device)
            right = is_right(items, scores, by="characters" if name == "HellaSwag" else "whole")
            found[name] = {
                "right": "".join("01"[one] for one in right.tolist()),
                "inside": sum(score[0].inside for score in scores) / len(scores),
                "cut": sum(score[0].cut > 0 for score in scores),
                "left_out": sum(item.left_out for item in items),
            }
        texts = sample(
            model, coder, [""] * min(SAMPLES, self._items or SAMPLES), SAMPLE_TOKENS, device=device
        )
        words = first_words(texts, SAMPLE_WORDS)
        return {
            **found,
            "distinct": [distinct(texts, n) for n in (1, 2, 3)],
            "distinct_cut": [distinct(words, n) for n in (1, 2, 3)],
            "samples": texts[:5],
        }


def right(row: Figures, task: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.array([one == "1" for one in row[task]["right"]], dtype=np.bool_)


# --- The tables

By = Mapping[str, Sequence[Figures]]  # the seeds of each row


def table_2(found: By, model: str) -> Table:
    """The time and energy of each run."""
    head = ["tokenizer", "seed", "model", "parameters", "tokens", "seconds", "tokens/s", "hardware",
            "kWh of the card", "CO2, kg (estimate)"]  # fmt: skip
    lines = [
        [name, str(seed), model, f"{row['parameters']:,}", f"{row['tokens'] / 1e6:.1f} M",
         f"{row['seconds']:.0f}", f"{row['tokens'] / row['seconds']:,.0f}", f"1x {row['device']}",
         number(row["kilowatt_hours"], ".4f"), number(row["carbon"], ".4f")]
        for name, seeds in found.items() for seed, row in enumerate(seeds)
    ]  # fmt: skip
    lines += [
        ["the paper", NOTHING, "12L-768d", "282,450,432", "10,000 M", f"{21 * 3600:,}", NOTHING,
         "8x A100", NOTHING, "24"],
        ["the paper", NOTHING, "24L-1024d", "565,504,000", "30,000 M", f"{79 * 3600:,}", NOTHING,
         "8x A100", NOTHING, "90"],
    ]  # fmt: skip
    return Table(
        "Time and energy of training (Table 2)", "Time and energy of each run.", head, lines,
        aside=[len(lines) - 2, len(lines) - 1],
    )  # fmt: skip


def table_8(found: By) -> Table:
    """Accuracy of the main pair."""
    head = ["task", "tokenizer", "accuracy by seed", "95% interval", "better than chance (25%)?",
            f"less {BPE}, same items", "p (McNemar)", "prompts cut inside a token",
            "paper"]  # fmt: skip
    lines = []
    for place, task in enumerate(("HellaSwag", "MMLU")):
        for name, seeds in found.items():
            known = [accuracy(right(row, task)) for row in seeds]
            base = found[BPE][0] if BPE in found and name != BPE else None
            less = compared(right(seeds[0], task), right(base, task)) if base else None
            paper = PAPER_TASKS.get(name)
            low, high = known[0].interval
            lines.append([
                task, name, ", ".join(f"{one.share:.1%}" for one in known),
                f"{low:.1%} to {high:.1%}",
                better(known),
                f"{less.difference:+.1%} ({less.interval.low:+.1%} to {less.interval.high:+.1%})"
                if less else NOTHING,
                f"{less.p:.3f}" if less else NOTHING,
                f"{seeds[0][task]['inside']:.1%}",
                f"{paper[place]:.1f}%" if paper else NOTHING,
            ])  # fmt: skip
    return Table("HellaSwag and MMLU (Tables 8 and 9)", claim(__doc__), head, lines, paper=[8])


def better(known: Sequence[Accuracy]) -> str:
    """Whether accuracy is above chance, by the intervals of all seeds. A model that always answers
    the same letter may even be below."""
    above = [one.interval.low > one.chance for one in known]
    below = all(one.interval.high < one.chance for one in known)
    if not any(above):
        return "no: below" if below else "no: chance"
    return "yes" if all(above) else "with some seeds"


def table_10(found: By) -> Table:
    head = ["tokenizer", "bits/character", f"over {BPE}", "p over seeds", "perplexity of a token",
            "tokens a document", "held out bits/character", f"over {BPE}", "paper PPL", "BPC",
            "tokens a document"]  # fmt: skip
    lines = []
    for name, seeds in found.items():
        base = found.get(BPE) if name != BPE else None
        # Each seed is compared with the same seed of the baseline.
        pairs = list(zip(seeds, base or (), strict=False))
        ours, theirs = [one for one, _ in pairs], [other for _, other in pairs]
        cells = []
        for test in (WIKITEXT, "held out"):
            more = difference_cell(mean_against(ours, theirs, test)) if pairs else NOTHING
            cells.append((spread([bits(row, test) for row in seeds]), more))
        test_of = [[bits(row, WIKITEXT) for row in some] for some in (ours, theirs)]
        chance = f"{paired(*test_of).p:.3f}" if len(pairs) > 1 else NOTHING
        known = seeds[0]["tests"][WIKITEXT]
        paper = PAPER_BITS.get(name)
        lines.append([
            name, *cells[0], chance,
            spread([row["tests"][WIKITEXT]["perplexity"] for row in seeds], ".2f"),
            f"{known['tokens_per_text']:,.0f}", *cells[1],
            *([f"{paper[0]}", f"{paper[1]}", f"{paper[2]:,}"] if paper else [NOTHING] * 3),
        ])  # fmt: skip
    return Table("Bits per character of WikiText-103 test (Table 10)", claim(__doc__), head, lines,
                 paper=[8, 9, 10])  # fmt: skip


def table_11(found: By) -> Table:
    head = ["tokenizer", "distinct-1", "-2", "-3",
            f"first {SAMPLE_WORDS} words: distinct-1", "-2", "-3", "paper -1", "-2",
            "-3"]  # fmt: skip
    lines = []
    for name, seeds in found.items():
        cells = [
            spread([row[kind][n] for row in seeds], ".3f")
            for kind in ("distinct", "distinct_cut") for n in range(3)
        ]  # fmt: skip
        paper = PAPER_DISTINCT.get(name)
        lines.append([name, *cells, *([str(one) for one in paper] if paper else [NOTHING] * 3)])
    return Table("How varied samples are (Table 11)", claim(__doc__), head, lines, paper=[7, 8, 9])


def drawn(models: Models, done: Mapping[str, tuple[Job, Figures]]) -> dict[str, str]:
    """The training losses, in bits per character so that they compare."""
    curves: dict[str, dict[int, float]] = {}
    for name, (one, row) in done.items():
        density = models.density(one, row)
        step = max(1, len(row["curve"]) // 12)
        points = row["curve"][step - 1 :: step]
        width = row["curve"][0][0]  # a loss is the mean since the point before
        curves[name] = {
            int(tokens): loss / np.log(2) / density(tokens - width / 2) for tokens, loss in points
        }
    if not curves:
        return {}
    return {
        "loss.svg": pictures.sweep(
            curves, title="Bits per character of the training text, during training",
            unit="bits per character", across="tokens read", strong=[BEST],
        )
    }  # fmt: skip


# --- The run


def main(arguments: list[str] | None = None) -> None:
    parser = model_options(
        "Models of 12 layers over tokenizers of one size.", "downstream", SIZE, (12, 768), 1e-3,
        ROWS,
    )  # fmt: skip
    add = parser.add_argument
    add("--budget", type=int, default=BUDGET, help="tokens")
    add("--hellaswag", type=Path, help="its file (default: from SUPRATOK_DATA)")
    add("--mmlu", type=Path, help="its archive (default: from SUPRATOK_DATA)")
    add("--items", type=int, help="items of each task, for a quick run (default: all)")
    add("--shots", type=int, default=0, help="answered questions before each of MMLU (default: 0)")
    args = parser.parse_args(arguments)
    models, tasks = Models(args), Tasks(args)
    budget, seeds = args.budget, args.seeds or [0, 1]
    order = [(row, seed) for seed in seeds for row in args.only if seed == seeds[0] or row in MAIN]
    jobs = {key: job(key[0], args, budget, key[1]) for key in order}
    setting = jobs[order[0]].setting
    done = models.rows_of(list(jobs.values()), tasks)
    found: dict[str, list[Figures]] = {}
    first: dict[str, tuple[Job, Figures]] = {}
    for (row, _), one in jobs.items():
        if one in done:
            found.setdefault(row, []).append(done[one])
            first.setdefault(row, (one, done[one]))
    about = [
        f"{setting}, {args.size:,} tokens in the vocabulary, {budget / 1e6:g} M tokens"
        f" read: the paper's 10,000 M are {1e10 / budget:,.0f} times as many, of 256,000",
        *notes(models, [row for seeds_of in found.values() for row in seeds_of]),
        command("downstream", arguments),
    ]
    tables = {
        "table-2": table_2(found, str(setting)),
        "table-8": table_8(found),
        "table-10": table_10(found),
        "table-11": table_11(found),
    }
    for name, table in tables.items():
        folder = args.out / name
        folder.mkdir(parents=True, exist_ok=True)
        table.notes.extend(about)
        write_table(folder, table, drawn(models, first) if name == "table-10" else None)


if __name__ == "__main__":
    main()
