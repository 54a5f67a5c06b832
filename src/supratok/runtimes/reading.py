"""What a language model says after several endings of the same beginning, in two passes.

    (reading,), _ = read(model, [Tree([5, 6, 7], [(8, 9), (4,)])])
    reading.after(())         # the logits behind 5 6 7
    reading.after((8,))       # behind 5 6 7 8

The first pass reads the beginnings of all trees. The second reads the endings, a row each, on
copies of the cache of keys and values that the first one made. A model without such a cache reads
each beginning with each ending, in one pass; the results are the same.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..common.packages import package

torch = package("torch", "lm")

Ids = tuple[int, ...]
Tensor = Any  # torch is not installed everywhere


class Tree(NamedTuple):
    """A beginning, at least one id, and what may come behind it."""

    base: Sequence[int]
    endings: Sequence[Ids]


class Reading(NamedTuple):
    """The logits behind the beginning, and behind each id of the endings that are no beginning of
    another ending."""

    first: Tensor
    rows: list[tuple[Ids, Tensor]]

    def after(self, node: Ids) -> Tensor:
        """The logits behind the beginning and `node`, which begins an ending."""
        if not node:
            return self.first
        size = len(node)
        return next(logits[size - 1] for ids, logits in self.rows if ids[:size] == node)


def read(model: Any, trees: Sequence[Tree], keep: bool = False) -> tuple[list[Reading], Any]:
    """The logits at all places of each tree. With `keep`, also the cache of all beginnings without
    their last ids, for generation to go on from, if the model has such a cache."""
    if any(not tree.base for tree in trees):
        raise ValueError("a model says nothing before the first id; put an id at the beginning")
    endings = [longest(tree.endings) for tree in trees]
    with torch.no_grad():
        return _shared(model, trees, endings, keep) or (_whole_rows(model, trees, endings), None)


def longest(endings: Iterable[Ids]) -> list[Ids]:
    """Those that are no beginning of another one, in order: to read them is to read all."""
    ordered = sorted(set(endings))
    after = [*ordered[1:], ()]
    pairs = zip(ordered, after, strict=True)
    return [ids for ids, larger in pairs if ids and larger[: len(ids)] != ids]


def _shared(
    model: Any, trees: Sequence[Tree], endings: list[list[Ids]], keep: bool
) -> tuple[list[Reading], Any] | None:
    """None if the model has no cache that can be copied by rows."""
    known = inspect.signature(model.forward).parameters
    if not {"past_key_values", "position_ids", "attention_mask"} <= known.keys():
        return None
    # Beginnings end in the same column, as in `generate`: the padding is on the left.
    ids, mask = padded([tree.base for tree in trees], model.device, left=True)
    last = {"logits_to_keep": 1} if "logits_to_keep" in known else {}
    places = (mask.cumsum(1) - 1).clamp(min=0)
    out = model(input_ids=ids, attention_mask=mask, position_ids=places, use_cache=True, **last)
    cache: Any = getattr(out, "past_key_values", None)
    if not hasattr(cache, "batch_select_indices"):
        return None
    first = out.logits[:, -1]
    found = [Reading(logits, []) for logits in first]
    if not any(endings):
        return found, _shortened(cache, mask.shape[1] - 1) if keep else None
    # A cache to keep has a row of every beginning.
    rows = [(number, row) for number, some in enumerate(endings) for row in some or [()][:keep]]
    owners = torch.tensor([number for number, _ in rows], device=model.device)
    cache.batch_select_indices(owners)
    ids, real = padded([row for _, row in rows], model.device)
    places = mask[owners].sum(1, keepdim=True) + torch.arange(ids.shape[1], device=model.device)
    both = torch.cat([mask[owners], real], dim=1)
    out = model(input_ids=ids, attention_mask=both, position_ids=places, past_key_values=cache)
    for (number, row), logits in zip(rows, out.logits, strict=True):
        if row:
            found[number].rows.append((row, logits))
    if not keep:
        return found, None
    heads = [next(at for at, (owner, _) in enumerate(rows) if owner == number)
             for number in range(len(trees))]  # fmt: skip
    cache.batch_select_indices(torch.tensor(heads, device=model.device))
    return found, _shortened(cache, mask.shape[1] - 1)


def _shortened(cache: Any, size: int) -> Any:
    """None if it cannot be, as those of sliding windows."""
    try:
        cache.crop(size - cache.get_seq_length())  # below 0: how many to take off
    except (AttributeError, RuntimeError, ValueError):
        return None
    return cache if cache.get_seq_length() == size else None


def _whole_rows(model: Any, trees: Sequence[Tree], endings: list[list[Ids]]) -> list[Reading]:
    rows = [(tree.base, row) for tree, some in zip(trees, endings, strict=True)
            for row in some or [()]]  # fmt: skip
    ids, mask = padded([[*base, *row] for base, row in rows], model.device)
    logits = iter(model(input_ids=ids, attention_mask=mask).logits)
    found = []
    for tree, some in zip(trees, endings, strict=True):
        behind = [(row, next(logits)[len(tree.base) - 1 :]) for row in some or [()]]
        found.append(Reading(behind[0][1][0], [(row, of[1:]) for row, of in behind if row]))
    return found


def padded(rows: Sequence[Sequence[int]], device: Any, left: bool = False) -> tuple[Tensor, Tensor]:
    """The rows as one tensor, and 1 where they have ids."""
    width = max(map(len, rows))
    ids = torch.zeros((len(rows), width), dtype=torch.long)
    mask = torch.zeros_like(ids)
    for number, row in enumerate(rows):
        place = slice(width - len(row), width) if left else slice(len(row))
        ids[number, place] = torch.tensor(row, dtype=torch.long)
        mask[number, place] = 1
    return ids.to(device), mask.to(device)
