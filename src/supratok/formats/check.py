"""Two encoders on the same texts, for `extend` and for imports.

An import is exact by its reasoning. The check on hostile texts catches a file, or a version of a
program, that is not what we think it is.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..tokenizer import Tokenizer
from .assemble import LITERAL_SPACE, SPACE_FIRST, Vocabulary
from .hostile import hostile_texts
from .listing import SPACE
from .runtime import Runtime

if TYPE_CHECKING:
    from .runtime import Ids

_BATCH = 256  # texts
Encode = Callable[[list[str]], Sequence["Ids"]]


def side_by_side(
    texts: Iterable[str], first: Encode, second: Encode
) -> Iterator[tuple[str, list[int], list[int]]]:
    """Each text with its ids by both encoders."""
    rest = iter(texts)
    while batch := list(itertools.islice(rest, _BATCH)):
        for text, one, other in zip(batch, first(batch), second(batch), strict=True):
            yield text, list(one), list(other)


def check_import(tokenizer: Tokenizer, vocab: Vocabulary, runtime: Runtime) -> None:
    """The imported tokenizer must give the ids of the program that the file is from."""
    texts = hostile_texts(tokenizer.texts, [*tokenizer.special_tokens, *vocab.always])
    kept = (text for text in texts if not _differs_on_purpose(text, vocab))
    encode = functools.partial(runtime.encode_batch, threads=1)
    for text, ours, theirs in side_by_side(kept, tokenizer.encode_batch, encode):
        if ours != theirs:
            raise vocab.refuse(
                f"{runtime.program} encodes {text[:200]!r} as {theirs[:50]}, and this import as"
                f" {ours[:50]}",
                "it cannot be imported; please report this",
            )


def _differs_on_purpose(text: str, vocab: Vocabulary) -> bool:
    """Whether the other program loses part of the text."""
    return (SPACE in text and LITERAL_SPACE in vocab.differences) or (
        text.startswith(" ") and SPACE_FIRST in vocab.differences
    )
