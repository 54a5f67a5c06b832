"""A target: text of the kind that a tokenizer will serve, in a half that decides and a half that
measures.

    target = read_target("tickets/*.jsonl")
    target.deciding      # weighs when passes choose tokens
    target.measuring     # decides nothing: the gain is measured on it

The halves depend on the texts alone: documents in the order of their hashes go to the half that has
fewer characters so far. A document that is longer than all others together is cut first, at the
paragraph next to its middle, else at the line, the sentence or the blank.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .split import HeldOut, digest
from .stream import Source, open_corpus

# Choice: bytes of text that are kept, for both halves; of more text a sample, chosen by hash.
CAPACITY = 64 << 20
_CUTS = (r"\n\s*\n", r"\n", r"(?<=[.!?…。！？])\s", r"\s")  # the best places first


@dataclass(frozen=True)
class TargetText:
    """The two halves, as documents."""

    deciding: list[str]
    measuring: list[str]

    @property
    def identity(self) -> str:
        """The SHA-256 of both halves: what decides and what measures."""
        hash = hashlib.sha256()
        for half in (self.deciding, self.measuring):
            for text in half:
                data = text.encode()
                hash.update(len(data).to_bytes(8, "big") + data)
            hash.update(b"\0" * 9)  # no document begins so: it ends the half
        return hash.hexdigest()


def read_target(source: Source | TargetText, **reading: Any) -> TargetText:
    """The halves of a text; `reading`: see `open_corpus`. Halves that exist stay as they are."""
    if isinstance(source, TargetText):
        if not source.deciding:
            raise ValueError("the target is empty: no text in the half that decides")
        return source
    with open_corpus(source, **reading) as corpus:
        sample = HeldOut(CAPACITY)
        for text in corpus:
            if text.strip():
                sample.add(text, digest(text))
        if not sample.documents:
            why = corpus.describe_left_out()
            found = f"no documents were found{f' ({why})' if why else ''}"
            raise ValueError(f"the target is empty: {found}; check what was passed")
        return halves(sample.documents)


def halves(texts: Iterable[str]) -> TargetText:
    """Divide documents; identical ones count once."""
    documents = sorted(dict.fromkeys(texts), key=digest)
    longest = max(documents, key=len, default="")
    if 2 * len(longest) > sum(map(len, documents)):
        place = documents.index(longest)
        documents[place : place + 1] = _cut(longest)
    deciding: list[str] = []
    measuring: list[str] = []
    sizes = [0, 0]
    for text in documents:
        lesser = sizes[1] < sizes[0]
        (measuring if lesser else deciding).append(text)
        sizes[lesser] += len(text)
    return TargetText(deciding, measuring)


def _cut(text: str) -> list[str]:
    """The two parts of a document, cut behind the best boundary next to its middle."""
    middle = len(text) / 2
    for pattern in _CUTS:
        ends = [found.end() for found in re.finditer(pattern, text)]
        inside = [end for end in ends if text[:end].strip() and text[end:].strip()]
        if inside:
            end = min(inside, key=lambda end: (abs(end - middle), end))
            return [text[:end], text[end:]]
    raise ValueError(
        f"the target is one word of {len(text):,} characters: it has no half to measure on; pass"
        " more text"
    )
