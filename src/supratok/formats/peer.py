"""Any tokenizer, ours or another program's, behind one interface.

    for path in ("supratok.json", "tokenizer.json", "tokenizer.model", "o200k_base.tiktoken"):
        print(path, len(open_any(path).encode("in New York")))

The content of a file says which format it has, not its name. Each may be compressed, with `.zst`
appended.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ..tokenizer.file import FILE, FORMAT
from ..tokenizer.inputs import find_file, naming, parse_object, read_file
from .boundless import FORMAT as BOUNDLESS
from .boundless import Boundless
from .huggingface.run import HuggingFace
from .runtime import Ours
from .sentencepiece.run import SentencePiece
from .tiktoken import Tiktoken, is_tiktoken

if TYPE_CHECKING:
    from .runtime import Ids


class Peer(Protocol):
    """A tokenizer. Special tokens in a text are text, and none are added."""

    @property
    def name(self) -> str: ...
    @property
    def vocab_size(self) -> int: ...
    def encode(self, text: str) -> list[int]: ...
    def decode(self, ids: list[int]) -> str: ...
    def token_strings(self, text: str) -> list[str]:
        """The tokens of a text, for people to read; part of a character is written <0xE2>."""
        ...


@runtime_checkable
class Batching(Protocol):
    """A tokenizer that encodes many texts at once."""

    def encode_batch(self, texts: list[str], threads: int | None = None) -> Sequence[Ids]:
        """The ids of each text; default: all cores."""
        ...


@runtime_checkable
class Spelling(Protocol):
    """A tokenizer that knows the text of each token."""

    def token_text(self, id: int) -> str:
        """The text of a token, with its spaces; byte symbols and parts of characters are written
        <0xE2>. Empty if no token has this id."""
        ...


@runtime_checkable
class Locating(Peer, Protocol):
    """A tokenizer that knows where its tokens lie in a text."""

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """The ids, and where each token begins and ends in the text, in characters; a part of a
        character counts as the whole character."""
        ...


@dataclass
class Named:
    """A tokenizer under another name."""

    name: str
    peer: Peer

    @property
    def vocab_size(self) -> int:
        return self.peer.vocab_size

    def encode(self, text: str) -> list[int]:
        return self.peer.encode(text)

    def decode(self, ids: list[int]) -> str:
        return self.peer.decode(ids)

    def token_strings(self, text: str) -> list[str]:
        return self.peer.token_strings(text)


def open_any(path: str | os.PathLike[str]) -> Locating:
    """A supratok tokenizer, a Hugging Face `tokenizer.json`, a SentencePiece `.model` or a
    `.tiktoken` file; or a folder that holds one of the first three."""
    name = os.fspath(path)
    with naming(name):
        data = read_file(find_file(path, FILE, "tokenizer.json", "tokenizer.model"))
        if not data:
            raise _unknown(name, "it is empty")
        if data.lstrip().startswith(b"{"):
            return _open_json(name, data)
        if is_tiktoken(data):
            return Tiktoken(name, data)
        try:  # a protocol buffer has no first byte to recognise it by
            return SentencePiece(name, data)
        except ValueError as error:
            raise _unknown(name, "neither JSON, nor ranks, nor a SentencePiece model") from error


def _open_json(name: str, data: bytes) -> Locating:
    try:
        document = parse_object(data)
    except ValueError as error:
        raise _unknown(name, f"it begins like JSON, but is {error}") from error
    if document.get("format") == BOUNDLESS:
        return Boundless(name, document)
    if document.get("format") != FORMAT:
        return HuggingFace(name, data)
    return Ours.load(Path(name))


def _unknown(name: str, why: object) -> ValueError:
    return ValueError(
        f"{name}: not a tokenizer that supratok knows ({why}); pass a supratok file, a Hugging Face"
        " tokenizer.json, a SentencePiece .model or a .tiktoken, each also with .zst appended"
    )
