"""A `tokenizer.json` as a mapping: check it, load it, list its steps, read and write its spelling
of text."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Callable, Iterator
from typing import Any

from ...common.packages import package
from ...common.shapes import check_shape
from ...tokenizer.inputs import IDS, LONGEST_TOKEN
from ..listing import SPACE

Document = dict[str, Any]


def _step() -> Document:
    """Of a normalizer or a pre-tokenizer: the parts that we read."""
    return {
        "type": str,
        "normalizers?": [_step],
        "pretokenizers?": [_step],
        "pattern?": {"String?": str, "Regex?": str},
        "content?": str,
        "prepend?": str,
        "replacement?": str,
        "prepend_scheme?": str,
        "behavior?": str,
        "add_prefix_space?": bool,
        "use_regex?": bool,
        "split?": bool,
        "invert?": bool,
    }


_FLAGS = ("special", "single_word", "lstrip", "rstrip", "normalized")
_MODEL = {
    "type?": str,
    "unk_token?": str,
    "unk_id?": IDS,
    "dropout?": float,
    "continuing_subword_prefix?": str,
    "end_of_word_suffix?": str,
    "byte_fallback?": bool,
    "ignore_merges?": bool,
}
_SHAPE = {
    "added_tokens?": [{"id": IDS, "content": str} | dict.fromkeys(_FLAGS, bool)],
    "normalizer?": _step,
    "pre_tokenizer?": _step,
    "model": _MODEL,
}
_VOCABULARIES = {
    "BPE": {"vocab": {str: IDS}, "merges": [Any]},
    "Unigram": {"vocab": [(str, float)]},
}


def check_document(document: Document) -> None:
    """Refuse a tokenizer.json whose values have the wrong types, and tokens that are too long. The
    vocabularies of models other than BPE and Unigram are not looked at."""
    check_shape(document, _SHAPE)
    kind = model_type(document)
    if kind not in _VOCABULARIES:
        return
    check_shape(document, {"model": _VOCABULARIES[kind]})
    vocab = document["model"]["vocab"]
    for text in vocab if kind == "BPE" else (text for text, _ in vocab):
        if len(text) > LONGEST_TOKEN:
            raise ValueError(
                f"its token {text[:40]!r}... is longer than {LONGEST_TOKEN:,} characters"
            )


def model_type(document: Document) -> str:
    model = document["model"]
    return str(model.get("type") or ("BPE" if "merges" in model else "unknown"))


def pair_of(merge: object) -> tuple[str, str]:
    """The two tokens of a merge, which newer files write as a list and older ones as one string."""
    parts = merge.split(" ") if isinstance(merge, str) else merge
    if (
        not isinstance(parts, (list, tuple))
        or len(parts) != 2
        or not all(isinstance(p, str) for p in parts)
    ):
        raise ValueError(f"its merge {merge!r:.80} is not of two tokens; write it as an array")
    return parts[0], parts[1]


_PARTS = ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder")


def whole(document: Document) -> Document:
    """The document with the parts that its file omits."""
    given = {name: value for name, value in document.items() if value is not None}
    return dict.fromkeys(_PARTS) | {"version": "1.0", "added_tokens": []} | given


def load(document: Document) -> Any:
    """A `tokenizers.Tokenizer` that neither truncates nor pads."""
    crate = package("tokenizers", "extend")
    with crate_errors("it"):
        tokenizer = crate.Tokenizer.from_str(json.dumps(document))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@contextlib.contextmanager
def crate_errors(name: str) -> Iterator[None]:
    """Errors of `tokenizers` as ValueError. It raises bare exceptions, and on what its authors did
    not foresee a PanicException, which is no Exception."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise ValueError(f"{name}: tokenizers cannot use it ({error})") from error


def bare(document: Document) -> Document:
    """The model alone: it only merges, and takes text in the spelling of the vocabulary."""
    model = document["model"] | {"ignore_merges": False}
    return whole({"model": model})


def encode_spelled(document: Document, texts: list[str]) -> list[list[int]]:
    return encode_all(load(document), texts)


def encode_all(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    with crate_errors("it"):
        return [one.ids for one in tokenizer.encode_batch(texts, add_special_tokens=False)]


def steps_of(part: Document | None, inner: str = "pretokenizers") -> list[Document]:
    """The steps of a pre-tokenizer, or with `inner="normalizers"` of a normalizer, in order."""
    if part is None:
        return []
    if part["type"] != "Sequence":
        return [part]
    return [step for some in part.get(inner) or [] for step in steps_of(some, inner)]


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
