"""Which models the scripts train: recipes, training aids, the names of rows, options.

args = model_options("Bits per character.", "ladder", 32_000, (6, 384), 2e-3, ROWS).parse_args()
one = job("default + composed, words first", args, tokens=20_000_000, seed=0)
row_name(one)
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rows import Figures, options
from supratok import Recipe
from supratok.lab.baselines import BASELINES
from supratok.lab.bench import OURS
from supratok.lab.lm.experiment import Setting
from supratok.lab.lm.model import CONTEXT
from supratok.lab.lm.training import Plan
from supratok.recipe import Boundaries, Curation, Screen

BPE = "BPE-Bytes-GPT4o"  # lossless; the tables compare with it


def _screen(**changes: Any) -> Screen:
    return Screen(**{"min_pmi": 0.0, "min_count": 2, "min_documents": 10, **changes})


def _inside(saving: float, size: int) -> Recipe:
    return Recipe(vocab_size=size, saving=saving, boundaries=Boundaries.clauses())


# Our tokenizers by name; others have their names in BASELINES.
RECIPES: dict[str, Callable[[int], Recipe]] = {
    **OURS,
    "balanced, fewest": lambda size: Recipe.balanced(size, segmentation="fewest"),
    "plain": lambda size: Recipe(vocab_size=size, crossover=1.0),
    "price 3": lambda size: Recipe(vocab_size=size, phrase_price=3.0),
    "price 10": lambda size: Recipe(vocab_size=size, phrase_price=10.0),
    "price 30": lambda size: Recipe(vocab_size=size, phrase_price=30.0),
    "PMI 2": lambda size: Recipe.balanced(size, screen=_screen(min_pmi=2.0)),
    "PMI 4": lambda size: Recipe.balanced(size, screen=_screen(min_pmi=4.0)),
    "300 documents": lambda size: Recipe.balanced(size, screen=_screen(min_documents=300)),
    "boundary 5": lambda size: Recipe.balanced(size, screen=_screen(min_boundary_entropy=5.0)),
    "boundary 6.5": lambda size: Recipe.balanced(size, screen=_screen(min_boundary_entropy=6.5)),
    "whole words": lambda size: Recipe.balanced(size, boundaries=Boundaries(whole_words=True)),
    "balanced, not across punctuation": lambda size: Recipe.balanced(
        size, boundaries=Boundaries.clauses()
    ),
    **{
        f"saving {share}, not across punctuation": functools.partial(_inside, share)
        for share in (0.75, 0.85, 0.95)
    },
    "careful": lambda size: Recipe.balanced(size, boundaries=Boundaries.careful()),
    "without curriculum": lambda size: Recipe.balanced(size, curriculum=False),
    "with entropy filtering": lambda size: Recipe.balanced(size, curation=Curation()),
}

# Training aids by name: see supratok.lab.lm.parts.
AIDS: dict[str, dict[str, Any]] = {
    "split 10%": {"splitting": 0.1},
    "split 30%": {"splitting": 0.3},
    "mean": {"phrases": "mean"},
    "shared": {"phrases": "shared"},
    "composed": {"phrases": "composed"},
    "shared, split 10%": {"phrases": "shared", "splitting": 0.1},
    "shared, split 30% fading": {"phrases": "shared", "splitting": 0.3, "fading": 0.8},
    "composed, split 30% fading": {"phrases": "composed", "splitting": 0.3, "fading": 0.8},
    "composed, split all fading": {"phrases": "composed", "splitting": 1.0, "fading": 0.8},
    "composed, words first": {"phrases": "composed", "splitting": 1.0, "fading": 0.4},
}
BEST_AID = "composed, words first"  # the best by runs/variants.py
# What runs/aids.py adds to it.
MORE_AIDS: dict[str, dict[str, Any]] = {
    f"{BEST_AID}, then 10%": {"rest": 0.1},
    f"{BEST_AID}, then 30%": {"rest": 0.3},
    f"{BEST_AID}, 10% at the end": {"rest": 0.1, "rest_from": 0.8},
    f"{BEST_AID}, own part late": {"own_from": 0.4},
}
AIDS |= {name: AIDS[BEST_AID] | changes for name, changes in MORE_AIDS.items()}
# Fields of a setting that were added later: part of a row's key only where they are used.
_LATER = {"rest": 0.0, "rest_from": 0.0, "own_from": 0.0}
_NO_AID = {"splitting": 0.0, "fading": 0.0, "phrases": "chance", **_LATER}


def settings(name: str, size: int) -> Figures:
    """The settings of a tokenizer, as its key. A screen without a threshold on boundaries leaves
    that field out, so that tokenizers and rows made before it existed are found again."""
    if name in BASELINES:
        return dict(BASELINES[name].settings)
    found = RECIPES[name](size).to_dict()
    if found["screen"] and not found["screen"]["min_boundary_entropy"]:
        del found["screen"]["min_boundary_entropy"]
    return found


def setting_key(setting: Setting) -> Figures:
    """The fields of a setting, as part of a row's key. Fields that were added later are left out
    where they are not used, so that rows made before them are found again."""
    found = {name: value for name, value in asdict(setting).items() if _LATER.get(name) != value}
    if not found["plan"]["bfloat16"]:
        del found["plan"]["bfloat16"]
    return found


# --- Jobs


@dataclass(frozen=True)
class Job:
    """One model to train: its tokenizer, and how."""

    name: str
    size: int
    setting: Setting


def job(row: str, args: argparse.Namespace, tokens: int, seed: int) -> Job:
    """The job of a row such as "default + composed, words first"."""
    name, _, aid = row.partition(" + ")
    plan = Plan(
        tokens=tokens, batch=args.batch, rate=args.rate, warm_up=args.warm_up, seed=seed,
        bfloat16=args.bfloat16,
    )  # fmt: skip
    return Job(name, args.size, Setting(plan, *args.shape, **(AIDS[aid] if aid else {})))


def row_name(one: Job) -> str:
    """The name of the row of a job."""
    used = {name: getattr(one.setting, name) for name in _NO_AID}
    for name, changes in AIDS.items():
        if _NO_AID | changes == used:
            return f"{one.name} + {name}"
    return one.name


# --- Options


def model_options(
    description: str,
    name: str,
    size: int,
    shape: tuple[int, int],
    rate: float,
    rows: Sequence[str],
) -> argparse.ArgumentParser:
    """The options of all scripts, and those of models. `size` of the vocabulary, `shape` (layers
    and width), `rate` and `rows` are defaults."""
    parser = options(description, name)
    add = parser.add_argument
    add("--only", nargs="+", type=row_option, default=list(rows), metavar="ROW",
        help="TOKENIZER, or 'TOKENIZER + TRAINING AID'")  # fmt: skip
    add("--size", type=int, default=size, help=f"vocabulary size (default: {size:,})")
    add("--shape", type=int, nargs=3, default=[*shape, CONTEXT],
        metavar=("LAYERS", "WIDTH", "CONTEXT"))  # fmt: skip
    add("--rate", type=float, default=rate, help=f"highest learning rate (default: {rate:g})")
    add("--warm-up", type=float, default=Plan.warm_up, help="share of the steps")
    add("--batch", type=int, default=32, help="windows in a step (default: 32)")
    add("--device", default="auto", help="default: cuda where there is a GPU, otherwise cpu")
    add("--bfloat16", action="store_true",
        help="train in bfloat16 on a processor too, as a GPU does")  # fmt: skip
    add("--seeds", type=int, nargs="+", default=None, help="of weights and of the order of texts")
    add("--tokenizers", type=Path, default=Path("build/tokenizers"), help="folder of tokenizers")
    add("--cache", type=Path, default=Path("build/baselines"), help="folder of trained baselines")
    add("--tests", nargs="+", metavar="TEXT",
        help="only these texts, such as 'held out' or 'held out, words only'")  # fmt: skip
    add(
        "--prepare",
        action="store_true",
        help="train missing tokenizers and print their characters per token, but train no models",
    )
    add("--finished", action="store_true", help="make the table of finished rows, train nothing")
    add("--save", type=Path, help="folder to save the models to, as GPT-2 for transformers")
    return parser


def row_option(text: str) -> str:
    """A value of --only: a tokenizer, or a tokenizer + a training aid."""
    name, plus, aid = text.partition(" + ")
    if name not in RECIPES and name not in BASELINES:
        raise argparse.ArgumentTypeError(
            f"{name!r}: choose one of {', '.join([*RECIPES, *BASELINES])}"
        )
    if plus and aid not in AIDS:
        raise argparse.ArgumentTypeError(f"{aid!r}: choose one of {', '.join(AIDS)}")
    return text
