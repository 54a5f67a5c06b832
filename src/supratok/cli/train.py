"""`supratok train`: learn a tokenizer from text.

supratok train corpus/*.jsonl.zst --vocab-size 100000 --out my.json
supratok train corpus/*.jsonl.zst --vocab-size 100000 --preset paper --out paper.json
supratok train corpus/*.jsonl.zst --recipe my.toml --out my.json
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

from ..corpus import Languages
from ..recipe import PRESETS, VOCAB_SIZE, Boundaries, Recipe
from ..train import ShortVocabularyWarning, shortfall, train
from .common import Job, add_job_arguments, check_writable
from .estimate import announce_training
from .summary import summary_of

_PRESETS = """start from this recipe. "default" is for training models: it encodes by merges, as BPE
does, and learns phrases that ten documents share. "dense" finds the fewest tokens, also on small
corpora; training takes about four times as long, and models find its rare phrases harder. "paper"
is the method of the paper. docs/choosing.md has figures (default: default)"""


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
        choices=["open", "careful"],
        help="which boundaries phrases may cross (default: the recipe's)",
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
    add_job_arguments(command)


def run(args: argparse.Namespace) -> None:
    recipe = recipe_of(args)
    job = Job(args)
    check_writable(args.out, job.reads(args.recipe))
    lang = _languages(args.lang or [])
    announce_training(job, recipe)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShortVocabularyWarning)  # the summary says it
        tokenizer = train(job.files, recipe, **job.options, lang_key=args.lang_key, lang=lang)
    if args.quiet and (reason := shortfall(recipe, tokenizer.vocab_size)):
        print(f"warning: {reason}", file=sys.stderr)
    job.save(tokenizer, "learnt", summary_of(tokenizer))


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
        "special_tokens": args.special_token and tuple(args.special_token),
    }
    given = {name: value for name, value in chosen.items() if value is not None}
    if args.recipe:
        return Recipe.from_toml(args.recipe, **given)
    return Recipe.from_preset(args.preset or "default", **given)
