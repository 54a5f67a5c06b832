"""Tokenizers whose tokens cross word boundaries.

import supratok
tokenizer = supratok.train("corpus/*.jsonl", supratok.Recipe(vocab_size=32_000))
tokenizer.tokens("as well as in New York")   # ['as well as', ' in', ' New York']
"""

from .common import interrupts as _  # noqa: F401  first: it watches the other imports

# isort: split
from typing import TYPE_CHECKING

from .corpus import CorpusError
from .recipe import Boundaries, Recipe
from .tokenizer import Piece, Token, Tokenizer
from .train import train

__all__ = ["Boundaries", "CorpusError", "Piece", "Recipe", "Token", "Tokenizer", "train"]

if TYPE_CHECKING:
    __version__: str
else:

    def __getattr__(name: str) -> str:
        """Look `__version__` up on demand: importlib.metadata loads forty modules."""
        if name == "__version__":
            from importlib.metadata import version

            return version("supratok")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
