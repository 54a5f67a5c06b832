"""The new tokenizer beside the base, before anything is written: on held-out text, and on text made
to break it. Expand each new id, and you must get the base's ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..formats.check import Encode, side_by_side
from ..formats.hostile import hostile_texts
from ..formats.huggingface.document import Document, encode_all, load
from .base import Base
from .extension import Extension

_HOSTILE = 500  # new tokens that hostile text is made of


def compare(
    base: Base, document: Document, extension: Extension, texts: Iterable[str]
) -> dict[str, int]:
    """Count the tokens of the texts before and after. Any other difference is an error: it would
    show a hole in this program's reasoning."""
    found = {"characters": 0, "tokens_before": 0, "tokens": 0}
    for text, old, new in side_by_side(texts, _encode(base.tokenizer), _encode(load(document))):
        if extension.expand(new) != old:
            raise ValueError(
                f"{base.name}: cannot be extended exactly; {text[:200]!r} would encode differently."
                " Please report this tokenizer"
            )
        found["characters"] += len(text)
        found["tokens_before"] += len(old)
        found["tokens"] += len(new)
    return found


def _encode(tokenizer: Any) -> Encode:
    return lambda texts: encode_all(tokenizer, texts)


def hostile(base: Base, extension: Extension) -> Iterator[str]:
    """Hostile texts of the new tokens; and new tokens between marks at which patterns cut, or at
    which a word seems to end and does not."""
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
