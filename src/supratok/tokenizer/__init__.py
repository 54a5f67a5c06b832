"""Text to ids and back. May import: corpus, recipe, common; on demand formats, to export."""

from .tokenizer import (
    BYTES,
    Piece,
    Token,
    Tokenizer,
    alphabet_size,
    encoder_of,
    encoder_of_tokens,
    usable_threads,
)

__all__ = [
    "BYTES",
    "Piece",
    "Token",
    "Tokenizer",
    "alphabet_size",
    "encoder_of",
    "encoder_of_tokens",
    "usable_threads",
]
