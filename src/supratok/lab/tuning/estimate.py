"""How long a study takes, roughly, before it begins."""

from __future__ import annotations

from ...learn.estimate import estimate_training
from ..lm.validation import LAYERS
from .measure import Setting
from .space import recipe_of

# Operations of a trained model in a second of one core, by 6 for each weight and token; measured
# at a width of 256 and 8,000 and 30,000 tokens on a core of an Intel Xeon, 2026-11-16.
_SPEED = 4.5e10


def estimate_trial(setting: Setting, text_bytes: float, threads: int, on_cpu: bool) -> float:
    """Seconds of one trial at the middle of the search space: a tokenizer and, on a processor, its
    model. Graphics cards differ too much to tell."""
    middle = {
        name: type(found.low)((found.low + found.high) / 2) for name, found in setting.space.items()
    }
    recipe = recipe_of(setting.preset, middle)
    seconds = estimate_training(text_bytes, recipe, threads).seconds
    if on_cpu:
        weights = setting.width * recipe.vocab_size + LAYERS * 12 * setting.width**2
        seconds += 6 * weights * setting.tokens / (_SPEED * threads)
    return seconds


def models(setting: Setting) -> int:
    """How many tokenizers and models a study trains: one a trial, and one of the reference for
    each size that a trial has."""
    sizes = setting.space["vocab_size"]
    different = 1 + int((sizes.last - sizes.low) / (sizes.step or 1))
    return setting.trials + min(setting.trials, different)
