"""SuperBPE (Liu et al. 2025) as its authors train it, in two stages.

1. BPE inside the pieces of a first pattern (words, numbers, punctuation).
2. BPE continues from those tokens inside the pieces of a second pattern, which only separates
   numbers and runs of punctuation: tokens may now have several words. No token has more than four
   words, or a colon followed by a space.

Facts from the authors' program and files: it reads texts line by line, each with its end, so no
token crosses a line end (none of their published ones does). Spaces separate words, and a merge
that would break a rule is skipped.

Stage 1 is stock `tokenizers`. Stage 2 is `merging.Learner` on the tokens of stage 1, as the stock
trainer has no such rules. It differs from the authors' trainer in one point: where two pairs give
the same text, theirs may merge a later pair of it in two steps, this one always in one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

from ...corpus.batches import batches
from ...formats.patterns import LOWER, UPPER
from .merging import END, Learner, Symbols
from .stock import byte_bpe, splitter, tokenizers

TRANSITION = 0.78125  # Appendix C: the share of the vocabulary that stage 1 fills
EARLY, LATE = 0.4, 0.9  # two that the authors published: 80,000 and 180,000 of 200,000
MOST_WORDS = 4
STAGE_1 = (  # the authors' settings: GPT-4o's pattern without contractions
    rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
STAGE_2 = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"

Pair = tuple[str, str]


def inherited(vocab_size: int, transition: float = TRANSITION) -> int:
    """The number of merges that stage 2 takes over from stage 1. In small vocabularies (below 1,171
    tokens by default) the bytes leave no room for so many; there it is the same share of the
    room."""
    merges = int(vocab_size * transition)
    return merges if 256 + merges <= vocab_size else int(max(0, vocab_size - 256) * transition)


def stage_1(texts: Iterable[str], merges: int, by_line: bool = True) -> list[Pair]:
    """So many merges inside words. Fewer merges are the beginning of more."""
    tokenizer = byte_bpe(texts, 256 + merges, STAGE_1, by_line)
    return merges_of(json.loads(tokenizer.to_str()))[:merges]


def stage_2(
    texts: Iterable[str], merges: list[Pair], vocab_size: int, by_line: bool = True
) -> list[Pair]:
    """All merges up to this vocabulary size, those of stage 1 first."""
    tokenizer = as_tokenizer(merges)
    tokenizer.pre_tokenizer = splitter(STAGE_2, by_line)
    vocabulary = tokenizer.get_vocab()
    learner = Learner(
        _symbols(texts, tokenizer),
        sorted(vocabulary, key=vocabulary.__getitem__),
        may_merge,
    )
    found = list(merges)
    if len(vocabulary) < vocab_size:
        for merge in learner.merges(vocab_size - len(vocabulary)):
            found.append((learner.texts[merge.left], learner.texts[merge.right]))
            if len(learner.texts) >= vocab_size:
                break
    return found


def may_merge(left: str, right: str) -> bool:
    """The authors' two rules, on tokens that write bytes as letters (Ġ is a space)."""
    token = left + right
    return ":Ġ" not in token and len(list(filter(None, token.split("Ġ")))) <= MOST_WORDS


def as_tokenizer(merges: list[Pair]) -> Any:
    """A stock tokenizer with these merges and the second pattern."""
    own = tokenizers()
    alphabet = sorted(own.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {byte: id for id, byte in enumerate(alphabet)}
    for left, right in merges:
        vocabulary.setdefault(left + right, len(vocabulary))
    tokenizer = own.Tokenizer(own.models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = splitter(STAGE_2)
    tokenizer.decoder = own.decoders.ByteLevel()
    return tokenizer


def merges_of(document: Any) -> list[Pair]:
    """The merges of a tokenizer.json: a pair is a list, or in older files a string with a space."""
    pairs = document["model"]["merges"]
    return [tuple(pair if isinstance(pair, list) else pair.split(" ")) for pair in pairs]


def _symbols(texts: Iterable[str], tokenizer: Any) -> Symbols:
    """The stage-1 tokens of the texts, with END between the pieces of stage 2."""
    parts = [_joined(tokenizer, batch) for batch in batches(texts)]
    return np.concatenate(parts) if parts else np.array([], dtype=np.int32)


def _joined(tokenizer: Any, texts: list[str]) -> Symbols:
    found = tokenizer.encode_batch(texts, add_special_tokens=False)
    ids = np.fromiter(chain.from_iterable(text.ids for text in found), dtype=np.int32)
    pieces = np.fromiter(chain.from_iterable(text.word_ids for text in found), dtype=np.int32)
    ends = np.cumsum([len(text.ids) for text in found])
    starts = np.union1d(np.flatnonzero(np.diff(pieces)) + 1, ends)
    return np.insert(ids, starts, END)
