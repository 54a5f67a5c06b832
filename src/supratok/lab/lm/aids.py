"""Help for phrases in a training loop of your own, with a model of `transformers`.

    parts = phrase_parts(Coder(open_any("supratok.json")))
    share_embeddings(model, parts)      # before the optimiser is made
    ...                                 # train as ever
    fold_embeddings(model)              # before the model is saved: it is a plain one again

While a model learns, the embedding of a phrase is composed of its words' (`parts.Sharing`). This is
a parametrisation in PyTorch's sense, so the model, its optimiser and its loop need not know of it.
The matrices that compose are parameters of the model: let weight decay leave them alone, as it
leaves biases alone (`is_composing` tells them by their names).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from .parts import Parts, Sharing


class _Shared(nn.Module):
    """What PyTorch computes a weight by."""

    def __init__(self, sharing: Sharing) -> None:
        super().__init__()
        self.composing = sharing

    def forward(self, table: Tensor) -> Tensor:
        return self.composing.full(table)


def share_embeddings(model: Any, parts: Parts, composed: bool = True) -> None:
    """The embeddings of phrases are shared with their words from now on, where tokens come in and
    where they go out. What phrases have of their own begins as nothing."""
    needed = 1 + max(max([id, *parts.of(id)]) for id in parts.phrases.tolist() or [0])
    for module in _tables(model):
        if parametrize.is_parametrized(module, "weight"):
            raise ValueError("the embeddings of this model are shared already; fold them first")
        if len(module.weight) < needed:
            raise ValueError(
                f"the model has {len(module.weight):,} embeddings, and the phrases of the tokenizer"
                f" need {needed:,}: call model.resize_token_embeddings before"
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
    """What was shared becomes the tables' own: the model gives the same and is a plain one."""
    shared = [one for one in _tables(model) if parametrize.is_parametrized(one, "weight")]
    if not shared:
        raise ValueError("the embeddings of this model are not shared; call share_embeddings first")
    tables = [module.weight.clone() for module in shared]
    for module in shared:
        parametrize.remove_parametrizations(module, "weight", leave_parametrized=False)
    for module, table in zip(shared, tables, strict=True):
        module.weight.copy_(table)


def is_composing(name: str) -> bool:
    """Whether a parameter of a model is one of the matrices, by its name in the model."""
    return ".composing." in name


def _tables(model: Any) -> list[Any]:
    """The modules whose weights are embeddings."""
    modules = [model.get_input_embeddings(), model.get_output_embeddings()]
    return [module for module in modules if module is not None]
