"""The programs that read what we export, each behind the same small face, for `verify`.

    for open_it in runtimes_for(folder).openers:
        with open_it() as runtime:
            runtime.encode_batch(["a text"])

Special tokens that stand in a text are text here, and none are added: what is compared is what a
runtime makes of plain text.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, Self

from ..tokenizer import Tokenizer
from ..tokenizer.file import FILE
from .gguf.llama_cpp import open_vocabulary


class Runtime(Protocol):
    """Something that encodes and decodes."""

    name: str
    version: str

    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...
    def encode_batch(self, texts: list[str]) -> list[list[int]]: ...
    def decode_batch(self, ids: list[list[int]]) -> list[str]: ...
    def can_hold(self, text: str) -> bool:
        """Whether it can tell this text from all others; where not, that is a limit of its format,
        and it is not asked."""
        ...

    def can_return(self, text: str) -> bool:
        """Whether it can print the text of these ids."""
        ...


@dataclass
class Found:
    openers: list[Callable[[], Runtime]] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)  # name to reason


def runtimes_for(folder: Path, only: list[str] | None = None) -> Found:
    """Every runtime that is installed and finds its file in the folder; ours, if it is there,
    first."""
    found = Found()
    for name, (file, package, open_it) in _KINDS.items():
        if only and name not in only and name != "supratok":
            continue
        if not (folder / file).exists():
            if only and name in only:
                found.missing[name] = f"no {file} in the folder"
        elif not any(map(importlib.util.find_spec, package)):
            found.missing[name] = f"not installed: pip install {package[0]}"
        else:
            found.openers.append(functools.partial(open_it, folder / file))
    return found


def version_of(package: str) -> str:
    return importlib.metadata.version(package)


class _Plain:
    """For runtimes that need no closing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def can_hold(self, text: str) -> bool:
        return True

    def can_return(self, text: str) -> bool:
        return True


class Ours(_Plain):
    name = "supratok"

    def __init__(self, path: Path) -> None:
        self.tokenizer = Tokenizer.load(path)
        self.version = version_of("supratok")

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        return self.tokenizer.encode_batch(texts)

    def decode_batch(self, ids: list[list[int]]) -> list[str]:
        return [self.tokenizer.decode(one) for one in ids]


class Tokenizers(_Plain):
    """The `tokenizers` crate, which vLLM and TGI run too."""

    name = "tokenizers"

    def __init__(self, path: Path) -> None:
        import tokenizers

        self.version = version_of("tokenizers")
        self._tokenizer = tokenizers.Tokenizer.from_file(str(path))
        self._tokenizer.encode_special_tokens = True  # as text

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        return [one.ids for one in self._tokenizer.encode_batch(texts, add_special_tokens=False)]

    def decode_batch(self, ids: list[list[int]]) -> list[str]:
        texts: list[str] = self._tokenizer.decode_batch(ids, skip_special_tokens=False)
        return texts


class Transformers(_Plain):
    """`AutoTokenizer`, decoding as it does by itself."""

    name = "transformers"

    def __init__(self, path: Path) -> None:
        from transformers import AutoTokenizer

        self.version = version_of("transformers")
        self._tokenizer = AutoTokenizer.from_pretrained(path.parent)

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        if not texts:
            return []
        ids: list[list[int]] = self._tokenizer(
            texts, add_special_tokens=False, split_special_tokens=True
        )["input_ids"]
        return ids

    def decode_batch(self, ids: list[list[int]]) -> list[str]:
        texts: list[str] = self._tokenizer.batch_decode(ids)
        return texts


class SentencePiece(_Plain):
    name = "sentencepiece"

    def __init__(self, path: Path) -> None:
        import sentencepiece

        self.version = version_of("sentencepiece")
        self._processor = sentencepiece.SentencePieceProcessor(model_file=str(path))

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        ids: list[list[int]] = self._processor.encode(texts)
        return ids

    def decode_batch(self, ids: list[list[int]]) -> list[str]:
        texts: list[str] = self._processor.decode(ids)
        return texts

    def can_hold(self, text: str) -> bool:
        return "▁" not in text


# By name: the file it reads, the packages that can (any of them), and how it is opened.
_KINDS: dict[str, tuple[str, tuple[str, ...], Callable[[Path], Runtime]]] = {
    "supratok": (FILE, ("supratok",), Ours),
    "tokenizers": ("tokenizer.json", ("tokenizers",), Tokenizers),
    "transformers": ("tokenizer.json", ("transformers",), Transformers),
    "sentencepiece": ("tokenizer.model", ("sentencepiece",), SentencePiece),
    "llama.cpp": ("tokenizer.gguf", ("xllamacpp", "llama_cpp"), open_vocabulary),
}
NAMES = tuple(_KINDS)
