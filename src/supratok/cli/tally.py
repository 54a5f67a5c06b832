"""`supratok tally`: count what training needs from a part of the text, into a counts file.

supratok tally part-1.jsonl.zst --out part-1.counts                    # the first reading: words
supratok tally part-1.jsonl.zst --plan my.json.plan --out part-1-runs.counts         # a later one
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..common.progress import make_progress
from ..readings.open import keeping_for
from ..readings.plans import read_plan
from ..readings.tally import Part, tally, tally_words
from ..recipe import PRESETS, Recipe
from ..tokenizer import usable_threads
from .common import (
    Job,
    add_job_arguments,
    add_memory_argument,
    add_split_arguments,
    check_writable,
    reading_of,
    split_of,
)

NOTES = (
    "Count each part of the text once, anywhere, with the same options; add the files up with"
    " `supratok merge`, and train with `supratok train --counts`. docs/counts.md describes the"
    " files."
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add(
        "--plan",
        type=Path,
        metavar="FILE",
        help="count the reading that `supratok train --counts` asks for (default: words)",
    )
    start = command.add_mutually_exclusive_group()
    start.add_argument(
        "--recipe",
        type=Path,
        metavar="FILE",
        help="the recipe to train by, of which words need the scripts and the curation"
        " (default: none)",
    )
    start.add_argument(
        "--preset", choices=PRESETS, default="default", help="the same, by name (default: default)"
    )
    add_split_arguments(command)
    add_memory_argument(command)
    add_job_arguments(command, "counts file to write")


def run(args: argparse.Namespace) -> None:
    recipe = Recipe.from_toml(args.recipe) if args.recipe else Recipe.from_preset(args.preset)
    threads, job, split = usable_threads(args.threads), Job(args), split_of(args)
    check_writable(args.out, job.reads(args.recipe, args.plan))
    files, hold_out = job.corpus.files, split.pop("hold_out")
    options = {**reading_of(args), **split}
    with (
        make_progress(job.options["progress"]) as shown,
        keeping_for(args.memory, threads) as keeping,
    ):
        if args.plan:
            reading, rule = read_plan(args.plan)
            part = Part(tuple(files), options, rule.curation, rule.hold_out)
            tally(part, reading, args.out, threads, shown, keeping)
            phase = reading.phase
        else:
            _refuse_shares(recipe)
            part = Part(tuple(files), options, recipe.curation, hold_out)
            phase = tally_words(part, recipe, args.out, threads, shown, keeping).phase
    size = args.out.stat().st_size
    job.finish({"reading": phase, "bytes": size}, f"{phase}: {size:,} bytes,", {}, [])


def _refuse_shares(recipe: Recipe) -> None:
    if recipe.curation is not None and recipe.curation.by_quantile:
        raise ValueError(
            "curation by_quantile needs all documents at once: find the thresholds with"
            " `supratok curate`, and set low and high in bits"
        )
