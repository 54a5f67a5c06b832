"""Which id each token has, and the text of each id.

The house order needs no layout: special tokens, the 256 bytes, the vocabulary. A `Layout` describes
any other order, of tokenizers that other programs made and of those that got special tokens after
training:

    Layout(special=(0, 1, 2), bytes=tuple(range(3, 259)), entries=(31_743, 31_744, 261, ...),
           always={"[REF]": 750}, prefix=True)

The vocabulary stays in rank order, and its texts hold spaces where other programs write U+2581.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..common.reserved import byte_name
from .encoder import BYTES
from .inputs import IDS
from .token import Birth

# In a file; see common/shapes.py.
LAYOUT = {
    "special": [IDS],
    "bytes": [IDS],
    "entries": [IDS],
    "tied": [IDS],
    "always": {str: IDS},
    "spare": {str: IDS},
    "prefix": bool,
}


@dataclass(frozen=True)
class Layout:
    special: Sequence[int]  # the ids of the recipe's special tokens, in their order
    bytes: Sequence[int]  # the ids of the 256 bytes
    entries: Sequence[int]  # the ids of the vocabulary, in rank order
    # Places of entries that share the rank of the entry before: of these the leftmost join comes
    # first. Many SentencePiece models rank their runs of spaces so.
    tied: Sequence[int] = ()
    # Texts that the encoder cuts out first, at each place the longest of them.
    always: Mapping[str, int] = field(default_factory=dict)
    # Texts of ids that no encoding contains.
    spare: Mapping[str, int] = field(default_factory=dict)
    # Whether encoding puts a space before each text, and decoding takes it off.
    prefix: bool = False

    @functools.cached_property
    def size(self) -> int:
        """One more than the largest id."""
        return 1 + max(self._all())

    def _all(self) -> Iterable[int]:
        others = (self.always.values(), self.spare.values())
        return itertools.chain(self.special, self.bytes, self.entries, *others)

    def check(self, special: int, entries: int) -> None:
        """Refuse a layout that does not give each token one id of its own."""
        sizes = (len(self.special), len(self.bytes), len(self.entries))
        if sizes != (special, BYTES, entries):
            raise ValueError(
                f"a layout of {sizes[0]} special tokens, {sizes[1]} bytes and {sizes[2]} entries,"
                f" where there are {special}, {BYTES} and {entries}"
            )
        ids = list(self._all())
        if len(set(ids)) < len(ids) or min(ids) < 0 or max(ids) not in IDS:
            self._refuse_ids(ids)
        wrong = next((place for place in self.tied if not 0 < place < entries), None)
        if wrong is not None:
            raise ValueError(f"a layout with the tied entry {wrong}, where there are {entries}")
        if "" in self.always or "" in self.spare:
            raise ValueError("a layout with an empty text")

    def _refuse_ids(self, ids: list[int]) -> None:
        seen = set[int]()
        for id in ids:
            if id in seen or id < 0:
                raise ValueError(f"a layout with the id {id}, which is negative or given twice")
            if id not in IDS:
                raise ValueError(f"a layout with the id {id}; ids go up to {IDS[-1]:,}")
            seen.add(id)

    def ranks(self) -> list[int]:
        """The rank of each entry."""
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
        """Of values that have the shape LAYOUT."""
        if values.keys() != LAYOUT.keys():
            raise ValueError(f"a layout has {', '.join(LAYOUT)}, and this has {', '.join(values)}")
        parts: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values.items()
        }
        return cls(**parts)


def house_layout(special: int, entries: int) -> Layout:
    """The house order: special tokens, bytes, vocabulary."""
    first = special + BYTES
    return Layout(range(special), range(special, first), range(first, first + entries))


class Names:
    """The text of each id. Encoding needs none of these tables, so each is made on demand."""

    def __init__(
        self, layout: Layout, special: Mapping[str, int], texts: list[str], births: list[Birth]
    ) -> None:
        self._layout, self._special, self._texts, self._births = layout, special, texts, births

    @functools.cached_property
    def texts(self) -> dict[int, str]:
        """The text of each id; of a byte <0xE2>."""
        names = dict(zip(self._layout.entries, self._texts, strict=True))
        names |= {id: byte_name(byte) for byte, id in enumerate(self._layout.bytes)}
        return names | self.unencoded()

    @functools.cached_property
    def ids(self) -> dict[str, int]:
        """The id of each text, in the order of ids."""
        return {text: id for id, text in sorted(self.texts.items())}

    @functools.cached_property
    def entries(self) -> dict[int, int]:
        """The place in the vocabulary of each id that has one."""
        return {id: entry for entry, id in enumerate(self._layout.entries)}

    def unencoded(self) -> dict[int, str]:
        """The text of each id that the core does not know; first those of special tokens."""
        others = (self._special, self._layout.always, self._layout.spare)
        return {id: text for some in others for text, id in some.items()}

    def birth(self, id: int) -> str:
        """See `Tokenizer.birth`."""
        entry = self.entries.get(id)
        return self._other_births.get(id, "byte") if entry is None else self._births[entry]

    @functools.cached_property
    def _other_births(self) -> dict[int, str]:
        kinds = {"always": self._layout.always, "spare": self._layout.spare}
        kinds["special"] = self._special
        return {id: kind for kind, some in kinds.items() for id in some.values()}
