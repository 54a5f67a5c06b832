"""Make new tokens as probable as they are frequent.

    set_levels(model, extension, sample)    # sample: texts in ids of the extended tokenizer

A new row that is made of others competes with them from the first step on, and is predicted far too
often or too seldom. Training would first repair that. Its level, one number for each new token, is
known without training: over a sample of text, the mean probability that the model gives to a token
should be its frequency. Of all levels these make the sample most probable.

If the output has a bias, the level is added there. Otherwise it is added to the row, as a multiple
of the direction that all hidden states share: the vector whose product with a hidden state is about
1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..common.packages import package
from .extension import Extension

_ROUNDS = 6  # each repairs what the levels of the others have changed
_WINDOW = 512  # tokens that the model reads together, at most
_RIDGE = 1e-3


def check_sample(model: Any, extension: Extension, sample: Sequence[Sequence[int]]) -> None:
    """An error if this sample cannot tell the levels of this model."""
    if model.get_output_embeddings() is None:
        raise ValueError(
            "the model predicts no tokens, so a sample has nothing to set; pass a causal language"
            " model (AutoModelForCausalLM), or no sample"
        )
    if not any(id >= extension.first_new_id for ids in sample for id in ids):
        raise ValueError(
            "the sample holds no new token; pass texts as ids of the extended tokenizer, such as"
            " tokenizer(texts)['input_ids']"
        )


def set_levels(model: Any, extension: Extension, sample: Sequence[Sequence[int]]) -> None:
    """Change the output rows (or biases) of the new tokens; the old ones stay."""
    torch = package("torch", "lm")
    windows = _windows(model, sample)
    frequent = _frequencies(extension, sample)
    output = model.get_output_embeddings()
    ids = torch.tensor([token.id for token in extension.tokens], device=output.weight.device)
    with torch.no_grad(), _measuring(model):
        for _ in range(_ROUNDS):
            probable, direction = _seen(model, windows, ids)
            level = (frequent.to(ids.device) / probable.clamp(min=1e-12)).log()
            if getattr(output, "bias", None) is not None:
                output.bias.data[ids] += level.to(output.bias.dtype)
            else:
                change = level[:, None] * direction
                rows = output.weight.data[ids].float() + change
                output.weight.data[ids] = rows.to(output.weight.dtype)


def _frequencies(extension: Extension, sample: Sequence[Sequence[int]]) -> Any:
    """The share of each new token among all tokens. The sample tells the share of all new tokens
    together; it is too small to tell that of each, which the counts of learning do."""
    torch = package("torch", "lm")
    new = sum(id >= extension.first_new_id for ids in sample for id in ids)
    counts = torch.tensor([float(max(1, token.count)) for token in extension.tokens])
    return counts / counts.sum() * (new / sum(map(len, sample)))


def _windows(model: Any, sample: Sequence[Sequence[int]]) -> list[Any]:
    torch = package("torch", "lm")
    length = min(_WINDOW, getattr(model.config, "max_position_embeddings", None) or _WINDOW)
    return [
        torch.tensor([list(ids[start : start + length])])
        for ids in sample
        for start in range(0, len(ids), length)
    ]


@contextmanager
def _measuring(model: Any) -> Iterator[None]:
    """Without dropout inside the `with` block."""
    before = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(before)


def _seen(model: Any, windows: list[Any], ids: Any) -> tuple[Any, Any]:
    """The mean probability of each new token, and the direction of the hidden states."""
    torch = package("torch", "lm")
    hidden: list[Any] = []
    output, first = model.get_output_embeddings(), model.get_input_embeddings().weight.device
    hook = output.register_forward_pre_hook(lambda _, given: hidden.append(given[0]))
    total: Any = 0.0
    square: Any = 0.0
    mean: Any = 0.0
    count = 0
    try:
        for window in windows:
            logits = model(input_ids=window.to(first), use_cache=False).logits[0].float()
            states = hidden.pop()[0].float()
            total = total + logits.softmax(-1)[:, ids].sum(0)
            square, mean = square + states.T @ states, mean + states.sum(0)
            count += len(states)
    finally:
        hook.remove()
    square, mean = square / count, mean / count
    ridge = _RIDGE * square.diagonal().mean() * torch.eye(len(square), device=square.device)
    return total / count, torch.linalg.solve(square + ridge, mean)
