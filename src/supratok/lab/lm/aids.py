"""Composed embeddings, a training aid, for a model of `transformers` in your own training loop.

    parts = phrase_parts(Coder(open_any("supratok.json")))
    share_embeddings(model, parts)      # before you make the optimiser
    ...                                 # train as usual
    fold_embeddings(model)              # before you save: the model is a plain one again

During training the embedding of a phrase is composed of its words' embeddings (`parts.Sharing`).
PyTorch calls this a parametrisation: neither the model nor the optimiser nor the loop changes. The
composing matrices are parameters of the model. Exclude them from weight decay, as you exclude
biases (`is_composing` recognises them by name).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from .parts import Parts, Sharing


class _Shared(nn.Module):
    """The parametrisation: PyTorch calls it to compute a weight."""

    def __init__(self, sharing: Sharing) -> None:
        super().__init__()
        self.composing = sharing  # `is_composing` looks for this name

    def forward(self, table: Tensor) -> Tensor:
        return self.composing.full(table)


def share_embeddings(model: Any, parts: Parts, composed: bool = True) -> None:
    """From now on, add the embeddings of their words to the embeddings of phrases, in the input and
    in the output table. The phrases' own rows start as zeros."""
    needed = 1 + max(max([id, *parts.of(id)]) for id in parts.phrases.tolist() or [0])
    for module in _tables(model):
        if parametrize.is_parametrized(module, "weight"):
            raise ValueError("this model's embeddings are already shared; fold them first")
        if len(module.weight) < needed:
            raise ValueError(
                f"the model has {len(module.weight):,} embeddings, and the tokenizer's phrases need"
                f" {needed:,}: call model.resize_token_embeddings first"
            )
    known: dict[int, _Shared] = {}
    for module in _tables(model):
        table = module.weight
        if id(table) not in known:  # tied tables are one
            sharing = Sharing(parts, table.shape[1], composed).to(table.device, table.dtype)
            sharing.start(table.data, own=True)
            known[id(table)] = _Shared(sharing)
        parametrize.register_parametrization(module, "weight", known[id(table)])


@torch.no_grad()
def fold_embeddings(model: Any) -> None:
    """Write the composed embeddings into the tables: a plain model with the same outputs."""
    shared = [one for one in _tables(model) if parametrize.is_parametrized(one, "weight")]
    if not shared:
        raise ValueError("this model's embeddings are not shared; call share_embeddings first")
    tables = [module.weight.clone() for module in shared]
    for module in shared:
        parametrize.remove_parametrizations(module, "weight", leave_parametrized=False)
    for module, table in zip(shared, tables, strict=True):
        module.weight.copy_(table)


def is_composing(name: str) -> bool:
    """Whether the parameter of this name is a composing matrix."""
    return ".composing." in name


def _tables(model: Any) -> list[Any]:
    """The modules that hold input and output embeddings."""
    modules = [model.get_input_embeddings(), model.get_output_embeddings()]
    return [module for module in modules if module is not None]
