"""`supratok tune`: search for the recipe with the best score on your corpus (paper 3.5).

supratok tune corpus/*.jsonl.zst --out study
supratok tune corpus/*.jsonl.zst --out study --trials 200 --jobs 2
supratok tune corpus.jsonl --space vocab_size=16000:32000:4000 --space phrase_price=1:3:0.5 --out s
supratok train corpus/*.jsonl.zst --recipe study/recipe.toml --out my.json

Run it again to resume, up to --trials in all.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..common.files import refuse_overwriting_in, refuse_unwritable
from ..common.threads import usable_threads
from ..lab.report.tables import FILES as FILES_OF_TABLES
from ..lab.tuning.measure import Setting
from ..lab.tuning.score import Weights
from ..lab.tuning.space import PAPER, read_space
from ..recipe import PRESETS
from .common import FILES, corpus_files
from .estimate import FACTOR, corpus_text, count, note, rough_time


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(
        interrupted="interrupted; finished trials are kept, run it again to resume"
    )
    add = command.add_argument
    add("files", nargs="+", metavar="FILES", help=FILES)
    add(
        "--out",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="the folder for the study and its results",
    )
    add(
        "--trials",
        type=int,
        default=100,
        metavar="N",
        help="number of trials in all, earlier runs included (default: 100)",
    )
    space = " ".join(f"{name}={found}" for name, found in PAPER.items())
    add(
        "--space",
        action="append",
        default=[],
        metavar="RANGE",
        help="values to try: NAME=LOW:HIGH[:STEP] or NAME=VALUE for any number in a recipe, or a"
        " TOML file of such lines; may be repeated; changes or extends the default (default:"
        f" {space})",
    )
    add(
        "--preset",
        choices=PRESETS,
        default="default",
        help="the preset that recipes start from (default: default)",
    )
    add(
        "--width",
        type=int,
        default=256,
        metavar="W",
        help="width of the validation model (default: 256)",
    )
    add(
        "--model-tokens",
        type=int,
        default=2_000_000,
        metavar="N",
        help="number of tokens that the model learns from (default: 2000000)",
    )
    add(
        "--weights",
        nargs=3,
        type=float,
        default=[1.0, 1.0, 1.0],
        metavar=("A", "B", "G"),
        help="weights of compression, perplexity and latency in the score; with G=0 scores are"
        " reproducible (default: 1 1 1)",
    )
    add("--seed", type=int, default=0, metavar="N", help="the random seed (default: 0)")
    add(
        "--jobs",
        type=int,
        default=1,
        metavar="N",
        help="number of trials at a time, each in a process (default: 1)",
    )
    add(
        "--threads",
        type=int,
        metavar="N",
        help="number of threads of each job (default: cores / jobs)",
    )
    add(
        "--device",
        default="auto",
        metavar="D",
        help="where the model learns: cpu, cuda, or auto for a GPU if there is one (default: auto)",
    )
    add("--quiet", action="store_true", help="print only errors and the table")


def run(args: argparse.Namespace) -> None:
    from ..lab.tuning import tune
    from ..lab.tuning.table import REPORT, WINNER, write_outcome

    setting = setting_of(args)
    refuse_unwritable(args.out, f"--out {args.out}")
    refuse_overwriting_in(args.out, (*FILES_OF_TABLES, WINNER, REPORT), corpus_files(args.files))
    if not args.quiet:
        _announce(setting)
    trials = tune(setting, args.out, progress=not args.quiet)
    print(write_outcome(setting, trials, args.out).markdown(), end="")
    if not args.quiet:
        print(f"{args.out / WINNER}: for `supratok train --recipe`", file=sys.stderr)
        print(f"{args.out / REPORT}: open it in a browser, or send it", file=sys.stderr)


def _announce(setting: Setting) -> None:
    """Print how long the study takes; standard input has no known size."""
    from ..lab.lm.validation import device_of
    from ..lab.tuning.estimate import estimate_trial, models

    text = corpus_text(setting.corpus)
    if text is None:
        return
    threads = setting.threads or max(1, usable_threads(None) // setting.jobs)
    device = device_of(setting.device)
    trial = estimate_trial(setting, text, threads, device == "cpu")
    study = trial * models(setting) / setting.jobs
    without = "" if device == "cpu" else f" without the models, which learn on {device}"
    note(
        f"{count(setting.trials, 'trial')} in all (--trials), earlier runs included; a trial takes"
        f" about {rough_time(trial)} and the study {rough_time(study)}{without}, {FACTOR}; trials"
        " that are cut short take less"
    )


def setting_of(args: argparse.Namespace) -> Setting:
    return Setting(
        corpus=[Path(name) for name in args.files],
        preset=args.preset,
        space=read_space(args.space, args.preset),
        weights=Weights(*args.weights),
        tokens=args.model_tokens,
        width=args.width,
        seed=args.seed,
        trials=args.trials,
        jobs=args.jobs,
        threads=args.threads,
        device=args.device,
    )
