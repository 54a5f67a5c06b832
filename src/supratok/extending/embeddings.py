"""Start the new rows of a model's embeddings: each is made of rows of the base.

    start_embeddings(model, "longer")                   # each the mean of its parts
    start_embeddings(model, "longer", "parts", sample=tokenizer(texts)["input_ids"])

The model then treats a new token, in input and output, much like its parts, and training has little
to repair. Nothing else in the model changes. `starts` has the ways, `levels` what a sample is for.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from .extension import Extension
from .levels import check_sample, set_levels
from .starts import Start, check_start, mixed, mixture


def start_embeddings(
    model: Any,
    extension: Extension | str | os.PathLike[str],
    start: Start = "mean",
    *,
    sample: Sequence[Sequence[int]] | None = None,
) -> None:
    """Give a `transformers` model rows for the new tokens of an extension, or of the folder that
    `extend` wrote. A table that is long enough, because it was padded, keeps its length.

    `start`: what a new row is made of: "mean" (its parts, equally), "parts" (its parts, by place),
    "nearest" (other tokens like them) or "both". `sample`: texts in ids of the extended tokenizer;
    the model reads them, and new tokens then start as probable as they are frequent."""
    check_start(start)
    if not isinstance(extension, Extension):
        extension = Extension.load(extension)
    if sample is not None:
        check_sample(model, extension, sample)
    rows = len(model.get_input_embeddings().weight)
    if rows < extension.base_vocab_size:
        raise ValueError(
            f"the model has {rows:,} embeddings, and the base tokenizer has ids up to"
            f" {extension.base_vocab_size - 1:,}; pass the model that belongs to {extension.base}"
        )
    if rows < extension.vocab_size:
        model.resize_token_embeddings(extension.vocab_size, mean_resizing=False)
    if start == "mean":
        _start_means(model, extension)
    else:
        _start_mixtures(model, extension, start)
    if sample is not None:
        set_levels(model, extension, sample)


def _start_means(model: Any, extension: Extension) -> None:
    for table in _tables(model):
        for token in extension.tokens:
            table.data[token.id] = table.data[token.parts].float().mean(0).to(table.dtype)


def _start_mixtures(model: Any, extension: Extension, start: Start) -> None:
    tables = _tables(model)
    tied = not any(table.dim() == 2 for table in tables[1:])
    ids = [token.id for token in extension.tokens]
    for table in tables:
        is_input = table is tables[0]
        # A bias belongs to the output's rows, or to those of a tied table.
        likeness = table if table.dim() == 2 else tables[-2]
        made = mixture(
            start, likeness, extension, rising=is_input or tied, falling=not is_input or tied
        )
        table.data[ids] = mixed(table.data, made).to(table.dtype)


def _tables(model: Any) -> list[Any]:
    """The tables with a row a token: the embeddings, the output's weight (unless tied) and bias."""
    tables = [model.get_input_embeddings().weight]
    output = model.get_output_embeddings()
    if output is not None and output.weight is not tables[0]:
        tables.append(output.weight)
    if getattr(output, "bias", None) is not None:
        tables.append(output.bias)
    return tables
