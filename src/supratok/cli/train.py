"""`supratok train`: learn a tokenizer from text.

supratok train corpus/*.jsonl.zst --vocab-size 100000 --out my.json
supratok train corpus/*.jsonl.zst --vocab-size 100000 --preset paper --out paper.json
supratok train corpus/*.jsonl.zst --recipe my.toml --out my.json
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..corpus import Languages
from ..recipe import PRESETS, Boundaries, Recipe
from ..tokenizer import usable_threads
from ..train import train
from .common import Making, making_options
from .summary import story


def add_options(command: argparse.ArgumentParser) -> None:
    making_options(command)
    command.set_defaults(misspelt=command.error)
    add = command.add_argument
    add("--vocab-size", type=int, metavar="N", help="needed, unless the recipe says it")
    start = command.add_mutually_exclusive_group()
    start.add_argument("--recipe", type=Path, metavar="FILE", help="a recipe in TOML")
    start.add_argument("--preset", choices=PRESETS, help="a recipe by name")
    add("--segmentation", choices=["merges", "fewest"])
    add("--boundaries", choices=["open", "careful"])
    add("--character-coverage", type=float, metavar="SHARE", help="rarer characters become bytes")
    add("--crossover", type=float, metavar="SHARE", help="where phrases begin; found, unless said")
    add("--special-token", action="append", metavar="T", help="may be repeated")
    add("--lang-key", default="lang", metavar="KEY", help="of JSON and parquet: the language")
    add(
        "--lang",
        action="append",
        metavar="CODE[=FILES]",
        help="of records that name none: of all, or of files by a pattern; found, unless said",
    )


def run(args: argparse.Namespace) -> None:
    recipe = recipe_of(args)
    usable_threads(args.threads)
    making = Making(args)
    lang = _languages(args.lang or [])
    tokenizer = train(making.files, recipe, **making.options, lang_key=args.lang_key, lang=lang)
    making.save(tokenizer, "learnt", story(tokenizer))


def _languages(said: list[str]) -> Languages:
    """ "tr" is the language of all files, "tr=data/tr/*" of some; the first that fits holds."""
    codes: dict[str, str] = {}
    for one in said:
        code, _, pattern = one.partition("=")
        codes[pattern or "*"] = code
    return codes or None


def recipe_of(args: argparse.Namespace) -> Recipe:
    """What the command line says goes before the file or the preset, and these before the
    defaults."""
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
    if args.vocab_size is None:
        args.misspelt("the following arguments are required: --vocab-size")
    return Recipe.from_preset(args.preset or "default", **given)
