"""How the rows of new tokens start: as mixtures of the base's rows.

    mixture("parts", table, extension, falling=True)    # ids and weights, a row for each new token

A mixture says which base tokens a new row is made of, and how much of each:

- `mean`: its parts, equally.
- `parts`: its parts by place. What a model reads last decides most what it expects next, so in the
  input the last part has most weight, and each part before it half of that of its neighbour. What
  it must predict first is the first part, so in the output the weights fall instead. A table that
  serves both takes the mean of the two.
- `nearest`: the base tokens whose rows point most nearly in the direction of the `parts` mixture,
  without the parts themselves; the more alike, the more weight.
- `both`: `parts` and `nearest`, 7 to 3.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from ..common.packages import package
from .extension import Extension

Start = Literal["mean", "parts", "nearest", "both"]
STARTS: tuple[str, ...] = get_args(Start)
NEAREST = 5  # base tokens
SHARE = 0.3  # of the nearest tokens in `both`; that of TokenAdapt (arXiv 2505.09738)
_AT_ONCE = 1024  # new tokens whose likeness to all base tokens is computed together

Mixture = tuple[Any, Any]  # ids and weights of base tokens, both of the shape (new tokens, width)


def check_start(start: str) -> None:
    if start not in STARTS:
        raise ValueError(f"start={start!r}: choose one of {', '.join(STARTS)}")


def mixture(start: Start, table: Any, extension: Extension, rising: bool, falling: bool) -> Mixture:
    """The mixture for the tokens of an extension. `rising` and `falling`: how the weights of parts
    change from the first to the last, both in a table that is input and output. `nearest` is
    computed by the rows of `table`."""
    parts = by_place(extension, rising, falling) if start != "mean" else by_place(extension)
    if start in ("mean", "parts"):
        return parts
    near = nearest(table, parts, extension.base_vocab_size)
    return near if start == "nearest" else joined(parts, near, SHARE)


def by_place(extension: Extension, rising: bool = False, falling: bool = False) -> Mixture:
    """The parts, weighted by place."""
    torch = package("torch", "lm")
    width = max(len(token.parts) for token in extension.tokens)
    ids = torch.zeros(len(extension.tokens), width, dtype=torch.long)
    weights = torch.zeros(len(extension.tokens), width)
    for row, token in enumerate(extension.tokens):
        size = len(token.parts)
        ids[row] = token.parts[0]  # also where the weight is 0
        ids[row, :size] = torch.tensor(token.parts)
        weights[row, :size] = torch.tensor(_weights(size, rising, falling))
    return ids, weights


def _weights(size: int, rising: bool, falling: bool) -> list[float]:
    """`size` weights whose sum is 1: (1/3, 2/3) if they rise."""
    up = [2.0**place / (2.0**size - 1) for place in range(size)]
    if rising and falling:
        return [(one + other) / 2 for one, other in zip(up, reversed(up), strict=True)]
    if rising or falling:
        return up if rising else up[::-1]
    return [1 / size] * size


def nearest(table: Any, parts: Mixture, base: int, count: int = NEAREST) -> Mixture:
    """The base tokens whose rows are most like the mixtures of parts, by the cosine after the mean
    row is taken away: all rows of a table share a direction, which says nothing."""
    torch = package("torch", "lm")
    rows = table.data[:base].float()
    rows = rows - rows.mean(0)
    directions = torch.nn.functional.normalize(rows, dim=1)
    found = []
    for ids, weights in zip(*(one.to(table.device).split(_AT_ONCE) for one in parts), strict=True):
        alike = torch.nn.functional.normalize(mixed(rows, (ids, weights)), dim=1) @ directions.T
        alike.scatter_(1, ids, -1.0)
        found.append(alike.topk(min(count, base), dim=1))
    ids = torch.cat([one.indices for one in found])
    weights = torch.cat([one.values for one in found]).clamp(min=1e-6)
    return ids, weights / weights.sum(1, keepdim=True)


def joined(first: Mixture, second: Mixture, share: float) -> Mixture:
    """Both mixtures, the second with this share."""
    torch = package("torch", "lm")
    device = second[0].device
    ids = torch.cat([first[0].to(device), second[0]], dim=1)
    return ids, torch.cat([first[1].to(device) * (1 - share), second[1] * share], dim=1)


def mixed(table: Any, mixture: Mixture) -> Any:
    """The rows of a mixture, in float32; of a bias, its numbers."""
    ids, weights = (one.to(table.device) for one in mixture)
    rows = table[ids].float()
    return (rows * (weights[..., None] if rows.dim() == 3 else weights)).sum(1)
