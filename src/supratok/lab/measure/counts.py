"""Count the tokens of documents in one pass.

    counts = count(open_any("tokenizer.json"), open_corpus("corpus.jsonl.zst"))
    counts.save("bpe.npz")

By document: characters, bytes, words, tokens, and tokens that cross words. By id: the number of
uses. All figures and intervals come from these counts, so a tokenizer runs once. They take 48 bytes
a document and 8 bytes an id, and counting takes the memory of one batch of text.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...common import _core
from ...common.files import whole_file
from ...corpus.batches import batches
from ...formats.peer import Batching, Peer, Spelling
from ...learn.words import Kind
from ...readings import UNSPACED

Integers = NDArray[np.int64]
Ids = Sequence[int] | NDArray[np.int64]

_ASTRAL = 0x40000  # no letter is assigned from here on


@dataclass(frozen=True)
class Counts:
    """The counts of one tokenizer. `characters` to `crossing` have a value for every document."""

    name: str
    vocab_size: int
    characters: Integers
    bytes: Integers  # of UTF-8
    words: Integers  # see `words_in`
    tokens: Integers
    crossing: Integers | None  # tokens that cross words; None if their texts are unknown
    usage: Integers  # by id: the number of uses
    crosses: NDArray[np.bool_] | None  # by id: see `crosses_words`

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file, whole or not at all."""
        known = {name: value for name, value in asdict(self).items() if value is not None}
        with whole_file(Path(path)) as file:
            np.savez_compressed(file, **known)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Counts:
        """Read a file that `save` wrote."""
        with np.load(path) as file:
            found: dict[str, Any] = dict(file)
        found |= {"name": str(found["name"]), "vocab_size": int(found["vocab_size"])}
        return cls(**{"crossing": None, "crosses": None, **found})


def count(peer: Peer, documents: Iterable[str], threads: int | None = None) -> Counts:
    """Run a tokenizer over documents, in batches if it can; then on so many `threads`."""
    tally = _Tally(peer)
    for texts in batches(documents):
        tally.add(texts, _encoded(peer, texts, threads))
    return tally.counts()


def _encoded(peer: Peer, texts: list[str], threads: int | None) -> Sequence[Ids]:
    if isinstance(peer, Batching):
        return peer.encode_batch(texts, threads)
    return [peer.encode(text) for text in texts]


class _Tally:
    """Counts while they grow."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._usage = np.zeros(peer.vocab_size, np.int64)
        self._crosses = self._marks(0, peer.vocab_size)
        self._rows: list[Integers] = []

    def add(self, texts: list[str], encoded: Sequence[Ids]) -> None:
        lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
        ids = _joined(encoded, int(lengths.sum()))
        if ids.size:
            self._grow(int(ids.max()) + 1)
        self._usage += np.bincount(ids, minlength=len(self._usage))
        crossing = np.zeros(1 + ids.size, np.int64)  # up to each token
        if self._crosses is not None:
            np.cumsum(self._crosses[ids], out=crossing[1:])
        ends = np.cumsum(lengths)
        columns = [
            [len(text) for text in texts],
            [len(text) if text.isascii() else len(text.encode()) for text in texts],
            [words_in(text) for text in texts],
            lengths,
            crossing[ends] - crossing[ends - lengths],
        ]
        self._rows.append(np.array(columns, np.int64))

    def counts(self) -> Counts:
        empty = np.zeros((5, 0), np.int64)
        characters, utf8, words, tokens, crossing = np.concatenate([empty, *self._rows], axis=1)
        known = None if self._crosses is None else crossing
        name, size = self._peer.name, self._peer.vocab_size
        return Counts(
            name, size, characters, utf8, words, tokens, known, self._usage, self._crosses
        )

    def _grow(self, size: int) -> None:
        """Make room for ids above the vocabulary size: ids may have gaps."""
        old = len(self._usage)
        if size > old:
            self._usage = np.pad(self._usage, (0, size - old))
            more = self._marks(old, size)
            if self._crosses is not None and more is not None:
                self._crosses = np.concatenate([self._crosses, more])

    def _marks(self, first: int, end: int) -> NDArray[np.bool_] | None:
        peer = self._peer
        if not isinstance(peer, Spelling):
            return None
        marks = (crosses_words(peer.token_text(id)) for id in range(first, end))
        return np.fromiter(marks, np.bool_, end - first)


def _joined(encoded: Sequence[Ids], size: int) -> NDArray[np.int64]:
    if encoded and isinstance(encoded[0], np.ndarray):
        return np.concatenate(encoded)
    return np.fromiter(chain.from_iterable(encoded), np.int64, size)


# --- Words


def crosses_words(text: str) -> bool:
    """Whether a token has parts of two words: whitespace between other characters.

    >>> crosses_words(" of the"), crosses_words(" the"), crosses_words("東京")
    (True, False, False)
    """
    return len(text.split()) > 1


def words_in(text: str) -> int:
    """The number of words: runs of characters between whitespace, punctuation included.

    In scripts without spaces (such as Chinese, Japanese and Thai) only a dictionary could tell
    where a word ends, so there each letter is a word, with its marks and punctuation.

    >>> words_in("Hello, world."), words_in("「東京タワー」。"), words_in("in 東京")
    (2, 5, 3)
    """
    if text.isascii() or not _unspaced().search(text):
        return len(text.split())
    return len(_words().findall(text))


@functools.cache
def _unspaced() -> re.Pattern[str]:
    """A letter of a script without spaces."""
    return re.compile(f"[{_unspaced_ranges()}]")


@functools.cache
def _words() -> re.Pattern[str]:
    letters = _unspaced_ranges()
    return re.compile(rf"[^\s\w{letters}]*+[{letters}][^\s\w{letters}]*+|[^\s{letters}]++")


@functools.cache
def _unspaced_ranges() -> str:
    """The letters of scripts without spaces, as ranges of a regular expression."""
    found = [code for code in range(_ASTRAL) if _is_unspaced(code)]
    # In a run, code minus place is constant.
    runs = [list(run) for _, run in groupby(enumerate(found), lambda pair: pair[1] - pair[0])]
    ends = ((run[0][1], run[-1][1]) for run in runs)
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ends)


def _is_unspaced(code: int) -> bool:
    if 0xD800 <= code < 0xE000:  # surrogates
        return False
    kind, script = _core.char_class(chr(code))
    return kind == Kind.LETTER and script in UNSPACED
