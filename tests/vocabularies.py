"""Tokenizers of a few tokens, for tests that compare with brute force."""

from __future__ import annotations

from typing import Any

from supratok import Recipe, Token, Tokenizer
from supratok.common import _core
from supratok.reference.boundaries import Rule

RULES = ["merges", "fewest"]


def made(tokens: list[str], rule: Any, alphabet: str = "ab ", **options: Any) -> Tokenizer:
    """A tokenizer of these tokens; under merges, of those that can be used."""
    texts = [*alphabet, *dict.fromkeys(token for token in tokens if len(token) > 1)]
    while rule == "merges":
        states = _core.Encoder.states_of(texts)
        if not states.any():
            break
        texts = [text for text, state in zip(texts, states, strict=True) if not state]
    births = ["alphabet" if len(text) == 1 else "imported" for text in texts]
    recipe = Recipe(vocab_size=len(texts) + 257, segmentation=rule, special_tokens=("<s>",))
    vocabulary = [Token(text, 0, born) for text, born in zip(texts, births, strict=True)]  # type: ignore[arg-type]
    return Tokenizer(vocabulary, recipe, **options)


def rule_of(tokenizer: Tokenizer) -> Rule:
    data = {id: tokenizer.decode_bytes([id]) for id in tokenizer.ids}
    return Rule(tokenizer.encode, data.__getitem__, list(tokenizer._ids.bytes))
