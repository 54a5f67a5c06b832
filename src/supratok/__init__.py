"""Tokenizers whose tokens cross word boundaries.

import supratok
tokenizer = supratok.train("corpus/*.jsonl", vocab_size=32_000)
tokenizer.tokens("as well as in New York")   # ['as well as', ' in', ' New York']

The verbs of the command are functions here: `train`, `curate`, `mine`, `prune`, `refine`, `extend`,
`tokenize`.
"""

from .common import interrupts as _  # noqa: F401  first: it watches the other imports

# isort: split
from typing import TYPE_CHECKING

from .corpus import CorpusError
from .recipe import Boundaries, Curation, Expressions, Recipe, Screen, Scripts, Seeds
from .tokenizer import Piece, Token, Tokenizer
from .train import ShortVocabularyWarning, train, train_from_counts

__all__ = [
    "ApproximateHealing",
    "Begin",
    "Boundaries",
    "CanonicalLogits",
    "CorpusError",
    "Curation",
    "Expressions",
    "NotCounted",
    "Piece",
    "Recipe",
    "Screen",
    "Scripts",
    "Seeds",
    "ShortVocabularyWarning",
    "Token",
    "Tokenizer",
    "begin",
    "curate",
    "extend",
    "generate",
    "logprob",
    "logprobs",
    "mine",
    "patch_transformers",
    "prune",
    "refine",
    "tokenize",
    "train",
    "train_from_counts",
    "unpatch_transformers",
]

# Found on demand, since they load numpy and more: the room, the module and the function.
_LATER = {
    "ApproximateHealing": "runtimes.processors",
    "Begin": "runtimes.prompts",
    "CanonicalLogits": "runtimes.processors",
    "NotCounted": "readings.files",
    "begin": "runtimes.prompts",
    "curate": "corpus.curate",
    "extend": "extending",
    "generate": "runtimes.prompts",
    "logprob": "runtimes.scoring",
    "logprobs": "runtimes.scoring",
    "mine": "learn.mine",
    "patch_transformers": "runtimes.patch",
    "prune": "learn.rework",
    "refine": "learn.rework",
    "tokenize": "shards.make",
    "unpatch_transformers": "runtimes.patch",
}

if TYPE_CHECKING:
    from .corpus.curate import curate
    from .extending import extend
    from .learn.mine import mine
    from .learn.rework import prune, refine
    from .readings.files import NotCounted
    from .runtimes.patch import patch_transformers, unpatch_transformers
    from .runtimes.processors import ApproximateHealing, CanonicalLogits
    from .runtimes.prompts import Begin, begin, generate
    from .runtimes.scoring import logprob, logprobs
    from .shards.make import tokenize

    __version__: str
else:

    def __getattr__(name: str) -> object:
        if name == "__version__":  # importlib.metadata loads forty modules
            from importlib.metadata import version

            return version("supratok")
        if name in _LATER:
            from importlib import import_module

            return getattr(import_module(f".{_LATER[name]}", __name__), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
