"""BoundlessBPE (Schmidt et al. 2025): neighbouring words merge when each is a token.

BPE learns inside the pieces of a pattern (here GPT-4o's, one of the authors' two). As soon as two
neighbouring pieces are each a single token, their pair competes with all other pairs: a
"supermerge". Both must be words (letters with spaces, underscores and apostrophes). Of the authors'
options this is the one without deletions.

Two phases give the same result as one queue for both (Schmidt et al. 2026 found so too). Merges
inside words do not depend on supermerges. And a pair of words is at most as frequent as either
word, and a word as the merge that completed it: so both words are tokens before their supermerge.
Hence we learn first all merges inside words, then the supermerges of words that became tokens, and
keep the most frequent of both. Of equals the merge inside words comes first (with the authors the
supermerge), then the pair with the older tokens.

The authors' program keeps every document as Python objects and took days for a gigabyte. Here
stock `tokenizers` numbers the words, and both phases are `merging.Learner`.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

from ...corpus.batches import batches
from ...formats.boundless import FORMAT
from ...formats.huggingface.document import bytes_of_letters, letter_of_byte
from ...formats.patterns import O200K
from .merging import END, Counts, Learner, Symbols
from .stock import splitter, tokenizers
from .superbpe import Pair

PATTERN = O200K
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
    """All pieces of the pattern (bytes as letters, the most frequent first), and the texts as ids
    of pieces, with END after each text."""
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
    """Plain BPE over distinct words, weighted by their counts."""
    alphabet = sorted(letter_of_byte())
    number = {letter: id for id, letter in enumerate(alphabet)}
    letters = [[*map(number.__getitem__, word), END] for word in words]
    symbols = np.fromiter(chain.from_iterable(letters), dtype=np.int32)
    weights = np.repeat(counts, [len(word) for word in letters])
    return _learn(symbols, alphabet, set(), wanted, weights)


def _across_words(
    words: list[str], stream: Symbols, inside: list[Counted], wanted: int
) -> list[Counted]:
    """Supermerges of the words that are tokens; other pieces separate them."""
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
    """Merges with their counts, without those whose text is a token (as with the authors) and those
    rarer than `least`, which will have no room."""
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
        text = bytes_of_letters(token).decode()
    except UnicodeDecodeError:
        return False
    before = "blank"
    for sign in text:
        kind = "blank" if sign in " _'’" else unicodedata.category(sign)[0]
        if kind not in ("blank", "L", "M") or (kind == "M" and before == "blank"):
            return False
        before = kind
    return any(unicodedata.category(sign)[0] == "L" for sign in text[1:])


def _as_tokenizer(merges: list[Pair]) -> Any:
    own = tokenizers()
    vocabulary = {letter: id for id, letter in enumerate(sorted(letter_of_byte()))}
    for left, right in merges:
        vocabulary[left + right] = len(vocabulary)
    tokenizer = own.Tokenizer(own.models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = splitter(PATTERN)
    tokenizer.decoder = own.decoders.ByteLevel()
    return tokenizer
