"""The paper's language model: a GPT-2-style decoder, as in nanoGPT.

    shape = Shape(rows=256_000, layers=12, width=768)
    shape.parameters                    # 282,450,432: paper, Appendix F
    model = new_decoder(shape, seed=0)
    hidden = model(ids)                 # (texts, tokens) -> (texts, tokens, width)
    logits = hidden @ model.table.T     # input and output embeddings are tied

Layer norm before attention and before the MLP, biases everywhere, GELU in its tanh form, learned
positions. `transformers` calls this model GPT-2 and opens the folder that `saving` writes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

CONTEXT = 1024  # paper, Appendix F: learned positions
_HEAD = 64  # dimensions of an attention head, as in every GPT-2
_SPREAD = 0.02  # of the first weights, as in GPT-2


@dataclass(frozen=True)
class Shape:
    """The size of a model. `rows` is the height of the embedding table (`Coder.rows`)."""

    rows: int
    layers: int = 12
    width: int = 768
    context: int = CONTEXT

    def __post_init__(self) -> None:
        if min(self.rows, self.layers, self.width, self.context) < 1:
            raise ValueError(
                f"rows={self.rows}, layers={self.layers}, width={self.width},"
                f" context={self.context}: each must be at least 1"
            )
        if self.width % min(_HEAD, self.width):
            raise ValueError(f"width={self.width}: a multiple of {_HEAD}, or less than it")

    @property
    def heads(self) -> int:
        return max(1, self.width // _HEAD)

    @property
    def parameters(self) -> int:
        """Paper, Appendix F: Vd + 1024d + L(12d^2 + 13d) + 2d."""
        d = self.width
        return (self.rows + self.context + self.layers * (12 * d + 13) + 2) * d

    @property
    def operations(self) -> int:
        """Floating-point operations of a training token, without attention: six for each weight
        that it passes."""
        return 6 * (self.parameters - self.context * self.width)

    def __str__(self) -> str:
        return f"{self.layers}L-{self.width}d"


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.into = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        shape = (*x.shape[:2], 3, self.heads, -1)
        query, key, value = self.into(x).view(shape).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        out: Tensor = self.out(seen.transpose(1, 2).reshape(x.shape))
        return out


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm_1(x))
        inner = functional.gelu(self.wide(self.norm_2(x)), approximate="tanh")
        out: Tensor = x + self.narrow(inner)
        return out


class Decoder(nn.Module):
    """Turns ids into the vectors that predict the next tokens. `loss` computes the logits, a part
    at a time, because those of a large vocabulary do not fit into memory at once."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.table = nn.Parameter(torch.empty(shape.rows, shape.width))
        self.positions = nn.Parameter(torch.empty(shape.context, shape.width))
        self.blocks = nn.ModuleList([Block(shape.width, shape.heads) for _ in range(shape.layers)])
        self.norm = nn.LayerNorm(shape.width)

    def forward(self, ids: Tensor, table: Tensor | None = None) -> Tensor:
        """`table` replaces the model's own embeddings during training (see `parts.Sharing`)."""
        if ids.shape[1] > self.shape.context:
            raise ValueError(f"{ids.shape[1]} tokens: the model has {self.shape.context} positions")
        x = functional.embedding(ids, self.table if table is None else table)
        x = x + self.positions[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        out: Tensor = self.norm(x)
        return out


def new_decoder(shape: Shape, seed: int) -> Decoder:
    """An untrained model. The same seed gives the same weights on every machine."""
    model = Decoder(shape)
    chance = torch.Generator().manual_seed(seed)
    for name, weight in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(weight)
        elif "norm" in name:
            nn.init.ones_(weight)
        else:
            # GPT-2: layers that add to the residual stream start smaller, by the number of adds.
            adds = name.endswith(("attention.out.weight", "narrow.weight"))
            spread = _SPREAD / math.sqrt(2 * shape.layers) if adds else _SPREAD
            nn.init.normal_(weight, std=spread, generator=chance)
    return model
