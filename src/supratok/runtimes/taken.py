"""A `tokenizers.Tokenizer` whose calls our encoder answers."""

from __future__ import annotations

import os
from typing import Any

from ..common.threads import usable_threads
from .cutting import Cutter
from .encoding import Encoding, Sequence
from .model import Model, Refused, state_of
from .settings import Settings, Unsupported

_LISTS = (list, tuple)
_OFF = ("off", "false", "f", "no", "n", "0")  # how TOKENIZERS_PARALLELISM forbids threads


class Taken:
    """The encoder of one tokenizer, and its added tokens. It holds no reference to the tokenizer,
    which holds it."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._cutter: Cutter | None = None

    def forget_added(self) -> None:
        """After tokens were added."""
        self._cutter = None

    def encode(
        self, tokenizer: Any, inputs: Any, cut: bool, special: bool, bare: bool = False
    ) -> list[Any] | None:
        """The encodings of the inputs, texts or pairs, `cut` into words or not; None if
        `tokenizers` itself must encode them. Raises Refused if it must do so from now on."""
        if not self.model.still_fits(tokenizer):
            raise Refused("its normalizer, pre-tokenizer or model was changed")
        texts = _texts(inputs, cut)
        if not texts:
            return None
        settings = Settings(
            state_of(tokenizer.post_processor), tokenizer.truncation, tokenizer.padding, special
        )
        self._cutter = self._cutter or Cutter(
            tokenizer.get_added_tokens_decoder(), bool(self.model.prefix)
        )
        made = self._sequences(texts, self._cutter, tokenizer.encode_special_tokens)
        return made and self._encodings(made, settings, bare)

    def _sequences(
        self, texts: list[list[Any]], cutter: Cutter, special_as_text: bool
    ) -> list[list[Sequence]] | None:
        """The texts with their ids: all stretches between added tokens in one batch."""
        sequences = list[list[Sequence]]()
        for one in texts:
            made = [_cut(text, cutter, special_as_text) for text in one]
            if None in made:
                return None
            sequences.append([sequence for sequence in made if sequence])
        flat = [sequence for some in sequences for sequence in some]
        stretches = [text for some in flat for text, id in some.parts if id is None]
        encoded = iter(self.model.encode(stretches, _threads()))
        for sequence in flat:
            sequence.take(encoded)
        return sequences

    def _encodings(
        self, batch: list[list[Sequence]], settings: Settings, bare: bool
    ) -> list[Encoding] | None:
        made = list[Encoding]()
        for sequences in batch:
            try:
                kept = settings.kept([len(text.ids) for text in sequences], len(sequences) > 1)
            except Unsupported as error:
                raise Refused(str(error)) from error
            if kept is None:
                return None
            made.append(Encoding(self.model, settings, sequences, kept, bare))
        if settings.padding is not None and made:
            length = settings.padded(max(map(len, made)))
            for encoding in made:
                encoding.pad_to(length)
        return made


def _texts(inputs: Any, cut: bool) -> list[list[Any]] | None:
    """Of each input its one or two texts; None if one is not plain text."""
    if type(inputs) not in _LISTS:
        return None
    found = []
    for one in inputs:
        if _is_text(one, cut):
            found.append([one])
        elif (
            type(one) in (list, tuple) and 0 < len(one) <= 2 and all(_is_text(t, cut) for t in one)
        ):
            found.append(list(one))
        else:
            return None
    return found


def _is_text(text: Any, cut: bool) -> bool:
    if not cut:
        return type(text) is str
    return type(text) in _LISTS and all(type(word) is str for word in text)


def _cut(text: Any, cutter: Cutter, special_as_text: bool) -> Sequence | None:
    if isinstance(text, str):
        parts = cutter.cut(text, special_as_text)
        return None if parts is None else Sequence(parts)
    every, words = [], []
    for number, word in enumerate(text):
        parts = cutter.cut(word, special_as_text)
        if parts is None:
            return None
        every += parts
        words += [number] * len(parts)
    return Sequence(every, words)


def _threads() -> int:
    """One where the user forbids `tokenizers` more, or there is one."""
    return (
        1 if os.environ.get("TOKENIZERS_PARALLELISM", "").lower() in _OFF else usable_threads(None)
    )
