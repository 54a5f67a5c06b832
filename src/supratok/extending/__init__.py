"""Add phrases to an existing tokenizer. May import: formats and below."""

from .embeddings import start_embeddings
from .extension import Extension
from .make import extend

__all__ = ["Extension", "extend", "start_embeddings"]
