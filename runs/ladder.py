"""Claim: the cost of phrases in bits per character changes with the budget of tokens.

    python runs/ladder.py
    python runs/ladder.py --budgets 8000000 16000000 --only BPE-Bytes-GPT4o default

One small model (6L-384d, 32,000 tokens) for each tokenizer and budget, each with its own schedule;
then models of other sizes at one budget; then the last budget again at equal text instead of equal
tokens. (With equal shapes and vocabularies, equal tokens are equal computation.) The paper's budget
is 10 billion tokens.
"""

from __future__ import annotations

from dataclasses import replace

from lm import Models
from lm_jobs import BEST_AID, BPE, Job, job, model_options, row_name
from lm_tables import against, bits, compared, known_tests, notes
from rows import Figures, claim, command, write_table
from supratok.lab.lm.experiment import Setting, matched
from supratok.lab.report import pictures
from supratok.lab.report.tables import Table
from variants import RATE, SHAPE, SIZE

BUDGETS = [8_000_000, 32_000_000, 128_000_000]
ROWS = [BPE, "default", f"default + {BEST_AID}"]
# Other models at one budget: layers, width, rate.
SHAPES = [(3, 192, 3e-3), (12, 768, 1e-3)]
SHAPES_AT = 32_000_000
TESTS = ("held out", "WikiText-103 test", "BBC", "LAMBADA")
HEAD = ["model", "tokens read", "protocol", "tokenizer", "characters read"]


def other_shapes(jobs: list[Job]) -> list[Job]:
    """The same jobs with models of other sizes."""
    found = []
    for layers, width, rate in SHAPES:
        for one in jobs:
            plan = replace(one.setting.plan, rate=rate)
            setting = replace(one.setting, plan=plan, layers=layers, width=width)
            found.append(replace(one, setting=setting))
    return found


def same_text(jobs: list[Job], done: dict[Job, Figures]) -> list[Job]:
    """The same jobs for as much text as BPE reads in its budget."""
    found = []
    for one in jobs:
        base = base_of(one, done)
        if one.name == BPE or base is None or one not in done:
            continue
        rounds = round(base["round"]), round(done[one]["round"])
        plan = matched(one.setting.plan, "text", tokens=rounds)
        found.append(replace(one, setting=replace(one.setting, plan=plan)))
    return found


def line(
    one: Job, found: Figures, base: Figures | None, protocol: str, tests: list[str]
) -> list[str]:
    setting = one.setting
    seed = f", seed {setting.plan.seed}" if setting.plan.seed else ""
    return [
        f"{setting}{seed}", f"{found['tokens'] / 1e6:.1f} M", protocol,
        row_name(one), f"{found['characters'] / 1e6:,.0f} M",
        *compared(found, base, tests),
    ]  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    parser = model_options(
        "Bits per character by budget and size of model.", "ladder", SIZE, SHAPE, RATE, ROWS
    )
    add = parser.add_argument
    add("--budgets", type=int, nargs="+", default=BUDGETS, metavar="TOKENS")
    add("--shapes-at", type=int, default=SHAPES_AT, metavar="TOKENS", help="0: no other shapes")
    args = parser.parse_args(arguments)
    models, seeds = Models(args), args.seeds or [0]

    def rung(budget: int) -> list[Job]:
        return [job(row, args, budget, seed) for seed in seeds for row in args.only]

    last = rung(args.budgets[-1])
    shapes = other_shapes(rung(args.shapes_at)) if args.shapes_at else []
    ladder = [one for budget in args.budgets for one in rung(budget)]
    found = models.rows_of([*ladder, *shapes])
    equal = models.rows_of(same_text(last, found))
    tests = known_tests(args.tests or TESTS, [*found.values(), *equal.values()])
    head = HEAD + [
        cell for test in tests for cell in (f"{test} bits/character", f"over {BPE}")
    ]  # fmt: skip
    lines = [line(one, row, base_of(one, found), "tokens", tests) for one, row in found.items()]
    for one, row in equal.items():
        plan = replace(one.setting.plan, tokens=args.budgets[-1])
        base = base_of(replace(one, setting=replace(one.setting, plan=plan)), found)
        lines.append(line(one, row, base, "text", tests))
    table = Table(
        f"Budgets: {args.size:,} tokens in the vocabulary", claim(__doc__), head, lines,
        [*notes(models, [*found.values(), *equal.values()]),
         "protocol: the same number of tokens, as in the paper, or as much text as"
         f" {BPE} reads in its budget; characters read: an estimate where phrases are split",
         command("ladder", arguments)],
    )  # fmt: skip
    write_table(args.out, table, drawn({one: found[one] for one in ladder if one in found}))


def base_of(one: Job, found: dict[Job, Figures]) -> Figures | None:
    """The row of BPE with the same model, budget and seed."""
    setting = Setting(one.setting.plan, one.setting.layers, one.setting.width, one.setting.context)
    return found.get(Job(BPE, one.size, setting))


def drawn(found: dict[Job, Figures]) -> dict[str, str]:
    """Pictures over the budget: the difference from BPE, and the bits."""
    more: dict[str, dict[int, float]] = {}
    plain: dict[str, dict[int, float]] = {}
    bands: dict[str, dict[int, tuple[float, float]]] = {}
    for one, row in found.items():
        base = base_of(one, found)
        if one.setting.plan.seed or base is None:
            continue
        name, tokens = row_name(one), row["tokens"]
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
