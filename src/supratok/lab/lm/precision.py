"""Run a model in bfloat16 on a GPU, and in float32 elsewhere unless a plan asks for bfloat16."""

from __future__ import annotations

import torch
from torch import Tensor

from .model import Decoder


def compute_type(device: torch.device, bfloat16: bool = False) -> torch.dtype:
    """The type that matrices are multiplied in: bfloat16 on a GPU or if asked, else float32."""
    return torch.bfloat16 if bfloat16 or device.type == "cuda" else torch.float32


def autocast_on(device: torch.device, bfloat16: bool = False) -> torch.autocast:
    """Casts to that type where it is bfloat16, does nothing elsewhere."""
    narrow = compute_type(device, bfloat16) == torch.bfloat16
    return torch.autocast(device.type, torch.bfloat16, enabled=narrow)


def hidden_states(model: Decoder, ids: Tensor) -> Tensor:
    """The model's output for texts of any length. Lengths differ from call to call, so nothing is
    compiled here, even if training compiled the model."""
    with autocast_on(ids.device), torch.compiler.set_stance("force_eager"):
        hidden: Tensor = model(ids)
    return hidden
