"""Text to ids and back. May import: corpus, recipe, common; on demand formats, to export."""

from ..common.threads import usable_threads
from .boundaries import Cover, Pair, Stable
from .encoder import BYTES, encoder_of, encoder_of_tokens
from .text_stream import Patch, TextStream
from .token import Piece, Token, alphabet_size
from .tokenizer import Tokenizer

__all__ = [
    "BYTES",
    "Cover",
    "Pair",
    "Patch",
    "Piece",
    "Stable",
    "TextStream",
    "Token",
    "Tokenizer",
    "alphabet_size",
    "encoder_of",
    "encoder_of_tokens",
    "usable_threads",
]
