"""Start the new rows of a model's embeddings: each is the mean of the rows of its parts.

The model then treats a new token, in input and output, much like its parts, and training has little
to repair. Nothing else in the model changes.
"""

from __future__ import annotations

import os
from typing import Any

from .extension import Extension


def start_embeddings(model: Any, extension: Extension | str | os.PathLike[str]) -> None:
    """Give a `transformers` model rows for the new tokens of an extension, or of the folder that
    `extend` wrote. A table that is long enough, because it was padded, keeps its length."""
    if not isinstance(extension, Extension):
        extension = Extension.load(extension)
    rows = len(model.get_input_embeddings().weight)
    if rows < extension.base_vocab_size:
        raise ValueError(
            f"the model has {rows:,} embeddings, and the base tokenizer has ids up to"
            f" {extension.base_vocab_size - 1:,}; pass the model that belongs to {extension.base}"
        )
    if rows < extension.vocab_size:
        model.resize_token_embeddings(extension.vocab_size, mean_resizing=False)
    for table in _tables(model):
        for token in extension.tokens:
            table.data[token.id] = table.data[token.parts].float().mean(0).to(table.dtype)


def _tables(model: Any) -> list[Any]:
    """The tables with a row a token: the embeddings, the output's weight (unless tied) and bias."""
    tables = [model.get_input_embeddings().weight]
    output = model.get_output_embeddings()
    if output is not None and output.weight is not tables[0]:
        tables.append(output.weight)
    if getattr(output, "bias", None) is not None:
        tables.append(output.bias)
    return tables
