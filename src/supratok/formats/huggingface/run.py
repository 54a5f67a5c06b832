"""A `tokenizer.json`, run by `tokenizers` or by `transformers`."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path

from ...common.packages import package
from ...tokenizer.inputs import read_file
from ..runtime import Runtime, offsets_of, readable
from .document import crate_errors, reading


class HuggingFace(Runtime):
    """The `tokenizers` crate, which vLLM and TGI run too.

    Without `limits` no text is truncated or padded, even if the file says so."""

    program = "tokenizers"

    def __init__(self, name: str, data: bytes, limits: bool = False) -> None:
        tokenizers = package("tokenizers", "compare")
        with crate_errors(f"{name}: not a tokenizer.json"):
            self._tokenizer = tokenizers.Tokenizer.from_buffer(data)
        if not limits:
            self._tokenizer.no_truncation()
            self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # as text
        self.name = name
        self.vocab_size: int = self._tokenizer.get_vocab_size()

    @classmethod
    def load(cls, path: Path) -> HuggingFace:
        """As the package loads the file by itself."""
        return cls(str(path), read_file(path), limits=True)

    def encode(self, text: str) -> list[int]:
        with crate_errors(self.name):
            ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """From the bytes of the tokens, if these are the text. Otherwise as the package says, which
        may leave out spaces at the ends of tokens."""
        with crate_errors(self.name):
            found = self._tokenizer.encode(text, add_special_tokens=False)
        tokens = [self._bytes(id) for id in found.ids]
        is_text = b"".join(tokens) == text.encode()
        return found.ids, offsets_of(tokens) if is_text else found.offsets

    def decode(self, ids: list[int]) -> str:
        with crate_errors(self.name):
            return str(self._tokenizer.decode(ids, skip_special_tokens=False))

    def token_strings(self, text: str) -> list[str]:
        """The text that each token covers. Tokens that share one character all show it."""
        with crate_errors(self.name):
            offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        return [text[start:end] for start, end in offsets]

    def encode_batch(self, texts: list[str], threads: int | None = None) -> list[list[int]]:
        """The package decides on its threads: all, or with `threads=1` one, text by text."""
        if threads == 1:
            return [self.encode(text) for text in texts]
        with crate_errors(self.name):
            made = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [encoding.ids for encoding in made]

    def document(self) -> str:
        """The `tokenizer.json` itself."""
        return str(self._tokenizer.to_str())

    def id_of(self, token: str) -> int | None:
        id: int | None = self._tokenizer.token_to_id(token)
        return id

    def special_id(self, token: str) -> int | None:
        """The id of an added token that is marked as special."""
        added = self._tokenizer.get_added_tokens_decoder()
        return next((id for id, one in added.items() if one.special and one.content == token), None)

    def token_text(self, id: int) -> str:
        return readable(self._bytes(id))

    def _bytes(self, id: int) -> bytes:
        piece = self._tokenizer.id_to_token(id)
        if piece is None or id in self._added:  # the vocabulary writes added tokens literally
            return (piece or "").encode()
        return self._reading(piece)

    @functools.cached_property
    def _added(self) -> frozenset[int]:
        return frozenset(self._tokenizer.get_added_tokens_decoder())

    @functools.cached_property
    def _reading(self) -> Callable[[str], bytes]:
        return reading(json.loads(self.document()))


class Transformers(Runtime):
    """`AutoTokenizer`, which opens the folder around a `tokenizer.json`, with its defaults."""

    program = "transformers"

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        auto = package("transformers", "verify").AutoTokenizer
        try:
            self._tokenizer = auto.from_pretrained(path.parent)
        except Exception as error:  # it passes on those of all it uses
            why = str(error).split("\n")[0]
            raise ValueError(f"{path}: transformers cannot open it ({why})") from error

    def encode_batch(self, texts: list[str], threads: int | None = None) -> list[list[int]]:
        if not texts:
            return []
        ids: list[list[int]] = self._tokenizer(
            texts, add_special_tokens=False, split_special_tokens=True
        )["input_ids"]
        return ids

    def decode(self, ids: list[int]) -> str:
        return str(self._tokenizer.decode(ids))
