"""Phrases for a tokenizer that exists. May import: formats and below."""

from .embeddings import start_embeddings
from .make import Extension, extend

__all__ = ["Extension", "extend", "start_embeddings"]
