"""Tokenizers side by side: ours and other people's behind one small face, and what they make of a
text.

    for path in ("supratok.json", "tokenizer.json", "tokenizer.model", "o200k_base.tiktoken"):
        print(path, measure(open_any(path), texts).characters_per_token)

A file's content says what kind it is, not its name; each may be packed, with `.zst` appended.
"""

from __future__ import annotations

import base64
import binascii
import functools
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import zstandard

from ..common.packages import package
from ..common.reserved import byte_name
from ..tokenizer import Tokenizer, usable_threads
from ..tokenizer.file import FILE, FORMAT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Peer(Protocol):
    """What every tokenizer can do. Special tokens in a text are text, and none are added."""

    @property
    def name(self) -> str: ...
    @property
    def vocab_size(self) -> int: ...
    def encode(self, text: str) -> list[int]: ...
    def decode(self, ids: list[int]) -> str: ...
    def token_strings(self, text: str) -> list[str]:
        """The tokens for people to read; part of a character is written <0xE2>."""
        ...


@runtime_checkable
class Batching(Protocol):
    """What can encode many texts at once."""

    def encode_batch(
        self, texts: list[str], threads: int | None = None
    ) -> Sequence[Sequence[int] | NDArray[np.uint32]]:
        """The ids of each text. Without `threads`, on all cores."""
        ...


@runtime_checkable
class Spelling(Protocol):
    """What knows the text of each token."""

    def token_text(self, id: int) -> str:
        """The text that an id stands for, with its spaces; byte symbols and parts of characters
        are written <0xE2>. Empty where no token has the id."""
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


def open_any(path: str | os.PathLike[str]) -> Peer:
    """A supratok tokenizer, a Hugging Face `tokenizer.json`, a SentencePiece `.model` or a
    `.tiktoken` file; or a folder that holds one of the first three."""
    name = os.fspath(path)
    data = _read(_in_folder(Path(path)))
    if not data:
        raise _unknown(name, "it is empty")
    if data.lstrip().startswith(b"{"):
        return _open_json(name, data)
    if re.match(rb"[A-Za-z0-9+/]+=* \d+\r?(\n|$)", data):
        return _Tiktoken(name, _ranks(name, data))
    return _SentencePiece(name, data)


def _in_folder(path: Path) -> Path:
    if not path.is_dir():
        return path
    files = (path / name for name in (FILE, "tokenizer.json", "tokenizer.model"))
    found = next((file for file in files if file.exists()), None)
    if found is None:
        raise _unknown(str(path), "a folder without a tokenizer")
    return found


def _read(path: Path) -> bytes:
    packed = path.read_bytes()
    if path.suffix != ".zst":
        return packed
    data, why = b"", "its end is missing"
    try:
        while packed:  # frame after frame
            unpacker = zstandard.ZstdDecompressor().decompressobj()
            data += unpacker.decompress(packed)
            packed = unpacker.unused_data
            if not unpacker.eof:
                break
        else:
            return data
    except zstandard.ZstdError as error:
        why = str(error)
    raise ValueError(f"{path}: a damaged archive ({why}); fetch or pack it again")


def _open_json(name: str, data: bytes) -> Peer:
    try:
        document = json.loads(data)
    except ValueError as error:
        raise _unknown(name, f"it begins like JSON, but {error}") from error
    if document.get("format") == "boundless-bpe":
        from ..lab.baselines.boundless import Boundless  # which reads this file's patterns

        return Boundless(name, document)
    if document.get("format") != FORMAT:
        return _HuggingFace(name, data)
    with tempfile.TemporaryDirectory(prefix="supratok-") as folder:  # it may have been packed
        copy = Path(folder, Path(name).name)
        copy.write_bytes(data)
        return _Ours(name, Tokenizer.load(copy))


def _unknown(name: str, why: object) -> ValueError:
    return ValueError(
        f"{name}: no tokenizer that is known here ({why}); pass a supratok file, a Hugging Face"
        " tokenizer.json, a SentencePiece .model or a .tiktoken, each also with .zst appended"
    )


# --- The kinds -------------------------------------------------------------------------------


@dataclass
class _Ours:
    name: str
    tokenizer: Tokenizer

    @property
    def vocab_size(self) -> int:
        return self.tokenizer.vocab_size

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text)

    def decode(self, ids: list[int]) -> str:
        return self.tokenizer.decode(ids)

    def token_strings(self, text: str) -> list[str]:
        return self.tokenizer.tokens(text)

    def encode_batch(
        self, texts: list[str], threads: int | None = None
    ) -> list[NDArray[np.uint32]]:
        return self.tokenizer.encode_batch(texts, threads, numpy=True)

    def token_text(self, id: int) -> str:
        return self.tokenizer.token_text(id) if id in self._ids else ""

    @functools.cached_property
    def _ids(self) -> frozenset[int]:
        return frozenset(self.tokenizer.ids)


class _HuggingFace:
    """A `tokenizer.json`. What it would cut off or fill up for a model is not wanted here."""

    def __init__(self, name: str, data: bytes) -> None:
        tokenizers = package("tokenizers", "compare")
        try:
            self._tokenizer = tokenizers.Tokenizer.from_buffer(data)
        except Exception as error:  # the package has no narrower one
            raise _unknown(name, error) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # as text
        self.name = name
        self.vocab_size: int = self._tokenizer.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def decode(self, ids: list[int]) -> str:
        return str(self._tokenizer.decode(ids, skip_special_tokens=False))

    def token_strings(self, text: str) -> list[str]:
        """The text each token covers: its own spelling is the model's affair. Of tokens that share
        one character, each shows it."""
        offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        return [text[start:end] for start, end in offsets]

    def encode_batch(self, texts: list[str], threads: int | None = None) -> list[list[int]]:
        """The package has its own threads: with 1 it is asked text by text, else it takes all."""
        if threads == 1:
            return [self.encode(text) for text in texts]
        made = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [encoding.ids for encoding in made]

    def document(self) -> str:
        """The `tokenizer.json` itself."""
        return str(self._tokenizer.to_str())

    def token_text(self, id: int) -> str:
        piece = self._tokenizer.id_to_token(id)
        if piece is None or id in self._added:  # the latter are written as they are
            return piece or ""
        return _readable(self._reading(piece))

    @functools.cached_property
    def _added(self) -> frozenset[int]:
        return frozenset(self._tokenizer.get_added_tokens_decoder())

    @functools.cached_property
    def _reading(self) -> Callable[[str], bytes]:
        from .huggingface.document import reading

        return reading(json.loads(self._tokenizer.to_str()))


class _SentencePiece:
    """A `.model`: a protocol buffer, which no first byte gives away, so it is simply tried."""

    def __init__(self, name: str, data: bytes) -> None:
        sentencepiece = package("sentencepiece", "compare")
        try:
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=data)
            self.vocab_size: int = self._processor.vocab_size()
        except RuntimeError as error:
            raise _unknown(name, "neither JSON, nor ranks, nor a SentencePiece model") from error
        self.name = name

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self._processor.encode(text)
        return ids

    def decode(self, ids: list[int]) -> str:
        return str(self._processor.decode(ids))

    def token_strings(self, text: str) -> list[str]:
        pieces: list[str] = self._processor.encode(text, out_type=str)
        return [piece.replace("▁", " ") for piece in pieces]

    def encode_batch(self, texts: list[str], threads: int | None = None) -> list[list[int]]:
        made: list[list[int]] = self._processor.encode(texts, num_threads=threads or -1)
        return made

    def token_text(self, id: int) -> str:
        piece = str(self._processor.id_to_piece(id)) if 0 <= id < self.vocab_size else ""
        return piece.replace("▁", " ")


# A .tiktoken file holds the ranks and not the pattern that cuts the text before merging. These are
# the patterns of the vocabularies that are published in this format, told apart by their size.
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
_PATTERNS = ((190_000, "o200k", _O200K), (90_000, "cl100k", _CL100K), (0, "gpt2", _GPT2))


class _Tiktoken:
    def __init__(self, name: str, ranks: dict[bytes, int]) -> None:
        _, split, pattern = next(row for row in _PATTERNS if len(ranks) >= row[0])
        self.name = f"{name} ({split} split)"
        self.vocab_size = len(ranks)
        self._encoding = package("tiktoken", "compare").Encoding(
            self.name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
        )

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self._encoding.encode_ordinary(text)
        return ids

    def decode(self, ids: list[int]) -> str:
        return str(self._encoding.decode(ids))

    def token_strings(self, text: str) -> list[str]:
        return [_readable(self._encoding.decode_single_token_bytes(id)) for id in self.encode(text)]

    def encode_batch(self, texts: list[str], threads: int | None = None) -> list[list[int]]:
        made: list[list[int]] = self._encoding.encode_ordinary_batch(
            texts, num_threads=usable_threads(threads)
        )
        return made

    def token_text(self, id: int) -> str:
        try:
            return _readable(self._encoding.decode_single_token_bytes(id))
        except KeyError:
            return ""


def _ranks(name: str, data: bytes) -> dict[bytes, int]:
    """Lines of a token in base64, a space and its rank."""
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(data.splitlines(), 1):
        try:
            token, rank = line.split()
            ranks[base64.b64decode(token, validate=True)] = int(rank)
        except (ValueError, binascii.Error) as error:
            raise ValueError(
                f"{name}, line {number}: not a token in base64, a space and a rank; fetch it again"
            ) from error
    missing = next((byte for byte in range(256) if bytes([byte]) not in ranks), None)
    if missing is not None:
        raise ValueError(f"{name}: the byte 0x{missing:02X} has no rank; fetch the whole file")
    return ranks


def _readable(token: bytes) -> str:
    """Bytes that are no character are written <0xE2>."""
    text = token.decode(errors="surrogateescape")  # which makes of such a byte U+DC00 and its value
    return re.sub("[\udc80-\udcff]", lambda byte: byte_name(ord(byte[0]) - 0xDC00), text)


# --- Measuring -------------------------------------------------------------------------------


@dataclass
class Measure:
    """What a tokenizer makes of some texts."""

    name: str
    vocab_size: int
    tokens: int = 0
    characters: int = 0
    bytes: int = 0
    lossless: bool | None = None  # did decoding give every text back? None: nobody looked
    seconds: float = 0.0  # for encoding, on one thread

    @property
    def characters_per_token(self) -> float | None:
        return self.characters / self.tokens if self.tokens else None

    @property
    def bytes_per_token(self) -> float | None:
        return self.bytes / self.tokens if self.tokens else None

    @property
    def megabytes_per_second(self) -> float | None:
        return self.bytes / 1e6 / self.seconds if self.seconds and self.bytes else None


def measure(peer: Peer, texts: Iterable[str], check: bool = True) -> Measure:
    """Encode each text, timed, and with `check` see whether decoding gives it back."""
    found = Measure(peer.name, peer.vocab_size, lossless=True if check else None)
    peer.encode("The first call may have to get ready.")
    for text in texts:
        before = time.perf_counter()
        ids = peer.encode(text)
        found.seconds += time.perf_counter() - before
        found.tokens += len(ids)
        found.characters += len(text)
        found.bytes += len(text.encode())
        if check and found.lossless:
            found.lossless = peer.decode(ids) == text
    return found


def total(measures: Sequence[Measure]) -> Measure:
    """The measures of one tokenizer on several files, added up."""
    whole = Measure("total", measures[0].vocab_size)
    for part in measures:
        whole.tokens += part.tokens
        whole.characters += part.characters
        whole.bytes += part.bytes
        whole.seconds += part.seconds
    return whole
