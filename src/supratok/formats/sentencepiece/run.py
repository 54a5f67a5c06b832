"""A SentencePiece model (`tokenizer.model`), run by `sentencepiece`."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

from ...common.packages import package
from ...tokenizer.inputs import read_file
from ..listing import SPACE
from ..runtime import Runtime


class SentencePiece(Runtime):
    program = "sentencepiece"

    def __init__(self, name: str, data: bytes) -> None:
        sentencepiece = package("sentencepiece", "compare")
        self._processor = sentencepiece.SentencePieceProcessor()
        try:
            self._processor.LoadFromSerializedProto(data)
            self.vocab_size: int = self._processor.vocab_size()
        except RuntimeError as error:
            message = f"{name}: not a SentencePiece model ({error}); download it again"
            raise ValueError(message) from error
        self.name = name

    @classmethod
    def load(cls, path: Path) -> SentencePiece:
        return cls(str(path), read_file(path))

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self._processor.encode(text)
        return ids

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Of the bytes of a character, the package gives the last one all of it, and the others
        nothing. Here each has the whole character."""
        proto = package("sentencepiece.sentencepiece_pb2", "export")
        found = self._processor.encode(text, out_type="serialized_proto")
        pieces = proto.SentencePieceText.FromString(found).pieces
        begun = [0, *accumulate(byte & 0xC0 != 0x80 for byte in text.encode())]  # characters
        offsets = [(begun[piece.begin], begun[piece.end]) for piece in pieces]
        for place in reversed(range(len(offsets) - 1)):
            start, end = offsets[place]
            if start == end:
                offsets[place] = offsets[place + 1]
        return [piece.id for piece in pieces], offsets

    def decode(self, ids: list[int]) -> str:
        return str(self._processor.decode(ids))

    def token_strings(self, text: str) -> list[str]:
        pieces: list[str] = self._processor.encode(text, out_type=str)
        return [piece.replace(SPACE, " ") for piece in pieces]

    def encode_batch(self, texts: list[str], threads: int | None = None) -> list[list[int]]:
        ids: list[list[int]] = self._processor.encode(texts, num_threads=threads or -1)
        return ids

    def token_text(self, id: int) -> str:
        piece = str(self._processor.id_to_piece(id)) if 0 <= id < self.vocab_size else ""
        return piece.replace(SPACE, " ")

    def can_hold(self, text: str) -> bool:
        """SentencePiece reads a literal U+2581 as a space."""
        return SPACE not in text
