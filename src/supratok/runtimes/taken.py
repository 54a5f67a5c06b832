"""A `tokenizers.Tokenizer` whose calls our encoder answers."""

from __future__ import annotations

import os
from typing import Any

from ..common.threads import usable_threads
from .cutting import Cutter, Part
from .encoding import Encoding, Maker, Sequence
from .model import Model, Refused
from .settings import Settings

_LISTS = (list, tuple)
_OFF = ("off", "false", "f", "no", "n", "0")  # how TOKENIZERS_PARALLELISM forbids threads


class Taken:
    """The encoder of one tokenizer, and its added tokens. It holds no reference to the tokenizer,
    which holds it."""

    def __init__(self, model: Model, patch: object) -> None:
        self.model, self.patch = model, patch
        self._added = 0  # how often tokens were added
        self._cutter: tuple[int, Cutter] | None = None

    def forget_added(self) -> None:
        """After tokens were added."""
        self._added += 1

    def encode(
        self, tokenizer: Any, inputs: Any, cut: bool, special: bool
    ) -> list[Encoding] | None:
        """The encodings of the inputs, texts or pairs, `cut` into words or not; None if
        `tokenizers` itself must encode them. Raises Refused if it must do so from now on."""
        if not self.model.still_fits(tokenizer):
            raise Refused("its normalizer, pre-tokenizer or model was changed")
        if type(inputs) not in _LISTS or not inputs:
            return None
        reader = _Reader(self._cutter_of(tokenizer), tokenizer.encode_special_tokens, cut)
        batch = list[tuple[Sequence, ...]]()
        for one in inputs:
            sequences = reader.read(one)
            if sequences is None:
                return None
            batch.append(sequences)
        self._fill(batch)
        return _encodings(batch, Maker(self.model, Settings(tokenizer, special)))

    def _cutter_of(self, tokenizer: Any) -> Cutter:
        """Made anew after tokens were added, in whatever thread."""
        added, known = self._added, self._cutter
        if known is None or known[0] != added:
            cutter = Cutter(tokenizer.get_added_tokens_decoder(), bool(self.model.prefix))
            known = self._cutter = added, cutter
        return known[1]

    def _fill(self, batch: list[tuple[Sequence, ...]]) -> None:
        """Give each text its ids: the stretches of all in one batch."""
        stretches = [text for some in batch for one in some for text in one.stretches()]
        threads = _threads() if len(stretches) > 1 else 1
        encoded = iter(self.model.encode(stretches, threads))
        for some in batch:
            for sequence in some:
                sequence.take(encoded)


def _encodings(batch: list[tuple[Sequence, ...]], maker: Maker) -> list[Encoding] | None:
    """The encodings, cut to a length and padded; None if `tokenizers` must do it."""
    settings = maker.settings
    made = list[Encoding]()
    for sequences in batch:
        kept = settings.kept([len(text.ids) for text in sequences])
        if kept is False:
            return None
        made.append(Encoding(maker, sequences, kept))
    if settings.padding is not None:
        length = settings.padded(max(map(len, made)))
        for encoding in made:
            encoding.pad_to(length)
    return made


class _Reader:
    """Reads the inputs of a call, `cut` into words or not."""

    def __init__(self, cutter: Cutter, special_as_text: bool, cut: bool) -> None:
        self._cutter, self._special_as_text, self._cut = cutter, special_as_text, cut

    def read(self, one: Any) -> tuple[Sequence, ...] | None:
        """Its one or two texts; None if one is not plain text, or not for us."""
        if self._is_text(one):
            first = self._sequence(one)
            return None if first is None else (first,)
        if type(one) not in _LISTS or len(one) != 2 or not all(map(self._is_text, one)):
            return None
        found = tuple(sequence for text in one if (sequence := self._sequence(text)))
        return found if len(found) == len(one) else None

    def _is_text(self, text: Any) -> bool:
        if not self._cut:
            return type(text) is str
        return type(text) in _LISTS and all(type(word) is str for word in text)

    def _sequence(self, text: Any) -> Sequence | None:
        if not self._cut:
            parts = self._cutter.cut(text, self._special_as_text)
            return None if parts is None else Sequence(parts)
        every, words = list[Part](), list[int]()
        for number, word in enumerate(text):
            parts = self._cutter.cut(word, self._special_as_text)
            if parts is None:
                return None
            every += [(parts, None)] if isinstance(parts, str) else parts
            words += [number] * (len(every) - len(words))
        return Sequence(every, words)


def _threads() -> int:
    """All cores, or one where the user forbids `tokenizers` to use more."""
    forbidden = os.environ.get("TOKENIZERS_PARALLELISM", "").lower() in _OFF
    return usable_threads(1 if forbidden else None)
