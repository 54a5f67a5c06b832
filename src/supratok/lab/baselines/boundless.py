"""BoundlessBPE (Schmidt et al. 2025): whole neighbouring words become tokens when each is one.

BPE learns inside the pieces of a pattern (here GPT-4o's, one of the authors' two). As soon as two
neighbouring pieces are each a single token, the pair of them competes with all other pairs: a
"supermerge". Both must be words (letters with blanks, underscores and apostrophes). Of the
authors' options the one without deletions is taken.

Two phases give the same as one queue for both (Schmidt et al. 2026 found so too). What is learnt
inside words does not depend on supermerges. And a pair of words occurs no oftener than either
word, nor either word than the merge that completed it: so words are always there in time. Hence
first all merges inside words, then the supermerges of words that became tokens, each with its
count; and the vocabulary is the most frequent of both. Of equals the merge inside words is first
(with the authors the supermerge), then the pair with the older tokens.

The authors' program keeps every document as Python objects and took days for a gigabyte. Here
words are numbers, found by stock `tokenizers`, and both phases are `merging.Learner`.
"""

from __future__ import annotations

import functools
import json
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from ...corpus.batches import batches
from ...formats.huggingface.document import letter_of_byte
from ...formats.peer import _O200K, _readable
from .merging import END, Counts, Learner, Symbols
from .stock import splitter, tokenizers
from .superbpe import Pair

FORMAT = "boundless-bpe"
PATTERN = _O200K
Counted = tuple[int, Pair]  # a merge with its count


def boundless(texts: Iterable[str], vocab_size: int) -> dict[str, Any]:
    """The tokenizer as a document: a stock tokenizer.json, and the supermerges in order."""
    words, stream = _words(texts)
    counts = np.bincount(stream[stream != END], minlength=len(words))
    room = vocab_size - 256
    inside = _inside_words(words, counts, room)
    across = _across_words(words, stream, inside, room)
    regular, supers = _most_frequent(inside, across, room)
    return {
        "format": FORMAT,
        "tokenizer": json.loads(_as_tokenizer(regular).to_str()),
        "supermerges": supers,
    }


def _words(texts: Iterable[str]) -> tuple[list[str], Symbols]:
    """All pieces of the pattern (bytes as letters, the most frequent first), and the texts as
    numbers of pieces with END after each text."""
    own = tokenizers()
    tokenizer = own.Tokenizer(own.models.WordLevel())
    tokenizer.pre_tokenizer = splitter(PATTERN)
    trainer = own.trainers.WordLevelTrainer(vocab_size=2**31 - 1, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    vocabulary = tokenizer.get_vocab()
    parts = [_numbers(tokenizer, batch) for batch in batches(texts)]
    stream = np.concatenate(parts) if parts else np.array([], dtype=np.int32)
    return sorted(vocabulary, key=vocabulary.__getitem__), stream


def _numbers(tokenizer: Any, texts: list[str]) -> Symbols:
    found = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
    ids = np.fromiter(chain.from_iterable(text.ids for text in found), dtype=np.int32)
    return np.insert(ids, np.cumsum([len(text.ids) for text in found]), END)


def _inside_words(words: list[str], counts: Counts, wanted: int) -> list[Counted]:
    """Plain BPE over distinct words, each counted as often as it occurs."""
    alphabet = sorted(letter_of_byte())
    number = {letter: id for id, letter in enumerate(alphabet)}
    letters = [[*map(number.__getitem__, word), END] for word in words]
    symbols = np.fromiter(chain.from_iterable(letters), dtype=np.int32)
    weights = np.repeat(counts, [len(word) for word in letters])
    return _learn(symbols, alphabet, set(), wanted, weights)


def _across_words(
    words: list[str], stream: Symbols, inside: list[Counted], wanted: int
) -> list[Counted]:
    """Supermerges of the words that are tokens. Others, and what is no word, stand between."""
    tokens = {left + right for _, (left, right) in inside}
    able = [id for id, word in enumerate(words) if word in tokens and is_word(word)]
    number = np.full(len(words) + 1, END, dtype=np.int32)  # the last for END itself
    number[able] = np.arange(len(able))
    least = inside[-1][0] if len(inside) == wanted else 0
    texts = [words[id] for id in able]
    return _learn(number[stream], texts, tokens, wanted, least=least)


def _learn(
    symbols: Symbols,
    texts: list[str],
    taken: set[str],
    wanted: int,
    weights: Counts | None = None,
    least: int = 0,
) -> list[Counted]:
    """Merges with their counts; none whose text is a token already, as with the authors, and none
    rarer than `least`: no room will be left for it."""
    learner = Learner(
        symbols,
        texts,
        lambda left, right: left + right not in taken and left + right not in learner.ids,
        weights,
        overlaps=False,
    )
    found: list[Counted] = []
    if wanted > 0:
        for merge in learner.merges(wanted):
            if merge.times < least:
                break
            found.append((merge.times, (learner.texts[merge.left], learner.texts[merge.right])))
            if len(found) == wanted:
                break
    return found


def _most_frequent(
    inside: list[Counted], across: list[Counted], room: int
) -> tuple[list[Pair], list[Pair]]:
    """The beginnings of both lists that fill the room together."""
    counts = [(-count, 0) for count, _ in inside] + [(-count, 1) for count, _ in across]
    kinds = [kind for _, kind in sorted(counts)[:room]]
    regular, supers = inside[: kinds.count(0)], across[: kinds.count(1)]
    return [pair for _, pair in regular], [pair for _, pair in supers]


def is_word(token: str) -> bool:
    """The authors' rule for a part of a supermerge: letters with their marks, blanks, underscores
    and apostrophes, and a letter that is not the first character."""
    try:
        text = _bytes([token]).decode()
    except UnicodeDecodeError:
        return False
    before = "blank"
    for sign in text:
        kind = "blank" if sign in " _'’" else unicodedata.category(sign)[0]
        if kind not in ("blank", "L", "M") or (kind == "M" and before == "blank"):
            return False
        before = kind
    return any(unicodedata.category(sign)[0] == "L" for sign in text[1:])


def _bytes(tokens: Iterable[str]) -> bytes:
    number = _byte_of_letter()
    return bytes(number[letter] for token in tokens for letter in token)


@functools.cache
def _byte_of_letter() -> dict[str, int]:
    return {letter: byte for byte, letter in enumerate(letter_of_byte())}


def _as_tokenizer(merges: list[Pair]) -> Any:
    own = tokenizers()
    vocabulary = {letter: id for id, letter in enumerate(sorted(letter_of_byte()))}
    for left, right in merges:
        vocabulary[left + right] = len(vocabulary)
    tokenizer = own.Tokenizer(own.models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = splitter(PATTERN)
    tokenizer.decoder = own.decoders.ByteLevel()
    return tokenizer


# --- Encoding --------------------------------------------------------------------------------


class Boundless:
    """A tokenizer of such a document: merges inside words first, then supermerges of words that
    are single tokens, the earliest learnt first."""

    def __init__(self, name: str, document: dict[str, Any]) -> None:
        self.name = name
        self._tokenizer = tokenizers().Tokenizer.from_str(json.dumps(document["tokenizer"]))
        ids: dict[str, int] = self._tokenizer.get_vocab()
        self._merges: dict[tuple[int, int], tuple[int, int]] = {}  # rank and token of a pair
        for rank, (left, right) in enumerate(document["supermerges"]):
            token = ids.setdefault(left + right, len(ids))
            self._merges[ids[left], ids[right]] = (rank, token)
        self._pairs = list(self._merges)
        self._texts = sorted(ids, key=ids.__getitem__)

    @property
    def vocab_size(self) -> int:
        return len(self._texts)

    def encode(self, text: str) -> list[int]:
        return [id for run in self._runs(text) for id in self._merged(run)]

    def decode(self, ids: list[int]) -> str:
        return _bytes(self._texts[id] for id in ids).decode(errors="replace")

    def token_strings(self, text: str) -> list[str]:
        return [_readable(_bytes([self._texts[id]])) for id in self.encode(text)]

    def _runs(self, text: str) -> Iterator[list[int]]:
        """Neighbouring words that are single tokens; each token of the others by itself."""
        found = self._tokenizer.encode(text, add_special_tokens=False)
        words = [None, *found.word_ids, None]
        run: list[int] = []
        for id, before, word, after in zip(found.ids, words, words[1:], words[2:], strict=False):
            if word not in (before, after):
                run.append(id)
                continue
            if run:
                yield run
                run = []
            yield [id]
        yield run

    def _merged(self, run: list[int]) -> list[int]:
        """The earliest learnt of all supermerges that fit, again and again."""
        while len(run) > 1:
            fits = filter(None, map(self._merges.get, zip(run, run[1:], strict=False)))
            rank, token = min(fits, default=(None, 0))
            if rank is None:
                break
            pair = self._pairs[rank]
            place = 0
            while place < len(run) - 1:
                if (run[place], run[place + 1]) == pair:
                    run[place : place + 2] = [token]
                place += 1
        return run
