"""Claim: what phrases cost or gain in bits per character changes with the budget of tokens.

    python runs/ladder.py
    python runs/ladder.py --budgets 8000000 16000000 --only BPE-Bytes-GPT4o default

One small model (6L-384d, 32,000 tokens) for each tokenizer and budget, each with its own schedule;
then models of other sizes at one budget; then the last budget once more for the same raw text
instead of the same number of tokens. The paper's budget is 10 billion tokens.
"""

from __future__ import annotations

from dataclasses import replace

from lm import BPE, Job, Models, against, bits, model_options, told
from rows import Figures, claim, command, write_table
from supratok.lab import pictures
from supratok.lab.lm.experiment import Setting, matched
from supratok.lab.tables import NOTHING, Table
from variants import HELPS, SIZE, job, notes

BUDGETS = [4_000_000, 8_000_000, 16_000_000, 32_000_000, 64_000_000, 128_000_000]
ROWS = [BPE, "default", "default + shared"]
# Other models at one budget: layers, width, rate.
SHAPES = [(3, 192, 3e-3), (12, 768, 1e-3)]
SHAPES_AT = 32_000_000
TESTS = ("held out", "WikiText-103 test")
HEAD = [
    "model", "tokens read", "protocol", "tokenizer", "characters read",
    *(cell for test in TESTS for cell in (f"{test} bits/character", f"over {BPE}")),
]  # fmt: skip


def ladder(rows: list[str], budgets: list[int], seeds: list[int], size: int) -> list[Job]:
    return [
        job(row, size, budget, seed) for budget in budgets for seed in seeds for row in rows
    ]  # fmt: skip


def other_shapes(rows: list[str], budget: int, seeds: list[int], size: int) -> list[Job]:
    found = []
    for layers, width, rate in SHAPES:
        for seed in seeds:
            for row in rows:
                one = job(row, size, budget, seed)
                plan = replace(one.setting.plan, rate=rate)
                setting = replace(one.setting, plan=plan, layers=layers, width=width)
                found.append(replace(one, setting=setting))
    return found


def same_text(models: Models, jobs: list[Job]) -> list[Job]:
    """The same for as much raw text as BPE reads in its budget."""
    found = []
    for one in jobs:
        if one.name == BPE:
            continue
        rounds = [
            sum(len(ids) + 1 for ids in models.ahead(name, one.size).result())
            for name in (BPE, one.name)
        ]
        shapes = [one.setting.shape(models.coder(name, one.size)) for name in (BPE, one.name)]
        plan = matched(one.setting.plan, "text", (shapes[0], shapes[1]), (rounds[0], rounds[1]))
        found.append(replace(one, setting=replace(one.setting, plan=plan)))
    return found


def called(one: Job) -> str:
    """A row's name: the tokenizer, and after a + the help."""
    help = {"splitting": one.setting.splitting, "phrases": one.setting.phrases}
    for name, changes in HELPS.items():
        if {"splitting": 0.0, "phrases": "chance", **changes} == help:
            return f"{one.name} + {name}"
    return one.name


def line(one: Job, found: Figures, base: Figures | None, protocol: str) -> list[str]:
    cells = []
    for test in TESTS:
        more = told(against(found, base, test)) if base and base is not found else NOTHING
        cells += [f"{bits(found, test):.4f}", more]
    setting = one.setting
    seed = f", seed {setting.plan.seed}" if setting.plan.seed else ""
    return [
        f"{setting.layers}L-{setting.width}d{seed}", f"{found['tokens'] / 1e6:.1f} M", protocol,
        called(one), f"{found['characters'] / 1e6:,.0f} M", *cells,
    ]  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    parser = model_options("Bits per character over budgets and sizes of models.", "ladder")
    add = parser.add_argument
    add("--only", nargs="+", default=ROWS, metavar="ROW", help="as in runs/variants.py")
    add("--size", type=int, default=SIZE)
    add("--budgets", type=int, nargs="+", default=BUDGETS, metavar="TOKENS")
    add("--shapes-at", type=int, default=SHAPES_AT, metavar="TOKENS", help="0: no other shapes")
    args = parser.parse_args(arguments)
    models, seeds = Models(args), args.seeds or [0]
    budgets = [round(budget * args.scale) for budget in args.budgets]
    jobs = ladder(args.only, budgets, seeds, args.size)
    if args.shapes_at:
        jobs += other_shapes(args.only, round(args.shapes_at * args.scale), seeds, args.size)
    found = models.rows_of(jobs)
    last = [one for one in jobs if one.setting.plan.tokens == budgets[-1]]
    equal = models.rows_of(same_text(models, [one for one in last if one.setting.layers == 6]))
    lines = [line(one, row, base_of(one, found), "tokens") for one, row in found.items()]
    for one, row in equal.items():
        base = base_of(replace(one, setting=replace(one.setting, plan=last[0].setting.plan)), found)
        lines.append(line(one, row, base, "text"))
    table = Table(
        f"Budgets: {args.size:,} tokens in the vocabulary", claim(__doc__), HEAD, lines,
        [*notes(models, [*found.values(), *equal.values()]),
         "protocol: the same number of tokens, as in the paper, or as much raw text as"
         f" {BPE} reads in its budget",
         command("ladder", arguments)],
    )  # fmt: skip
    write_table(args.out, table, drawn(found))


def base_of(one: Job, found: dict[Job, Figures]) -> Figures | None:
    """What BPE does with the same model, budget and seed."""
    setting = Setting(one.setting.plan, one.setting.layers, one.setting.width, one.setting.context)
    return found.get(Job(BPE, one.size, setting))


def drawn(found: dict[Job, Figures]) -> dict[str, str]:
    """The difference to BPE over the budget, and the bits themselves."""
    more: dict[str, dict[int, float]] = {}
    plain: dict[str, dict[int, float]] = {}
    bands: dict[str, dict[int, tuple[float, float]]] = {}
    for one, row in found.items():
        base = base_of(one, found)
        if one.setting.layers != 6 or one.setting.plan.seed or base is None:
            continue
        name, tokens = called(one), row["tokens"]
        plain.setdefault(name, {})[tokens] = bits(row, "held out")
        if row is not base:
            one_more = against(row, base, "held out")
            more.setdefault(name, {})[tokens] = one_more.value * 100
            bands.setdefault(name, {})[tokens] = (one_more.low * 100, one_more.high * 100)
    if not more:
        return {}
    across = "tokens read (the paper: 10,000 M)"
    return {
        "ladder.svg": pictures.sweep(
            more, title=f"Bits per character over {BPE}, by budget",
            unit=f"% more bits than {BPE} (below 0: fewer)", across=across, bands=bands,
        ),
        "bits.svg": pictures.sweep(
            plain, title="Bits per character, by budget", unit="bits per character",
            across=across, strong=["default"],
        ),
    }  # fmt: skip


if __name__ == "__main__":
    main()
