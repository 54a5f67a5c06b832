"""A tokenizer file and the program that runs it: the interface of all programs, and our own.

    with Ours.load("supratok.json") as runtime:
        runtime.encode_batch(["in New York"])      # the ids of each text

Special tokens in a text are text, and none are added. `peer.open_any` opens any file, `verify` all
files of a folder.
"""

from __future__ import annotations

import abc
import importlib.metadata
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from ..common.reserved import byte_name
from ..tokenizer import Tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ids = Sequence[int] | NDArray[np.int64]


class Runtime(abc.ABC):
    program: ClassVar[str]  # the package that runs it
    name: str  # the file

    @property
    def version(self) -> str:
        """The program's version."""
        return importlib.metadata.version(self.program)

    @abc.abstractmethod
    def encode_batch(self, texts: list[str], threads: int | None = None) -> Sequence[Ids]:
        """The ids of each text; default: all cores. Some programs choose their threads alone."""

    @abc.abstractmethod
    def decode(self, ids: list[int]) -> str: ...

    def can_hold(self, text: str) -> bool:
        """Whether the format tells this text from all others. If not, `verify` skips the text."""
        return True

    def can_return(self, text: str) -> bool:
        """Whether the program can print this text from its ids."""
        return True

    def close(self) -> None:  # noqa: B027, most programs hold nothing
        """Free what the program holds."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Ours(Runtime):
    program = "supratok"

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.vocab_size = tokenizer.vocab_size

    @classmethod
    def load(cls, path: Path) -> Ours:
        return cls(str(path), Tokenizer.load(path))

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text)

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        return self.tokenizer.encode_with_offsets(text)

    def decode(self, ids: list[int]) -> str:
        return self.tokenizer.decode(ids)

    def token_strings(self, text: str) -> list[str]:
        return self.tokenizer.tokens(text)

    def encode_batch(self, texts: list[str], threads: int | None = None) -> list[NDArray[np.int64]]:
        return self.tokenizer.encode_batch(texts, threads, numpy=True)

    def token_text(self, id: int) -> str:
        return self.tokenizer.id_to_token(id) or ""


_INNER = bytes(range(0x80, 0xC0))  # the bytes inside a character


def offsets_of(tokens: Iterable[bytes]) -> list[tuple[int, int]]:
    """Where the tokens of a text begin and end, in characters; a part of a character counts as the
    whole character."""
    found, begun = list[tuple[int, int]](), 0
    for token in tokens:
        start = begun - (token[:1].strip(_INNER) != token[:1])  # inside a character that has begun
        begun += len(token.translate(None, _INNER))
        found.append((start, begun))
    return found


def readable(token: bytes) -> str:
    """A token for people: a byte that is no whole character is written <0xE2>."""
    text = token.decode(errors="surrogateescape")  # such a byte becomes U+DC00 plus its value
    return re.sub("[\udc80-\udcff]", lambda byte: byte_name(ord(byte[0]) - 0xDC00), text)
