"""Which id each token has, where it is not the house order: in tokenizers that were made elsewhere,
and where special tokens were added to a finished vocabulary.

    Layout(special=(0, 1, 2), bytes=tuple(range(3, 259)), entries=(31_743, 31_744, 261, ...),
           always={"[REF]": 750}, prefix=True)

Nothing else of the tokenizer changes: the vocabulary is in rank order as ever, and its texts hold
spaces where other programs write U+2581.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from ..common import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BYTES = 256


@dataclass(frozen=True)
class Layout:
    special: Sequence[int]  # the ids of the recipe's special tokens, in their order
    bytes: Sequence[int]  # of the 256 bytes
    entries: Sequence[int]  # of the vocabulary, in rank order
    # Entries, by their place, that share the rank of the one before: of these the leftmost join
    # comes first. Runs of spaces have such ranks in many SentencePiece models.
    tied: Sequence[int] = ()
    # Texts that are cut out before anything else, at each place the longest of them.
    always: Mapping[str, int] = field(default_factory=dict)
    # Texts that an id stands for but that no text is encoded with.
    spare: Mapping[str, int] = field(default_factory=dict)
    # Whether a space is put before each text, and taken off again when decoding.
    prefix: bool = False

    @functools.cached_property
    def size(self) -> int:
        """The largest id, and one."""
        return 1 + max(self._all())

    def _all(self) -> Iterable[int]:
        others = (self.always.values(), self.spare.values())
        return itertools.chain(self.special, self.bytes, self.entries, *others)

    def check(self, special: int, entries: int) -> None:
        """Each id once, and one for every token; else the file is no good."""
        sizes = (len(self.special), len(self.bytes), len(self.entries))
        if sizes != (special, BYTES, entries):
            raise ValueError(
                f"a layout of {sizes[0]} special tokens, {sizes[1]} bytes and {sizes[2]} entries,"
                f" where there are {special}, {BYTES} and {entries}"
            )
        seen = set[int]()
        for id in self._all():
            if id in seen or id < 0:
                raise ValueError(f"a layout with the id {id}, which is negative or given twice")
            seen.add(id)

    def ranks(self) -> list[int]:
        """By entry."""
        tied, ranks = set(self.tied), list[int]()
        for entry in range(len(self.entries)):
            ranks.append(ranks[-1] if entry in tied else entry)
        return ranks

    def with_special(self, ids: Iterable[int]) -> Layout:
        return dataclasses.replace(
            self,
            special=(*self.special, *ids),
            bytes=tuple(self.bytes),
            entries=tuple(self.entries),
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values; `from_dict` reads it back."""
        kept: dict[str, Any] = {"always": dict(self.always), "spare": dict(self.spare)}
        names = ("special", "bytes", "entries", "tied")
        return {name: list(getattr(self, name)) for name in names} | kept | {"prefix": self.prefix}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Layout:
        parts: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values.items()
        }
        return cls(**parts)


def house_layout(special: int, entries: int) -> Layout:
    """Special tokens, bytes, vocabulary, one after the other."""
    first = special + BYTES
    return Layout(range(special), range(special, first), range(first, first + entries))


class Cutting:
    """An encoder that cuts some texts out first; it has the face of `_core.Encoder`.

    always = {"ab": 900}: "cabd" is encoded as "c", then the id 900, then "d".
    """

    def __init__(self, core: _core.Encoder, always: Mapping[str, int]) -> None:
        self._core, self._always = core, dict(always)
        longest_first = sorted(always, key=len, reverse=True)
        self._pattern = re.compile("(" + "|".join(map(re.escape, longest_first)) + ")")

    def _split(self, text: str) -> tuple[list[str], list[int]]:
        """The stretches between the texts that are cut out, one more than those, and their ids."""
        parts = self._pattern.split(text)
        return parts[::2], [self._always[part] for part in parts[1::2]]

    def encode(self, text: str) -> list[int]:
        stretches, cuts = self._split(text)
        return _woven(map(self._core.encode, stretches), cuts)

    def encode_array(self, text: str) -> NDArray[np.uint32]:
        import numpy as np

        return np.array(self.encode(text), dtype=np.uint32)

    def encode_batch(
        self, texts: list[str], threads: int, arrays: bool
    ) -> list[list[int]] | list[NDArray[np.uint32]]:
        import numpy as np

        split = list(map(self._split, texts))
        stretches = [stretch for some, _ in split for stretch in some]
        encoded = iter(cast("list[list[int]]", self._core.encode_batch(stretches, threads, False)))
        ids = [_woven(itertools.islice(encoded, len(cuts) + 1), cuts) for _, cuts in split]
        return [np.array(some, dtype=np.uint32) for some in ids] if arrays else ids

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
    """The ids of the stretches, with what was cut out put back between them."""
    ids: list[int] = []
    for stretch, cut in itertools.zip_longest(stretches, cuts):
        ids += stretch
        if cut is not None:
            ids.append(cut)
    return ids
