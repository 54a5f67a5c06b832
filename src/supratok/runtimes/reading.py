"""What a language model says after several endings of the same beginning, in two passes.

    (reading,), _ = read(model, [Tree([5, 6, 7], [(8, 9), (4,)])])
    reading.after(())         # the logits behind 5 6 7
    reading.after((8,))       # behind 5 6 7 8

The first pass reads the beginning of each tree and one of its endings. The second, if there are
others, reads them, a row each, on copies of the cache of keys and values that the first one made;
the columns of the first ending are masked there. A model without such a cache reads each beginning
with each ending, in one pass; the results are the same.
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


class Kept(NamedTuple):
    """What generation can go on from: a cache with a row of each tree, padded on the left, and the
    ids in it."""

    cache: Any
    rows: list[list[int]]


def read(
    model: Any, trees: Sequence[Tree], keep: bool = False
) -> tuple[list[Reading], Kept | None]:
    """The logits at all places of each tree. With `keep`, also the cache of the first pass, if the
    model has one."""
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
) -> tuple[list[Reading], Kept | None] | None:
    """None if the model has no cache that can be copied by rows."""
    known = inspect.signature(model.forward).parameters
    if not {"past_key_values", "position_ids", "attention_mask"} <= known.keys():
        return None
    first = [() if _slides(model) else max(rows, key=len, default=()) for rows in endings]
    read = [[*tree.base, *row] for tree, row in zip(trees, first, strict=True)]
    # Rows end in the same column, as in `generate`: the padding is on the left.
    ids, mask = padded(read, model.device, left=True)
    wanted = 1 + max(map(len, first))
    last = {"logits_to_keep": wanted} if "logits_to_keep" in known else {}
    places = (mask.cumsum(1) - 1).clamp(min=0)
    out = model(input_ids=ids, attention_mask=mask, position_ids=places, use_cache=True, **last)
    cache: Any = getattr(out, "past_key_values", None)
    if not hasattr(cache, "batch_select_indices"):
        return None
    found = [
        Reading(logits[-len(row) - 1], [(row, logits[-len(row) :])] if row else [])
        for row, logits in zip(first, out.logits, strict=True)
    ]
    others = [[row for row in rows if row != its] for rows, its in zip(endings, first, strict=True)]
    if any(others):
        _read_others(model, cache, mask, first, others, found, keep)
    if not keep or _slides(model) or not _shortened(cache, mask.shape[1]):
        return found, None
    return found, Kept(cache, read)


def _read_others(
    model: Any,
    cache: Any,
    mask: Tensor,
    first: list[Ids],
    others: list[list[Ids]],
    found: list[Reading],
    keep: bool,
) -> None:
    """The second pass. A cache to keep has a row of every tree then, and ends longer."""
    rows = [(number, row) for number, some in enumerate(others) for row in some or [()][:keep]]
    owners = torch.tensor([number for number, _ in rows], device=mask.device)
    before = mask[owners]
    for at, (number, _) in enumerate(rows):
        before[at, before.shape[1] - len(first[number]) :] = 0
    cache.batch_select_indices(owners)
    ids, real = padded([row for _, row in rows], mask.device)
    places = before.sum(1, keepdim=True) + torch.arange(ids.shape[1], device=mask.device)
    both = torch.cat([before, real], dim=1)
    out = model(input_ids=ids, attention_mask=both, position_ids=places, past_key_values=cache)
    heads: dict[int, int] = {}
    for at, ((number, row), logits) in enumerate(zip(rows, out.logits, strict=True)):
        heads.setdefault(number, at)
        if row:
            found[number].rows.append((row, logits))
    if keep:
        cache.batch_select_indices(torch.tensor(list(heads.values()), device=mask.device))


def _slides(model: Any) -> bool:
    """Whether it looks back at a number of columns, masked ones included: then these must not be
    between the ids."""
    config = getattr(model, "config", None)
    kinds = getattr(config, "layer_types", None) or ()
    return bool(getattr(config, "sliding_window", None)) or any(
        "full" not in kind for kind in kinds
    )


def _shortened(cache: Any, size: int) -> bool:
    """Take off what is behind the first columns, if the cache can."""
    try:
        if size < cache.get_seq_length():
            cache.crop(size - cache.get_seq_length())  # below 0: how many to take off
    except (AttributeError, RuntimeError, ValueError):
        return False
    return bool(cache.get_seq_length() == size)


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
