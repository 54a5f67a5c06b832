"""The composition of a training corpus (the paper's Table E1) and of a vocabulary.

composition(open_corpus("de.jsonl.zst"))     # documents, sentences, words of the first pass
classes(peer, counts.usage)                  # tokens of one word, of two, of three ...
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...common import _core
from ...corpus.batches import batches
from ...formats.peer import Spelling
from ...tokenizer import usable_threads
from .counts import Integers

SHORTEST = 50  # Table E1: characters of the shortest document, after stripping

# Choice: the paper does not define sentences. Here one ends at a line end; at a full stop, question
# or exclamation mark with closing quotes and brackets, before whitespace; at East Asian marks
# anywhere. So "Dr. Smith" counts one too many, and Thai, which has no such marks, far too few.
_CLOSING = r"[\"'”’»)\]」』）]*+"
_MARKS = rf"[.!?…؟۔।॥։]++{_CLOSING}(?=\s)|[。！？｡]++{_CLOSING}"
_END = re.compile(rf"\n|{_MARKS}")
SENTENCE_END = re.compile(_MARKS)  # without line ends
_WORD = re.compile(r"\w")
_BYTE = re.compile(r"<0x[0-9A-F]{2}>")
_WORDS_TOLD_APART = 4
_COUNTED = 3  # the first classes of words: letters, punctuation and symbols, numbers


@dataclass(frozen=True)
class Composition:
    """A line of Table E1."""

    documents: int
    sentences: int
    words: int  # of the first pass: of letters, of digits, of punctuation; no spaces
    characters: int
    left_out: int  # documents that were too short


def composition(documents: Iterable[str], threads: int | None = None) -> Composition:
    """Count a corpus. The words are those of our first pass: the paper does not define its
    pre-tokenizer."""
    kept = sentences = words = characters = left_out = 0
    for batch in batches(documents):
        texts = [text for text in batch if len(text.strip()) >= SHORTEST]
        table = _core.WordTable(1)
        table.count(texts, usable_threads(threads))
        words += int(table.totals()[:_COUNTED].sum())
        sentences += sum(map(sentences_in, texts))
        characters += sum(map(len, texts))
        kept += len(texts)
        left_out += len(batch) - len(texts)
    return Composition(kept, sentences, words, characters, left_out)


def sentences_in(text: str) -> int:
    """
    >>> sentences_in('He said "No." Then 3.5 days passed...\\n東京です。はい！')
    4
    """
    return sum(_WORD.search(part) is not None for part in _END.split(text))


@dataclass(frozen=True)
class Class:
    """The tokens of one class."""

    name: str
    tokens: int
    share: float  # of the vocabulary
    use: float | None  # share of the tokens of a text


def classes(peer: Spelling, usage: Integers) -> list[Class]:
    """The tokens of a vocabulary by class. `usage` has the number of uses by id, and may be all
    zeros."""
    names = np.array([class_of(peer.token_text(id)) for id in range(len(usage))])
    size = int(np.count_nonzero(names != ""))
    return [_class(name, names == name, size, usage) for name in CLASSES]


def _class(name: str, members: NDArray[np.bool_], size: int, usage: Integers) -> Class:
    tokens, uses = int(np.count_nonzero(members)), int(usage.sum())
    use = int(usage[members].sum()) / uses if uses else None
    return Class(name, tokens, tokens / max(1, size), use)


CLASSES = (
    "bytes and parts of characters", "whitespace", "punctuation and symbols", "within one word",
    *(f"{number} words" for number in range(2, _WORDS_TOLD_APART)),
    f"{_WORDS_TOLD_APART} words or more",
)  # fmt: skip


def class_of(text: str) -> str:
    """One of `CLASSES`; empty if no token has the id. Whitespace separates words, as in
    `counts.crosses_words`: a number is a word, and so is a comma with space on both sides."""
    if not text:
        return ""
    words = len(text.split())
    if words > 1:
        return CLASSES[2 + min(words, _WORDS_TOLD_APART)]
    if _BYTE.search(text):
        return CLASSES[0]
    if not words:
        return CLASSES[1]
    return CLASSES[3] if _WORD.search(text) else CLASSES[2]
