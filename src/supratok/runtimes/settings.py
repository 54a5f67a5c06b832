"""What `tokenizers` does after encoding: cut to a length, put special tokens around, pad.

Only what is simple is done here, at full speed; for the rest `whole` asks `tokenizers` itself.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Any, Literal

from tokenizers import Encoding, Tokenizer
from tokenizers.models import BPE
from tokenizers.processors import TemplateProcessing

from .model import Refused, state_of


@dataclass(frozen=True)
class Piece:
    """A part of a template: a text (0 the first, 1 the second) or special tokens (-1)."""

    sequence: int
    type_id: int
    ids: tuple[int, ...] = ()
    tokens: tuple[str, ...] = ()


@functools.lru_cache(maxsize=64)
def template(state: bytes, pair: bool, special: bool) -> tuple[Piece, ...]:
    """The pieces around one text or two, by the JSON of a post-processor; without one, empty."""
    if not state:
        return (Piece(0, 0), Piece(1, 1)) if pair else (Piece(0, 0),)
    document = json.loads(state)
    if document["type"] != "TemplateProcessing":
        raise Refused(f"its post-processor is {document['type']}")
    known = document["special_tokens"]
    pieces = []
    for part in document["pair" if pair else "single"]:
        ((kind, piece),) = part.items()
        if kind == "Sequence":
            pieces.append(Piece("AB".index(piece["id"]), piece["type_id"]))
        elif special:
            own = known[piece["id"]]
            pieces.append(Piece(-1, piece["type_id"], tuple(own["ids"]), tuple(own["tokens"])))
    if sorted(p.sequence for p in pieces if p.sequence >= 0) != list(range(1 + pair)):
        raise Refused("its post-processor repeats or omits a text")
    return tuple(pieces)


class Settings:
    """The settings of a tokenizer at the time of a call. `special`: add_special_tokens."""

    def __init__(self, tokenizer: Any, special: bool) -> None:
        self.truncation: dict[str, Any] | None = tokenizer.truncation
        self.padding: dict[str, Any] | None = tokenizer.padding
        self._special, self._post_processor = special, state_of(tokenizer.post_processor)
        self._pieces: dict[bool, tuple[tuple[Piece, ...], int]] = {}

    def pieces(self, pair: bool) -> tuple[tuple[Piece, ...], int]:
        """The parts of a template, and how many special tokens it adds."""
        found = self._pieces.get(pair)
        if found is None:
            pieces = template(self._post_processor, pair, self._special)
            found = self._pieces[pair] = (pieces, sum(len(piece.ids) for piece in pieces))
        return found

    def kept(self, lengths: list[int]) -> list[tuple[int, int]] | Literal[False] | None:
        """Which tokens of each text stay; None: all; False: `tokenizers` must decide, or refuse."""
        pair, limit = len(lengths) > 1, self.truncation
        _, around = self.pieces(pair)  # also without a limit: it refuses what it does not know
        if limit is None or sum(lengths) <= limit["max_length"] - around:
            return None
        room = limit["max_length"] - around
        sizes = _sizes(lengths, room, limit["strategy"]) if room > 0 else None
        if sizes is None or any(
            size < length and limit["stride"] >= size
            for size, length in zip(sizes, lengths, strict=True)
        ):
            return False
        if limit["direction"] == "left":
            return [(length - s, length) for s, length in zip(sizes, lengths, strict=True)]
        return [(0, size) for size in sizes]

    def padded(self, longest: int) -> int:
        """The length that encodings are padded to, where the longest of the batch is this."""
        if self.padding is None:
            return 0
        length: int = self.padding["length"]
        length = longest if length is None else length
        multiple: int = self.padding["pad_to_multiple_of"] or 1
        return length + -length % multiple

    @functools.cached_property
    def _twin(self) -> Any:
        """A tokenizer without a vocabulary and with these settings, but the padding."""
        twin = Tokenizer(BPE())
        if self._post_processor:
            twin.post_processor = TemplateProcessing(single="$A", pair="$A $B", special_tokens=[])
            processor = twin.post_processor
            processor.__setstate__(self._post_processor)
            twin.post_processor = processor
        if self.truncation:
            twin.enable_truncation(**self.truncation)
        return twin

    def whole(self, columns: list[dict[str, Any]], length: int) -> Any:
        """The `tokenizers.Encoding` of one text or two, made from their tokens."""
        raw = []
        for column in columns:
            encoding = Encoding()
            encoding.__setstate__(json.dumps(column).encode())
            raw.append(encoding)
        made = self._twin.post_process(*raw, add_special_tokens=self._special)
        if self.padding is not None:
            names = ("direction", "pad_id", "pad_type_id", "pad_token")
            made.pad(length, **{name: self.padding[name] for name in names})
        return made


def _sizes(lengths: list[int], room: int, strategy: str) -> list[int] | None:
    """The tokens that stay of each text, where all together have more than there is room for."""
    if strategy != "longest_first":
        target = 0 if strategy == "only_first" else 1
        if target >= len(lengths):
            return None
        size = lengths[target] - (sum(lengths) - room)
        return None if size < 1 else [*lengths[:target], size, *lengths[target + 1 :]]
    if len(lengths) == 1:
        return [room]
    shorter, longer = sorted(lengths)
    longer = shorter if shorter > room else max(shorter, room - shorter)
    if shorter + longer > room:
        shorter, longer = room // 2, room - room // 2
    return [longer, shorter] if lengths[0] > lengths[1] else [shorter, longer]
