"""`supratok train`: learn a tokenizer from text.

supratok train corpus/*.jsonl.zst --vocab-size 100000 --out my.json
supratok train corpus/*.jsonl.zst --vocab-size 100000 --preset paper --out paper.json
supratok train corpus/*.jsonl.zst --recipe my.toml --out my.json
supratok train corpus/*.jsonl.zst --memory 8GB --work work --out my.json     # large text, resumable
supratok train s3://texts/*.jsonl.zst --engine ray --address auto --out my.json
supratok train --counts all.counts --out my.json                             # no text here
supratok train corpus/*.jsonl.zst --target tickets.jsonl --out my.json       # to serve tickets
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from pathlib import Path
from typing import Any

from ..common.files import STANDARD_OUTPUT
from ..corpus import Languages
from ..readings.open import ENGINES, shares_of
from ..recipe import PRESETS, VOCAB_SIZE, Boundaries, Recipe
from ..tokenizer import Tokenizer
from ..train import ShortVocabularyWarning, shortfall, train, train_from_counts
from .common import (
    Job,
    add_job_arguments,
    add_memory_argument,
    add_split_arguments,
    add_target_arguments,
    check_writable,
    split_of,
    target_of,
)
from .estimate import announce_training, estimate_from_sample
from .summary import summary_of

# Choice: bytes of files from which on a run keeps its work, unless told.
_LONG = 1 << 30

_PRESETS = """start from this recipe. "default" is for training models: it encodes by merges, as BPE
does, and keeps the phrases that bring three quarters of the saving. "balanced" keeps nearly all of
them. "dense" finds the fewest tokens, also on small corpora; training takes several times as long,
and models find its rare phrases harder. "paper" is the method of the paper. docs/choosing.md has
figures (default: default)"""


def add_arguments(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add(
        "--vocab-size",
        type=int,
        metavar="N",
        help="number of tokens, bytes and special tokens included; one for every 2 to 4 kB of text"
        f" is a good size (default: {VOCAB_SIZE}, or that of --recipe)",
    )
    start = command.add_mutually_exclusive_group()
    start.add_argument(
        "--recipe",
        type=Path,
        metavar="FILE",
        help="read the recipe from this TOML file (default: none)",
    )
    start.add_argument("--preset", choices=PRESETS, help=_PRESETS)
    add(
        "--segmentation",
        choices=["merges", "fewest"],
        help="apply merges in rank order, or find the fewest tokens (default: the recipe's)",
    )
    add(
        "--boundaries",
        choices=["open", "careful", "clauses"],
        help="open: phrases may cross punctuation; careful: not the end of a sentence, a colon or a"
        " number; clauses: no punctuation before a space (default: the recipe's)",
    )
    add(
        "--character-coverage",
        type=float,
        metavar="SHARE",
        help="encode the rarest characters, beyond this share, as bytes (default: the recipe's)",
    )
    add(
        "--crossover",
        type=float,
        metavar="SHARE",
        help="the share of the vocabulary after which phrases begin (default: found in training)",
    )
    add(
        "--saving",
        type=float,
        metavar="SHARE",
        help="of the tokens that phrases could save, save this share: with less, phrases are fewer"
        " and each is more frequent; 0 is plain BPE (default: 0.75, or that of the recipe)",
    )
    add(
        "--special-token",
        action="append",
        metavar="T",
        help="reserve an id for this text; may be repeated (default: the recipe's)",
    )
    add(
        "--lang-key",
        default="lang",
        metavar="KEY",
        help="the key or column of the language in JSON and parquet (default: lang)",
    )
    add(
        "--lang",
        action="append",
        metavar="CODE[=FILES]",
        help="the language of records that name none: of all, or of files by a pattern; may be"
        " repeated (default: found from the text)",
    )
    add(
        "--counts",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="train from these counts files of `supratok tally`, instead of text (default: none)",
    )
    add_target_arguments(command)
    add(
        "--work",
        type=Path,
        metavar="FOLDER",
        help="keep finished work in this folder, so that the same command goes on after a crash"
        f" (default: OUT.work for more than {_LONG >> 30} GB of files, else none)",
    )
    add("--keep-work", action="store_true", help="do not remove the work folder at the end")
    add_memory_argument(command)
    add(
        "--reread",
        action="store_true",
        help="read the text again for each pass (default: keep it, as numbers, on disk)",
    )
    add_split_arguments(command)
    add(
        "--engine",
        choices=ENGINES,
        default="local",
        help="where to count: on this machine, or on a Ray cluster (default: local)",
    )
    add("--address", metavar="A", help="the address of the cluster (default: one on this machine)")
    add(
        "--dry-run",
        action="store_true",
        help="train nothing: estimate time, memory and disk from a sample",
    )
    add_job_arguments(command, files="*")


def run(args: argparse.Namespace) -> None:
    recipe = recipe_of(args)
    if bool(args.counts) == bool(args.files):
        raise ValueError("name the files to train on, or --counts; one of them")
    job, target = Job(args), target_of(args)
    check_writable(args.out, job.reads(args.recipe, *(args.counts or ())))
    planned = recipe.for_target() if target else recipe
    if args.dry_run:
        _dry_run(args, job, planned)
        return
    if not args.counts:
        announce_training(job, planned)
    learn = _from_counts if args.counts else _from_text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShortVocabularyWarning)  # the summary says it
        tokenizer = learn(args, job, recipe)
    if args.quiet and (reason := shortfall(recipe, tokenizer.vocab_size)):
        print(f"warning: {reason}", file=sys.stderr)
    job.save(tokenizer, "learnt", summary_of(tokenizer))


def _dry_run(args: argparse.Namespace, job: Job, recipe: Recipe) -> None:
    if args.counts:
        raise ValueError("--dry-run estimates from text; training from --counts takes less")
    in_memory, _ = shares_of(args.memory)
    if args.work or _default_work(args, job):
        in_memory = 0
    if args.reread or args.engine != "local":
        in_memory = sys.maxsize
    split = split_of(args)
    estimate_from_sample(
        job, recipe, most_documents=split["max_documents"] or math.inf,
        most_bytes=split["max_bytes"] or math.inf, in_memory=in_memory,
    )  # fmt: skip


def _from_text(args: argparse.Namespace, job: Job, recipe: Recipe) -> Tokenizer:
    lang = _languages(args.lang or [])
    work = args.work or _default_work(args, job)
    if work is not None:
        if work.resolve() in args.out.resolve().parents:
            raise ValueError(
                f"--out {args.out}: lies in the work folder, which is removed at the end"
            )
        args.interrupted = f"interrupted; {work} keeps what is done, and the same command goes on"
    return train(
        job.files, recipe, **job.options, lang_key=args.lang_key, lang=lang, **split_of(args),
        target=target_of(args), memory=args.memory, work=work, keep_work=args.keep_work,
        reread=args.reread, engine=args.engine, address=args.address,
    )  # fmt: skip


def _default_work(args: argparse.Namespace, job: Job) -> Path | None:
    """Where a long run keeps its work, if nobody said."""
    sizes = job.corpus.sizes()
    is_long = sizes is not None and sizes.total() > _LONG
    if args.engine != "local" or args.reread or not is_long or str(args.out) == STANDARD_OUTPUT:
        return None
    return Path(f"{args.out}.work")


def _from_counts(args: argparse.Namespace, job: Job, recipe: Recipe) -> Tokenizer:
    from ..readings.files import NotCounted
    from ..readings.plans import write_plan

    try:
        return train_from_counts(
            args.counts, recipe, **job.options, target=target_of(args), memory=args.memory
        )
    except NotCounted as missing:
        plan = Path(f"{args.out}.plan")
        write_plan(plan, missing.reading, missing.split)
        raise ValueError(
            f"the recipe needs one more reading of the text, '{missing.reading.phase}': run"
            f" `supratok tally --plan {plan} --out NAME.counts TEXT` where the text is, and"
            " `supratok train` again with these files added to --counts"
        ) from None


def _languages(options: list[str]) -> Languages:
    """ "tr" is the language of all files, "tr=data/tr/*" of some; the first match wins."""
    codes: dict[str, str] = {}
    for option in options:
        code, _, pattern = option.partition("=")
        codes[pattern or "*"] = code
    return codes or None


def recipe_of(args: argparse.Namespace) -> Recipe:
    """The command line overrides the file or the preset, which override the defaults."""
    chosen: dict[str, Any] = {
        "vocab_size": args.vocab_size,
        "segmentation": args.segmentation,
        "boundaries": args.boundaries and getattr(Boundaries, args.boundaries)(),
        "character_coverage": args.character_coverage,
        "crossover": args.crossover,
        "saving": args.saving,
        "special_tokens": args.special_token and tuple(args.special_token),
        "target_share": args.target_share,
    }
    given = {name: value for name, value in chosen.items() if value is not None}
    if args.recipe:
        return Recipe.from_toml(args.recipe, **given)
    return Recipe.from_preset(args.preset or "default", **given)
