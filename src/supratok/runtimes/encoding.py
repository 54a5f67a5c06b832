"""What a patched tokenizer returns in place of a `tokenizers.Encoding`.

Ids and masks are made when they are asked for; tokens and offsets cost a second encoding. All the
rest, such as words and overflowing parts, comes from a real `Encoding` that is made from these
columns; once it exists, it answers everything.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import tokenizers

from .cutting import Part
from .model import Model
from .settings import Piece, Settings

Spans = tuple[list[tuple[int, int]], list[int]]  # of each token: its characters, and its word


class Sequence:
    """One text and its ids. Its parts are a list, or the text itself where no added token is in it.

    `words`, of a text that the caller cut into words, has the word of each part."""

    __slots__ = ("_parts", "_sizes", "_spans", "_words", "ids")

    def __init__(self, parts: str | list[Part], words: list[int] | None = None) -> None:
        self._parts, self._words = parts, words
        self.ids: list[int]
        self._sizes: list[int] | None = None  # how many ids each part has
        self._spans: Spans | None = None

    def stretches(self) -> list[str]:
        """The parts that the model encodes."""
        if isinstance(self._parts, str):
            return [self._parts]
        return [text for text, id in self._parts if id is None]

    def take(self, encoded: Iterator[list[int]]) -> None:
        """The ids of the stretches."""
        if isinstance(self._parts, str):
            self.ids = next(encoded)
            return
        self.ids, self._sizes = [], []
        for _, id in self._parts:
            some = next(encoded) if id is None else [id]
            self.ids += some
            self._sizes.append(len(some))

    def tokens(self, model: Model) -> list[str]:
        if isinstance(self._parts, str):
            return model.names(self.ids)
        found, place = list[str](), 0
        for (text, id), size in zip(self._parts, self._sizes or (), strict=True):
            found += model.names(self.ids[place : place + size]) if id is None else [text]
            place += size
        return found

    def spans(self, model: Model) -> Spans:
        if self._spans is None:
            parts = self._parts
            if isinstance(parts, str):
                self._spans = model.spans(parts)
            else:
                self._spans = self._spans_of(parts, model)
        return self._spans

    def _spans_of(self, parts: list[Part], model: Model) -> Spans:
        offsets, words = list[tuple[int, int]](), list[int]()
        place = word = 0
        for number, (text, id) in enumerate(parts):
            if self._words and number and self._words[number] != self._words[number - 1]:
                place = 0  # each word counts its own characters
            spans, own = model.spans(text) if id is None else ([(0, len(text))], [0])
            offsets += [(place + start, place + end) for start, end in spans]
            if self._words:
                words += [self._words[number]] * len(own)
            else:
                words += [word + one for one in own]
                word = words[-1] + 1
            place += len(text)
        return offsets, words


def _column(make: Callable[[Any], list[Any]]) -> property:
    """A column that is made without the real encoding, unless that exists."""

    @functools.wraps(make)
    def get(encoding: Encoding) -> list[Any]:
        real = encoding._real
        return make(encoding) if real is None else list(getattr(real, make.__name__))

    return property(get)


class Encoding:
    """It has all attributes and methods of a `tokenizers.Encoding`."""

    __slots__ = ("_kept", "_maker", "_padded", "_real", "_sequences")

    def __init__(
        self, maker: Maker, sequences: tuple[Sequence, ...], kept: list[tuple[int, int]] | None
    ) -> None:
        self._maker, self._sequences = maker, sequences
        self._kept = kept  # which tokens of each text; None: all
        self._padded = 0  # to this length
        self._real: Any = None

    # So that isinstance(encoding, tokenizers.Encoding) holds.
    __class__ = property(lambda self: tokenizers.Encoding)

    def pad_to(self, length: int) -> None:
        """Before anything is asked for."""
        self._padded = length

    def __len__(self) -> int:
        return max(self._own_length(), self._padded) if self._real is None else len(self._real)

    def _own_length(self) -> int:
        _, around = self._maker.settings.pieces(len(self._sequences) > 1)
        if self._kept is None:
            return around + sum(len(text.ids) for text in self._sequences)
        return around + sum(end - begin for begin, end in self._kept)

    def _joined(self, special: Callable[[Piece], Any], own: Any, pad: Any) -> list[Any]:
        """A value for each token: by `special` for those around, by `own` for all of a text."""
        found: list[Any] = []
        pieces, _ = self._maker.settings.pieces(len(self._sequences) > 1)
        for piece in pieces:
            if piece.sequence < 0:
                found += special(piece)
                continue
            values = own(self._sequences[piece.sequence], piece)
            if self._kept is not None:
                begin, end = self._kept[piece.sequence]
                values = values[begin:end]
            found += values
        return self._with_padding(found, pad)

    def _with_padding(self, values: list[Any], pad: Any) -> list[Any]:
        missing = self._padded - len(values)
        if missing <= 0:
            return values
        left = self._maker.padding["direction"] == "left"
        return [pad] * missing + values if left else values + [pad] * missing

    @_column
    def ids(self) -> list[int]:
        pad = self._maker.padding["pad_id"]
        return self._joined(lambda piece: piece.ids, lambda text, piece: text.ids, pad)

    @_column
    def type_ids(self) -> list[int]:
        return self._joined(
            lambda piece: [piece.type_id] * len(piece.ids),
            lambda text, piece: [piece.type_id] * len(text.ids),
            self._maker.padding["pad_type_id"],
        )

    @_column
    def attention_mask(self) -> list[int]:
        return self._with_padding([1] * self._own_length(), 0)

    @_column
    def special_tokens_mask(self) -> list[int]:
        return self._joined(
            lambda piece: [1] * len(piece.ids), lambda text, piece: [0] * len(text.ids), 1
        )

    @_column
    def tokens(self) -> list[str]:
        model = self._maker.model
        return self._joined(
            lambda piece: piece.tokens,
            lambda text, piece: text.tokens(model),
            self._maker.padding["pad_token"],
        )

    @_column
    def offsets(self) -> list[tuple[int, int]]:
        nothing = (0, 0)
        model = self._maker.model
        return self._joined(
            lambda piece: [nothing] * len(piece.ids),
            lambda text, piece: text.spans(model)[0],
            nothing,
        )

    @_column
    def overflowing(self) -> list[Any]:
        return [] if self._kept is None else list(self._whole().overflowing)

    @property
    def n_sequences(self) -> int:
        return len(self._sequences) if self._real is None else int(self._real.n_sequences)

    def _whole(self) -> Any:
        """The real one, made once."""
        if self._real is None:
            self._real = self._maker.whole(self._sequences, self._padded)
        return self._real

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._whole(), name)

    def __repr__(self) -> str:
        return repr(self._whole())

    def __reduce_ex__(self, protocol: Any) -> Any:
        """As the real one, so that another process needs no supratok."""
        return self._whole().__reduce_ex__(protocol)


_NO_PADDING: dict[str, Any] = {"pad_id": 0, "pad_type_id": 0, "pad_token": ""}


class Maker:
    """What the encodings of one call share."""

    def __init__(self, model: Model, settings: Settings) -> None:
        self.model, self.settings = model, settings
        self.padding = settings.padding or _NO_PADDING

    def whole(self, sequences: tuple[Sequence, ...], padded: int) -> Any:
        columns = [self._columns(text, number) for number, text in enumerate(sequences)]
        return self.settings.whole(columns, padded)

    def _columns(self, text: Sequence, number: int) -> dict[str, Any]:
        size, (offsets, words) = len(text.ids), text.spans(self.model)
        return {
            "ids": text.ids,
            "type_ids": [number] * size,
            "tokens": text.tokens(self.model),
            "words": words,
            "offsets": offsets,
            "special_tokens_mask": [0] * size,
            "attention_mask": [1] * size,
            "overflowing": [],
            "sequence_ranges": {},
        }
