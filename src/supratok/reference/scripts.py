"""The plain twin of scripts.py: what script-aware processing makes of the words."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from ..common import _core
from ..corpus.languages import language_of
from ..recipe import Scripts

_UNSPACED = {_core.char_class(char)[1] for char in "一กກកကཀᥐᦀᬅꦄ"}


def script_changes(
    training: list[str], languages: Mapping[str, str], scripts: Scripts | None
) -> Counter[str]:
    """By how much the count of each word changes."""
    changes: Counter[str] = Counter()
    if scripts is None:
        return changes
    for language in ("tr", "fi"):
        texts = [text for text in training if language_of(languages.get(text), text) == language]
        words = Counter(word for text in texts for word in _core.split_words(text))
        suffixes = mine_suffixes(words)[: scripts.suffixes]
        for word, count in words.items():
            fitting = [
                suffix
                for suffix in suffixes
                if word.endswith(suffix) and len(word.removesuffix(suffix).lstrip(" ")) >= 3
            ]
            if fitting:
                suffix = max(fitting, key=len)
                moved = int(count * scripts.suffix_weight)
                changes[word] -= moved
                changes[word.removesuffix(suffix)] += moved
                changes[suffix] += moved
    words = Counter(word for text in training for word in _core.split_words(text))
    changes.update(pool_hamza(words, scripts.hamza))
    return changes


def mine_suffixes(words: Counter[str]) -> list[str]:
    """Endings of 1 to 6 letters by score: the words of 3 letters and more that they follow, times
    how often they follow them."""
    bare: Counter[str] = Counter()
    for word, count in words.items():
        if word.islower() and word.strip().isalpha():
            bare[word.strip()] += count
    scores: dict[str, int] = {}
    for ending in {word[-size:] for word in bare for size in range(1, 7)}:
        found = [
            word
            for word in bare
            if word.endswith(ending)
            and len(word) - len(ending) >= 3
            and word.removesuffix(ending) in bare
        ]
        if len(found) > 1:
            scores[ending] = len(found) * sum(bare[word] for word in found)
    return sorted(scores, key=lambda ending: (-scores[ending], -len(ending), ending))


def pool_hamza(words: Counter[str], share: float) -> Counter[str]:
    """Spellings of one word move towards their mean by `share`."""
    groups: dict[str, Counter[str]] = {}
    for word, count in words.items():
        if _script(word) == _core.char_class("ا")[1]:
            apart = "".join(unicodedata.normalize("NFD", char) for char in word)
            skeleton = apart.replace("ٱ", "ا").translate(dict.fromkeys((0x653, 0x654, 0x655)))
            groups.setdefault(skeleton, Counter())[word] = count
    changes: Counter[str] = Counter()
    for group in groups.values():
        mean, moves = Fraction(group.total(), len(group)), Fraction(round(share * 1000), 1000)
        after = {word: int(count + moves * (mean - count)) for word, count in group.items()}
        for word in sorted(group, key=lambda word: (-group[word], word)):
            if sum(after.values()) < group.total():
                after[word] += 1
        changes.update({word: after[word] - count for word, count in group.items()})
    return changes


def rare_bigrams(words: Counter[str], scripts: Scripts | None) -> set[str]:
    """The pairs of neighbouring characters, in scripts without spaces, below the gate."""
    bigrams: Counter[str] = Counter()
    for word, count in words.items():
        if _script(word) in _UNSPACED:
            bare = word.removeprefix(" ")
            for place in range(len(bare) - 1):
                bigrams[bare[place : place + 2]] += count
    gate = 0 if scripts is None else scripts.gate
    return {bigram for bigram, count in bigrams.items() if count < gate}


def cut_at(word: str, rare: set[str]) -> list[str]:
    """The pieces of a word between the two characters of rare bigrams."""
    pieces = [word[0]]
    for before, char in zip(word, word[1:], strict=False):
        if before + char in rare and _script(word) in _UNSPACED:
            pieces.append(char)
        else:
            pieces[-1] += char
    return pieces


def _script(word: str) -> int:
    return next((s for s in (_core.char_class(char)[1] for char in word) if s), 0)
