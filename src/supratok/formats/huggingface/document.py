"""A `tokenizer.json` as a mapping: load it, list its steps, read and write its spelling of text."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

from ...common.packages import package
from ..listing import SPACE

Document = dict[str, Any]

_PARTS = ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder")


def whole(document: Document) -> Document:
    """The document with the parts that its file omits."""
    return dict.fromkeys(_PARTS) | {"version": "1.0", "added_tokens": []} | document


def load(document: Document) -> Any:
    """A `tokenizers.Tokenizer` that neither truncates nor pads."""
    tokenizer = package("tokenizers", "extend").Tokenizer.from_str(json.dumps(document))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def bare(document: Document) -> Document:
    """The model alone: it only merges, and takes text in the spelling of the vocabulary."""
    model = document["model"] | {"ignore_merges": False}
    return whole({"model": model})


def encode_spelled(document: Document, texts: list[str]) -> list[list[int]]:
    return [one.ids for one in load(document).encode_batch(texts, add_special_tokens=False)]


def steps_of(part: Document | None, inner: str = "pretokenizers") -> list[Document]:
    """The steps of a pre-tokenizer, or with `inner="normalizers"` of a normalizer, in order."""
    if part is None:
        return []
    if part["type"] != "Sequence":
        return [part]
    return [step for some in part[inner] for step in steps_of(some, inner)]


# --- How the vocabulary spells text ----------------------------------------------------------


def spelling(document: Document) -> Callable[[str], str]:
    """A function that spells a text as the vocabulary does: " a" as "Ġa", "▁a" or " a"."""
    if is_byte_level(document):
        letters = letter_of_byte()
        return lambda text: "".join(letters[byte] for byte in text.encode())
    before = json.dumps([document["normalizer"], document["pre_tokenizer"]], ensure_ascii=False)
    if f'"{SPACE}"' in before:
        return lambda text: text.replace(" ", SPACE)
    return lambda text: text


def reading(document: Document) -> Callable[[str], bytes]:
    """A function that gives the bytes of a piece of the vocabulary, without the marks that only say
    where in a word it belongs. A byte symbol stays a name: <0xE2>."""
    parts = ("normalizer", "pre_tokenizer", "decoder")
    around = json.dumps([document.get(part) for part in parts], ensure_ascii=False)
    if '"ByteLevel"' in around:
        byte_of = byte_of_letter()
        return lambda piece: b"".join(
            bytes([byte_of[letter]]) if letter in byte_of else letter.encode() for letter in piece
        )
    model = document["model"]
    prefix = model.get("continuing_subword_prefix") or ""
    suffix = model.get("end_of_word_suffix") or ""
    space = SPACE if f'"{SPACE}"' in around else " "
    return lambda piece: (
        piece.removeprefix(prefix).removesuffix(suffix).replace(space, " ").encode()
    )


def is_byte_level(document: Document) -> bool:
    return any(step["type"] == "ByteLevel" for step in steps_of(document["pre_tokenizer"]))


@functools.cache
def letter_of_byte() -> list[str]:
    """Byte-level vocabularies spell a byte as a visible letter: its own in Latin-1 if that is
    visible, else one from U+0100 on. The space, for example, is Ġ."""
    visible = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in visible else next(others)) for byte in range(256)]


@functools.cache
def byte_of_letter() -> dict[str, int]:
    return {letter: byte for byte, letter in enumerate(letter_of_byte())}


def bytes_of_letters(letters: str) -> bytes:
    """The bytes of a token of a byte-level vocabulary."""
    byte_of = byte_of_letter()
    return bytes(byte_of[letter] for letter in letters)
