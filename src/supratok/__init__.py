"""Tokenizers whose tokens cross word boundaries.

import supratok
tokenizer = supratok.train("corpus/*.jsonl", supratok.Recipe(vocab_size=32_000))
tokenizer.tokens("as well as in New York")   # ['as well as', ' in', ' New York']
"""

from importlib.metadata import version

from .corpus import CorpusError
from .recipe import Boundaries, Recipe
from .tokenizer import Piece, Token, Tokenizer
from .train import train

__version__ = version("supratok")
__all__ = ["Boundaries", "CorpusError", "Piece", "Recipe", "Token", "Tokenizer", "train"]
