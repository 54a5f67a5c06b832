"""The alphabet: the characters that are tokens of their own. Every vocabulary starts with it."""

from __future__ import annotations

import numpy as np

from ..common import _core
from ..recipe import Recipe
from ..tokenizer import Token


def choose_alphabet(words: _core.WordTable, recipe: Recipe) -> list[Token]:
    """The most frequent characters that together reach the coverage of the recipe. Never among
    them: NUL, which SentencePiece cannot have in a piece, and special tokens of one character."""
    counts = words.characters()
    seen = np.flatnonzero(counts)
    order = seen[np.lexsort((seen, -counts[seen]))]
    covered = np.cumsum(counts[order])
    enough = int(np.searchsorted(covered, recipe.character_coverage * covered[-1])) + 1
    codes = [int(code) for code in order[:enough] if code and chr(code) not in recipe.names]
    room = recipe.room(recipe.vocab_size)
    if len(codes) > room:
        fixed = recipe.vocab_size - room
        raise ValueError(
            f"vocab_size={recipe.vocab_size} is too small: {fixed} special tokens and bytes and"
            f" {len(codes)} characters already take {fixed + len(codes)}; raise vocab_size,"
            f" or lower character_coverage={recipe.character_coverage}"
        )
    return [Token(chr(code), int(counts[code]), "alphabet") for code in codes]
