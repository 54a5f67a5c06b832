"""Claim: further training aids add nothing to "composed, words first".

    python runs/aids.py --documents 8000 --shape 3 128 256 --batch 16 --seeds 0 1

Each row adds one thing to the best aid: phrases that are still read as words to the end, or again
at the end, or own rows that learn late; and vocabularies with more words. Differences are means
over the seeds, text by text. The texts decide, so none of them is test text; "words only" is the
same model on text that is encoded without phrases. A small model only gives hints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lm import VALIDATION, WORDS_ONLY, Models
from lm_jobs import BEST_AID, BPE, MORE_AIDS, job, model_options
from lm_tables import against, bits, difference_cell, known_tests, mean_against, notes
from rows import Figures, claim, command, write_table
from supratok.lab.report.tables import NOTHING, Table

SIZE, SHAPE, RATE, BUDGET = 8_000, (3, 128), 2e-3, 500_000
TODAY = f"balanced + {BEST_AID}"
ROWS = [
    BPE, TODAY, *(f"balanced + {aid}" for aid in MORE_AIDS), f"price 10 + {BEST_AID}",
]  # fmt: skip
TESTS = [
    "deciding", "held out", VALIDATION, f"{VALIDATION}, natural spelling", f"held out{WORDS_ONLY}",
]  # fmt: skip
Rows = Mapping[int, Figures]  # by seed


def over(rows: Rows, others: Rows, test: str) -> str:
    """How many more bits than other rows of the same seeds, and the same for each seed."""
    seeds = [seed for seed in rows if seed in others and rows[seed] is not others[seed]]
    if not seeds:
        return NOTHING
    mean = mean_against([rows[seed] for seed in seeds], [others[seed] for seed in seeds], test)
    each = ", ".join(f"{against(rows[seed], others[seed], test).value:+.2%}" for seed in seeds)
    return f"{difference_cell(mean)}; {each}"


def line(row: str, found: Mapping[str, Rows], tests: Sequence[str]) -> list[str]:
    rows = found[row]
    density = next(iter(rows.values()))["tests"][tests[0]]["characters_per_token"]
    cells = []
    for test in tests:
        mean = sum(bits(one, test) for one in rows.values()) / len(rows)
        cells += [
            f"{mean:.4f}", over(rows, found.get(BPE, {}), test),
            NOTHING if row == BPE else over(rows, found.get(TODAY, {}), test),
        ]  # fmt: skip
    return [row, str(len(rows)), f"{density:.3f}", *cells]


def main(arguments: list[str] | None = None) -> None:
    parser = model_options(
        "Bits per character by further training aids.", "aids", SIZE, SHAPE, RATE, ROWS
    )
    parser.add_argument("--budget", type=int, default=BUDGET, help="tokens")
    parser.set_defaults(tests=TESTS)
    args = parser.parse_args(arguments)
    models, seeds = Models(args), args.seeds or [0]
    jobs = {(row, seed): job(row, args, args.budget, seed) for seed in seeds for row in args.only}
    done = models.rows_of(list(jobs.values()))
    found: dict[str, dict[int, Figures]] = {}
    for (row, seed), one in jobs.items():
        if one in done:
            found.setdefault(row, {})[seed] = done[one]
    tests = known_tests(args.tests, list(done.values()))
    head = ["tokenizer", "seeds", f"C/T, {tests[0]}"] + [
        cell for test in tests for cell in (test, f"over {BPE}", "over today's aids")
    ]  # fmt: skip
    table = Table(
        f"Further training aids: {args.size:,} tokens, {args.budget / 1e6:g} M read",
        claim(__doc__), head, [line(row, found, tests) for row in found],
        [*notes(models, list(done.values())),
         "after a semicolon: each seed; today's aids: composed, words first, over balanced",
         command("aids", arguments)],
    )  # fmt: skip
    write_table(args.out, table)


if __name__ == "__main__":
    main()
