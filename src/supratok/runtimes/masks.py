"""Which ids may come next, as tensors for a model's logits."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from ..tokenizer import Tokenizer
from .reading import Tensor, torch

_KEPT = 1024  # masks; each has a byte for every id


class Masks:
    """`Tokenizer.next_mask` as wide as a model's logits: rows beyond the vocabulary never may come.

    Under `merges` the last id alone decides, unless it is a byte; so masks are kept by it."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._bytes = frozenset(tokenizer._ids.bytes)
        self._local = tokenizer.recipe.segmentation == "merges"
        self._kept = OrderedDict[Any, Tensor]()

    def after(self, ids: Sequence[int], like: Tensor) -> Tensor:
        """The mask behind some ids, for a row of logits such as `like`."""
        size, last = len(like), int(ids[-1]) if len(ids) else None
        if not self._local or last in self._bytes:
            return self._made(ids, size).to(like.device)
        key = last, size, like.device
        if key not in self._kept:
            self._kept[key] = self._made([] if last is None else [last], size).to(like.device)
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

    def _made(self, ids: Sequence[int], size: int) -> Tensor:
        mask = torch.zeros(size, dtype=torch.bool)
        found = torch.from_numpy(self._tokenizer.next_mask(ids))[:size]
        mask[: len(found)] = found
        return mask
