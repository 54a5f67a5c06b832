"""A tokenizer.json as a mapping: how it is loaded, what its steps are, how its vocabulary writes
text."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

from ...common.packages import package

Document = dict[str, Any]

_SPACE = "▁"  # how SentencePiece writes a space
_PARTS = ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder")


def whole(document: Document) -> Document:
    """The document with the parts that its file leaves out."""
    return dict.fromkeys(_PARTS) | {"version": "1.0", "added_tokens": []} | document


def load(document: Document) -> Any:
    """A `tokenizers.Tokenizer` that cuts off and fills up nothing."""
    tokenizer = package("tokenizers", "extend").Tokenizer.from_str(json.dumps(document))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def bare(document: Document) -> Document:
    """The model alone: it takes text as the vocabulary writes it, and only joins."""
    model = document["model"] | {"ignore_merges": False}
    return whole({"model": model})


def encode_spelled(document: Document, texts: list[str]) -> list[list[int]]:
    return [one.ids for one in load(document).encode_batch(texts, add_special_tokens=False)]


def stages(pre_tokenizer: Document | None) -> list[Document]:
    """The steps of a pre-tokenizer, one after another."""
    if pre_tokenizer is None:
        return []
    if pre_tokenizer["type"] != "Sequence":
        return [pre_tokenizer]
    return [stage for part in pre_tokenizer["pretokenizers"] for stage in stages(part)]


# --- How the vocabulary writes text ----------------------------------------------------------


def spelling(document: Document) -> Callable[[str], str]:
    """What writes a text as the vocabulary does."""
    if is_byte_level(document):
        letters = letter_of_byte()
        return lambda text: "".join(letters[byte] for byte in text.encode())
    steps = json.dumps([document["normalizer"], document["pre_tokenizer"]], ensure_ascii=False)
    if f'"{_SPACE}"' in steps:
        return lambda text: text.replace(" ", _SPACE)
    return lambda text: text


def reading(document: Document) -> Callable[[str], bytes]:
    """What reads a piece of the vocabulary: the bytes it stands for, without the marks that say
    only where in a word it stands. A byte symbol stays as it is written: <0xE2>."""
    parts = ("normalizer", "pre_tokenizer", "decoder")
    steps = json.dumps([document.get(part) for part in parts], ensure_ascii=False)
    if '"ByteLevel"' in steps:
        byte_of = {letter: bytes([byte]) for byte, letter in enumerate(letter_of_byte())}
        return lambda piece: b"".join(byte_of.get(letter) or letter.encode() for letter in piece)
    model = document["model"]
    prefix = model.get("continuing_subword_prefix") or ""
    suffix = model.get("end_of_word_suffix") or ""
    space = _SPACE if f'"{_SPACE}"' in steps else " "
    return lambda piece: (
        piece.removeprefix(prefix).removesuffix(suffix).replace(space, " ").encode()
    )


def is_byte_level(document: Document) -> bool:
    return any(stage["type"] == "ByteLevel" for stage in stages(document["pre_tokenizer"]))


@functools.cache
def letter_of_byte() -> list[str]:
    """Byte-level vocabularies write a byte as a visible letter: itself, where it is one in Latin-1,
    and the others from U+0100 on."""
    visible = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in visible else next(others)) for byte in range(256)]
