"""Encoders over a list of entries: the core's, and one that cuts some texts out first."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

from ..common import _core
from .token import Token

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BYTES = 256  # every encoder has a symbol for each byte, before its entries


def encoder_of(texts: list[str], fewest: bool, counts: list[int] | None = None) -> _core.Encoder:
    """An encoder of bare entries, in rank order, the alphabet first; ids: the bytes, the entries.
    `counts`, how often each is expected, only affect the speed."""
    return _core.Encoder(texts, counts or [1] * len(texts), fewest=fewest, first_id=0)


def encoder_of_tokens(tokens: list[Token], fewest: bool) -> _core.Encoder:
    return encoder_of([token.text for token in tokens], fewest, [token.count for token in tokens])


class CuttingEncoder:
    """Cuts some texts out and encodes the rest; it has the methods of `_core.Encoder`.

    always = {"ab": 900}: "cabd" is encoded as "c", then the id 900, then "d". The prefix comes
    before the first stretch that is not empty.
    """

    def __init__(
        self, core: _core.Encoder | CuttingEncoder, always: Mapping[str, int], prefix: str = ""
    ) -> None:
        self._core, self._always, self._prefix = core, dict(always), prefix

    @functools.cached_property
    def _pattern(self) -> re.Pattern[str]:
        longest_first = sorted(self._always, key=len, reverse=True)
        return re.compile("(" + "|".join(map(re.escape, longest_first)) + ")")

    def _split(self, text: str) -> tuple[list[str], list[int]]:
        """The stretches between the cuts, one more than there are cuts, and the ids of the cuts."""
        parts = self._pattern.split(text)
        stretches = parts[::2]
        first = next((place for place, part in enumerate(stretches) if part), None)
        if first is not None:
            stretches[first] = self._prefix + stretches[first]
        return stretches, [self._always[part] for part in parts[1::2]]

    def encode(self, text: str) -> list[int]:
        stretches, cuts = self._split(text)
        return _woven(map(self._core.encode, stretches), cuts)

    def encode_array(self, text: str) -> NDArray[np.int64]:
        import numpy as np

        return np.array(self.encode(text), dtype=np.int64)

    def encode_batch(
        self, texts: list[str], threads: int, arrays: bool
    ) -> list[list[int]] | list[NDArray[np.int64]]:
        import numpy as np

        split = list(map(self._split, texts))
        stretches = [stretch for some, _ in split for stretch in some]
        encoded = iter(cast("list[list[int]]", self._core.encode_batch(stretches, threads, False)))
        ids = [_woven(itertools.islice(encoded, len(cuts) + 1), cuts) for _, cuts in split]
        return [np.array(some, dtype=np.int64) for some in ids] if arrays else ids

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        ids: list[int] = []
        offsets: list[tuple[int, int]] = []
        place = 0
        for number, part in enumerate(self._pattern.split(text)):
            some, spans = [self._always[part]] if number % 2 else [], [(0, len(part))]
            if not some:
                some, spans = self._core.encode_with_offsets(part)
            ids += some
            offsets += [(place + start, place + end) for start, end in spans]
            place += len(part)
        return ids, offsets

    def count(self, text: str) -> int:
        stretches, cuts = self._split(text)
        return sum(map(self._core.count, stretches)) + len(cuts)

    def usage(self, texts: list[str], threads: int) -> NDArray[np.int64]:
        import numpy as np

        split = list(map(self._split, texts))
        used = self._core.usage([stretch for some, _ in split for stretch in some], threads)
        cuts = np.array([id for _, some in split for id in some], dtype=np.int64)
        return np.bincount(cuts, minlength=len(used)) + np.pad(
            used, (0, max(0, int(cuts.max(initial=-1)) + 1 - len(used)))
        )

    def decode(self, ids: list[int]) -> bytes:
        return self._core.decode(ids)

    def states(self) -> NDArray[np.uint8]:
        return self._core.states()

    def parts(self, entry: int) -> tuple[int, int] | None:
        return self._core.parts(entry)


def _woven(stretches: Iterable[Iterable[int]], cuts: list[int]) -> list[int]:
    """The ids of the stretches with the ids of the cuts between them."""
    ids: list[int] = []
    for stretch, cut in itertools.zip_longest(stretches, cuts):
        ids += stretch
        if cut is not None:
            ids.append(cut)
    return ids
