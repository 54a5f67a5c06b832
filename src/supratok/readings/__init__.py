"""Count over the training documents what a pass needs: in this process, from counts files, or on
Ray. May import: tokenizer, counts, corpus, recipe, common."""

from .joints import UNSPACED, joints
from .local import Keeping, LocalText
from .reading import SKETCH_BITS, Reading, Room
from .runs import Pieces, Runs, Stretches, UnitBounds, Units
from .text import LanguageWords, TrainingText
from .uses import Neighbours, Usage

__all__ = [
    "SKETCH_BITS",
    "UNSPACED",
    "Keeping",
    "LanguageWords",
    "LocalText",
    "Neighbours",
    "Pieces",
    "Reading",
    "Room",
    "Runs",
    "Stretches",
    "TrainingText",
    "UnitBounds",
    "Units",
    "Usage",
    "joints",
]
