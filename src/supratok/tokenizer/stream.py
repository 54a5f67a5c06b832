"""`DecodeStream`: the text of ids that come one after the other, as a model generates them."""

from __future__ import annotations

import codecs
import operator
from collections.abc import Callable, Container, Iterable
from typing import Any, SupportsIndex

from .arguments import list_of_ids


class DecodeStream:
    """Returns text as soon as it is complete; `Tokenizer.decode_stream` makes one.

    All that it returns, joined, is what `decode` returns for all ids. It never returns half a
    character, and holds back three bytes at most.
    """

    def __init__(
        self, bytes_of: Callable[[int], bytes], special: Container[int], skip: bool, prefix: bytes
    ) -> None:
        self._bytes_of, self._special, self._skip, self._prefix = bytes_of, special, skip, prefix
        self._begin()

    def _begin(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = False  # whether an ordinary id has come: the prefix is before the first

    def step(self, ids: SupportsIndex | Iterable[int]) -> str:
        """The text that is complete with this id, or with these ids; maybe none."""
        pieces = [(id, self._bytes_of(id)) for id in _listed(ids)]  # before anything changes
        return "".join(self._step(id, data) for id, data in pieces)

    def _step(self, id: int, data: bytes) -> str:
        if id not in self._special:
            data, self._begun = data if self._begun else data.removeprefix(self._prefix), True
        elif self._skip:
            return ""
        return self._decoder.decode(data)

    def finish(self) -> str:
        """What is left: U+FFFD for a character that was not completed. Then a text begins anew."""
        left = self._decoder.decode(b"", True)
        self._begin()
        return left


def _listed(ids: Any) -> list[int]:
    try:
        return [operator.index(ids)]
    except TypeError:
        return list_of_ids(ids)
