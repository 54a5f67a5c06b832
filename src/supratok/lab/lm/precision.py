"""Run a model in bfloat16 on a GPU and in float32 elsewhere."""

from __future__ import annotations

import torch
from torch import Tensor

from .model import Decoder


def compute_type(device: torch.device) -> torch.dtype:
    """The type that matrices are multiplied in: bfloat16 on a GPU, float32 elsewhere."""
    return torch.bfloat16 if device.type == "cuda" else torch.float32


def autocast_on(device: torch.device) -> torch.autocast:
    """Casts to bfloat16 on a GPU, does nothing elsewhere."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")


def hidden_states(model: Decoder, ids: Tensor) -> Tensor:
    """The model's output for texts of any length. Lengths differ from call to call, so nothing is
    compiled here, even if training compiled the model."""
    with autocast_on(ids.device), torch.compiler.set_stance("force_eager"):
        hidden: Tensor = model(ids)
    return hidden
