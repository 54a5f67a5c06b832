"""Claim: tuning by the score of Equation 4 finds recipes that are better by more than chance.

    python runs/tuning.py --documents 5000

A study as in Appendix B, with sizes and a model for one processor (`--space`, `--model-tokens` and
`--width` make it larger). Then the script measures the best trials again, and for contrast the
worst that was not pruned, with other seeds and on the half of the held-out documents that decided
nothing.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from statistics import mean

from rows import (
    ENGLISH,
    Figures,
    Rows,
    claim,
    command,
    first_documents,
    identity,
    located,
    options,
    trained,
    write_table,
)
from supratok.formats.peer import open_any
from supratok.lab.lm.validation import with_threads
from supratok.lab.report.tables import Table
from supratok.lab.tuning import tune
from supratok.lab.tuning.measure import Setting, measure, read_texts, reference
from supratok.lab.tuning.score import Measured, Weights, score
from supratok.lab.tuning.space import PAPER, Range, Space, read_space, recipe_of
from supratok.lab.tuning.study import Trial, best
from supratok.lab.tuning.table import write_outcome
from supratok.tokenizer import usable_threads

# Five sizes: the paper's divided by 40. PMI and count: the paper's ranges.
SPACE: Space = PAPER | {"vocab_size": Range(4_000, 8_000, 1_000)}
HEAD = ["trial", "recipe", "score in the study", "measured again", "with each seed", "C/T",
        "bits/character"]  # fmt: skip


def chosen(trials: list[Trial], count: int) -> list[Trial]:
    """The best trials and the worst of those that were not pruned, each recipe once."""
    whole = [trial for trial in trials if not trial.pruned and trial.same_as is None]
    order = sorted(whole, key=lambda trial: -trial.score)
    return list({trial.number: trial for trial in [*order[:count], *order[-1:]]}.values())


def repeat(trial: Trial, setting: Setting, folder: Path) -> Figures:
    """A trial again, with the seed of the setting and on documents that decided nothing."""
    recipe, texts = recipe_of(setting.preset, trial.values), read_texts(setting, measuring=True)
    folder.mkdir(parents=True, exist_ok=True)
    held = reference(recipe.vocab_size, texts, setting, folder)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "tokenizer.json")
        trained(setting.corpus, recipe, setting.threads)[0].save(path)
        found = measure(open_any(path), texts, setting, against=held)
    return {**asdict(found), "score": score(found, held.rungs[-1], setting.weights)}


def repeated(args: argparse.Namespace, setting: Setting, trials: list[Trial]) -> Table:
    folder: Path = args.out / "repeats"
    rows = Rows(folder, args.again)
    lines = []
    for trial in chosen(trials, args.best):
        found: list[Figures] = []
        for seed in range(setting.seed + 1, setting.seed + 1 + args.seeds):
            other = replace(setting, seed=seed)
            asked = {
                "row": f"trial {trial.number}, seed {seed}",
                "corpus": [identity(path) for path in setting.corpus],
                "model": [setting.tokens, setting.width],
                "recipe": recipe_of(setting.preset, trial.values).to_dict(),
                "weights": asdict(setting.weights),
            }
            compute = (lambda one, how: lambda: repeat(one, how, folder / f"seed-{how.seed}"))(
                trial, other
            )
            found.append(rows.get(asked, compute))
        lines.append(_line(trial, found))
    notes = [
        "held-out documents that decided nothing; other seeds of model and order",
        rows.about(),
    ]
    return Table("Trials measured again", claim(__doc__), HEAD, lines, notes, higher=[2, 3])


def _line(trial: Trial, found: list[Figures]) -> list[str]:
    one = [Measured(*(row[name] for name in ("compression", "perplexity", "latency")))
           for row in found]  # fmt: skip
    return [
        str(trial.number),
        ", ".join(f"{name} {value:g}" for name, value in trial.values.items()),
        f"{trial.score:.4f}",
        f"{mean(row['score'] for row in found):.4f}",
        ", ".join(f"{row['score']:.4f}" for row in found),
        f"{one[0].compression:.3f}",
        f"{mean(row.bits_per_character for row in one):.3f}",
    ]


def main(arguments: list[str] | None = None) -> None:
    parser = options("A study of recipes, and its best trials measured again.", "tuning")
    add = parser.add_argument
    add("--trials", type=int, default=30, metavar="N")
    add("--space", action="append", default=[], metavar="NAME=LOW:HIGH[:STEP]")
    add("--preset", default="default")
    add("--weights", nargs=3, type=float, default=[1.0, 1.0, 1.0], metavar=("A", "B", "G"))
    add("--model-tokens", type=int, default=150_000, metavar="N")
    add("--width", type=int, default=64, metavar="W")
    add("--jobs", type=int, default=1, metavar="N")
    add("--device", default="auto")
    add("--best", type=int, default=3, metavar="N", help="trials to measure again (default: 3)")
    add("--seeds", type=int, default=2, metavar="N", help="seeds for each (default: 2)")
    args = parser.parse_args(arguments)
    corpus = first_documents(located(args.corpus, ENGLISH), args.documents, args.out)
    setting = Setting(
        corpus=[corpus],
        preset=args.preset,
        space=read_space(args.space, args.preset, SPACE),
        weights=Weights(*args.weights),
        tokens=args.model_tokens,
        width=args.width,
        trials=args.trials,
        jobs=args.jobs,
        threads=args.threads,
        device=args.device,
    )
    study = args.out / "study"
    if args.again:
        shutil.rmtree(study, ignore_errors=True)
    trials = tune(setting, study, progress=True)
    table = write_outcome(setting, trials, study)
    print(table.markdown(), flush=True)
    print(f"best: trial {best(trials).number}; measuring again", file=sys.stderr)
    with with_threads(usable_threads(setting.threads)):
        again = repeated(args, setting, trials)
    write_table(
        args.out / "repeats", replace(again, notes=[*again.notes, command("tuning", arguments)])
    )


if __name__ == "__main__":
    main()
