"""What a patched tokenizer returns in place of a `tokenizers.Encoding`.

Ids and masks are made as soon as they are asked for; tokens and offsets cost a second encoding with
offsets. Everything else, such as words and overflowing parts, comes from a real `Encoding` that is
made from these columns; once it exists, it answers everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tokenizers

from .cutting import Part
from .model import Model
from .settings import Settings


class Sequence:
    """One text: its parts, the ids of them all, and how many ids each part has.

    `words`, of a text that the caller cut into words, has the word of each part."""

    __slots__ = ("_spans", "ids", "parts", "sizes", "words")

    def __init__(self, parts: list[Part], words: list[int] | None = None) -> None:
        self.parts, self.words = parts, words
        self.ids: list[int] = []
        self.sizes: list[int] = []
        self._spans: tuple[list[tuple[int, int]], list[int]] | None = None

    def take(self, encoded: Iterator[list[int]]) -> None:
        """The ids of the parts that are stretches of text."""
        for _, id in self.parts:
            some = next(encoded) if id is None else [id]
            self.ids = self.ids + some if self.ids else some
            self.sizes.append(len(some))

    def tokens(self, model: Model) -> list[str]:
        found, place = list[str](), 0
        for (text, id), size in zip(self.parts, self.sizes, strict=True):
            found += model.names(self.ids[place : place + size]) if id is None else [text]
            place += size
        return found

    def spans(self, model: Model) -> tuple[list[tuple[int, int]], list[int]]:
        """The characters that each token covers, and its word."""
        if self._spans is None:
            self._spans = self._made(model)
        return self._spans

    def _made(self, model: Model) -> tuple[list[tuple[int, int]], list[int]]:
        offsets, words = list[tuple[int, int]](), list[int]()
        place = word = 0
        for number, (text, id) in enumerate(self.parts):
            if self.words and number and self.words[number] != self.words[number - 1]:
                place = 0  # each word counts its own characters
            spans, own = model.spans(text) if id is None else ([(0, len(text))], [0])
            offsets += [(place + start, place + end) for start, end in spans] if place else spans
            words += [self.words[number]] * len(own) if self.words else [word + one for one in own]
            word = words[-1] + 1
            place += len(text)
        return offsets, words


class Encoding:
    """Made lazily; it has all attributes and methods of a `tokenizers.Encoding`."""

    __slots__ = ("_bare", "_kept", "_length", "_model", "_real", "_sequences", "_settings")

    def __init__(
        self, model: Model, settings: Settings, sequences: list[Sequence],
        kept: list[tuple[int, int]], bare: bool,
    ) -> None:  # fmt: skip
        self._model, self._settings, self._sequences = model, settings, sequences
        self._kept, self._bare = kept, bare  # bare: without words and offsets
        self._length = 0  # at least this many, by padding
        self._real: Any = None

    # So that isinstance(encoding, tokenizers.Encoding) holds.
    __class__ = property(lambda self: tokenizers.Encoding)

    def pad_to(self, length: int) -> None:
        self._length = length

    def _column(self, special: Any, own: Any, pad: Any) -> list[Any]:
        """A value for each token: those of a text by `own(sequence, type, begin, end)`."""
        found: list[Any] = []
        for piece in self._settings.pieces(len(self._sequences) > 1):
            if piece.sequence < 0:
                found += special(piece)
            else:
                found += own(self._sequences[piece.sequence], piece, *self._kept[piece.sequence])
        if (missing := self._length - len(found)) > 0:
            filling = [pad] * missing
            left = self._padding["direction"] == "left"
            found = filling + found if left else found + filling
        return found

    @property
    def _padding(self) -> dict[str, Any]:
        return self._settings.padding or {"pad_id": 0, "pad_type_id": 0}

    @property
    def ids(self) -> list[int]:
        if self._real is not None:
            return list(self._real.ids)
        return self._column(
            lambda piece: piece.ids,
            lambda text, piece, begin, end: text.ids[begin:end],
            self._padding["pad_id"],
        )

    def __len__(self) -> int:
        if self._real is not None:
            return len(self._real)
        pieces = self._settings.pieces(len(self._sequences) > 1)
        own = sum(end - begin for begin, end in self._kept)
        return max(own + sum(len(piece.ids) for piece in pieces), self._length)

    @property
    def type_ids(self) -> list[int]:
        if self._real is not None:
            return list(self._real.type_ids)
        return self._column(
            lambda piece: [piece.type_id] * len(piece.ids),
            lambda text, piece, begin, end: [piece.type_id] * (end - begin),
            self._padding["pad_type_id"],
        )

    @property
    def attention_mask(self) -> list[int]:
        if self._real is not None:
            return list(self._real.attention_mask)
        return self._marks(1, 1, 0)

    @property
    def special_tokens_mask(self) -> list[int]:
        if self._real is not None:
            return list(self._real.special_tokens_mask)
        return self._marks(1, 0, 1)

    def _marks(self, special: int, own: int, pad: int) -> list[int]:
        return self._column(
            lambda piece: [special] * len(piece.ids),
            lambda text, piece, begin, end: [own] * (end - begin),
            pad,
        )

    @property
    def offsets(self) -> list[tuple[int, int]]:
        if self._real is not None or self._bare:
            return list(self._whole().offsets)
        return self._column(
            lambda piece: [(0, 0)] * len(piece.ids),
            lambda text, piece, begin, end: text.spans(self._model)[0][begin:end],
            (0, 0),
        )

    @property
    def n_sequences(self) -> int:
        return len(self._sequences) if self._real is None else int(self._real.n_sequences)

    @property
    def overflowing(self) -> list[Any]:
        cut = any(
            end - begin < len(sequence.ids)
            for sequence, (begin, end) in zip(self._sequences, self._kept, strict=True)
        )
        return list(self._whole().overflowing) if cut or self._real is not None else []

    def _whole(self) -> Any:
        """The real one, made once."""
        if self._real is None:
            columns = [self._columns(text, number) for number, text in enumerate(self._sequences)]
            self._real = self._settings.whole(columns, self._length)
        return self._real

    def _columns(self, text: Sequence, number: int) -> dict[str, Any]:
        size, (offsets, words) = len(text.ids), text.spans(self._model)
        return {
            "ids": text.ids,
            "type_ids": [number] * size,
            "tokens": text.tokens(self._model),
            "words": [None] * size if self._bare else words,
            "offsets": [(0, 0)] * size if self._bare else offsets,
            "special_tokens_mask": [0] * size,
            "attention_mask": [1] * size,
            "overflowing": [],
            "sequence_ranges": {},
        }

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._whole(), name)

    def __repr__(self) -> str:
        return repr(self._whole())

    def __reduce_ex__(self, protocol: Any) -> Any:
        """As the real one, so that another process needs no supratok."""
        return self._whole().__reduce_ex__(protocol)
