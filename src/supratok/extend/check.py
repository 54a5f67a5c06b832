"""Before anything is written: the new tokenizer beside the base, on text that was held out and on
text made to break it. For every text the new ids, expanded, must be the base's ids."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from ..formats.hostile import hostile_texts
from ..formats.huggingface.document import Document, load
from .base import Base
from .extension import Extension

_BATCH = 256
_HOSTILE = 500  # new tokens that stand in hostile text


def compare(
    base: Base, document: Document, extension: Extension, texts: Iterable[str]
) -> dict[str, int]:
    """How many tokens the texts are, before and after. A difference beyond the new tokens is an
    error: it would mean that this program's reasoning has a hole."""
    new = load(document)
    found = {"characters": 0, "tokens_before": 0, "tokens": 0}
    for some in _batches(texts):
        for text, old, ids in zip(some, _ids(base.tokenizer, some), _ids(new, some), strict=True):
            if extension.expand(ids) != old:
                raise ValueError(
                    f"{base.name}: cannot be extended exactly; {text[:200]!r} would encode"
                    " otherwise than before. Please report this tokenizer"
                )
            found["characters"] += len(text)
            found["tokens_before"] += len(old)
            found["tokens"] += len(ids)
    return found


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(texts)
    while some := list(itertools.islice(rest, _BATCH)):
        yield some


def _ids(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    return [one.ids for one in tokenizer.encode_batch(texts, add_special_tokens=False)]


def hostile(base: Base, extension: Extension) -> Iterator[str]:
    """What encoders go wrong on; and new tokens where words end otherwise than they seem to, among
    everything that is cut."""
    step = max(1, len(extension.tokens) // _HOSTILE)
    added = [token["content"] for token in base.document["added_tokens"]][:20]
    marks = [
        "'s", "'ll", "’s", "x", "X", "\u0301", "é", "1", " 1", ",", ", ", ",\n", ". ", "  ", "\n",
        "\t", "\u00a0", "-", "_", "/", "😀", "中", "!", ' "', *added,
    ]  # fmt: skip
    yield from hostile_texts([token.text for token in extension.tokens], added)
    for token in extension.tokens[::step]:
        text = token.text
        for mark in marks:
            yield f"{text}{mark}{text}{text.strip()}{mark}{text.upper()}{mark} {text}{text}"
