"""Texts that are written out inside other texts and have ids of their own: special tokens."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping


class Specials:
    """Cuts texts at special tokens. At each place the longest one counts.

    specials = Specials({"<s>": 0}, prefix="")
    specials.encode(["<s>a"], encode_batch)     # [[0, *ids of "a"]]
    """

    def __init__(self, ids: Mapping[str, int], prefix: str) -> None:
        self._ids, self._prefix = ids, prefix

    @functools.cached_property
    def _pattern(self) -> re.Pattern[str]:
        longest_first = sorted(self._ids, key=len, reverse=True)
        return re.compile("(" + "|".join(map(re.escape, longest_first)) + ")")

    def encode(
        self, texts: list[str], encode_batch: Callable[[list[str]], list[list[int]]]
    ) -> list[list[int]]:
        """The ids of each text; `encode_batch` encodes the ordinary text between special tokens."""
        split = [self._pattern.split(text) for text in texts]
        ordinary = iter(encode_batch([part for parts in split for part in self._ordinary(parts)]))
        return [self._woven(parts, ordinary) for parts in split]

    def _ordinary(self, parts: list[str]) -> Iterator[str]:
        """Only the first stretch of ordinary text gets the prefix."""
        prefix = self._prefix
        for part in parts[::2]:
            if part:
                yield prefix + part
                prefix = ""

    def _woven(self, parts: list[str], ordinary: Iterator[list[int]]) -> list[int]:
        ids: list[int] = []
        for place, part in enumerate(parts):
            if place % 2:
                ids.append(self._ids[part])
            elif part:
                ids += next(ordinary)
        return ids
