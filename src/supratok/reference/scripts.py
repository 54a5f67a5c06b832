"""Script-aware processing, paper 3.4 and Appendix E: how the traditional pass counts some words."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from ..corpus.languages import language_of
from ..recipe import Scripts
from .words import UNSPACED, count_words, script_of

LANGUAGES = ("tr", "fi")  # Paper 3.4: the languages with suffixes.
LONGEST_SUFFIX, SHORTEST_STEM = 6, 3  # Choice: in letters.
MINED_WORDS = 100_000  # Choice: the most frequent; rarer ones change little.


def script_changes(
    training: list[str], languages: Mapping[str, str], scripts: Scripts | None
) -> Counter[str]:
    """By how much the count of each word changes."""
    changes: Counter[str] = Counter()
    if scripts is None:
        return changes
    for language in LANGUAGES:
        texts = [text for text in training if language_of(languages.get(text), text) == language]
        words = count_words(texts, by_class=True)
        suffixes = mine_suffixes(words)[: scripts.suffixes]
        for word, count in words.items():
            fitting = [
                suffix
                for suffix in suffixes
                if word.endswith(suffix)
                and len(word.removesuffix(suffix).lstrip(" ")) >= SHORTEST_STEM
            ]
            if fitting:  # In some share of its occurrences the word counts as stem and suffix.
                suffix = max(fitting, key=len)
                moved = int(count * scripts.suffix_weight)
                changes[word] -= moved
                changes[word.removesuffix(suffix)] += moved
                changes[suffix] += moved
    changes.update(pool_hamza(count_words(training, by_class=True), scripts.hamza))
    return changes


# --- Turkish and Finnish


def mine_suffixes(words: Counter[str]) -> list[str]:
    """Endings by score: the number of words that they follow, times how often they follow them.
    Choice: one word is not enough evidence for a suffix."""
    bare: Counter[str] = Counter()
    for word, count in words.items():
        if word.islower() and word.strip().isalpha():
            bare[word.strip()] += count
    frequent = set(sorted(bare, key=lambda word: (-bare[word], word))[:MINED_WORDS])
    scores: dict[str, int] = {}
    for ending in {word[-size:] for word in frequent for size in range(1, LONGEST_SUFFIX + 1)}:
        found = [
            word
            for word in frequent
            if word.endswith(ending)
            and len(word) - len(ending) >= SHORTEST_STEM
            and word.removesuffix(ending) in frequent
        ]
        if len(found) > 1:
            scores[ending] = len(found) * sum(bare[word] for word in found)
    return sorted(scores, key=lambda ending: (-scores[ending], -len(ending), ending))


# --- Arabic


def pool_hamza(words: Counter[str], share: float) -> Counter[str]:
    """Words that differ only in how hamza is spelt move towards their mean count by `share`, in
    whole numbers; the most frequent of them get the remainder."""
    groups: dict[str, Counter[str]] = {}
    for word, count in words.items():
        if script_of(word) == script_of("ا"):
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


# --- Scripts without spaces


def rare_bigrams(words: Counter[str], scripts: Scripts | None) -> set[str]:
    """Appendix E: the pairs of neighbouring characters seen less often than the gate."""
    bigrams: Counter[str] = Counter()
    for word, count in words.items():
        if script_of(word) in UNSPACED:
            bare = word.removeprefix(" ")
            for place in range(len(bare) - 1):
                bigrams[bare[place : place + 2]] += count
    gate = 0 if scripts is None else scripts.gate
    return {bigram for bigram, count in bigrams.items() if count < gate}


def cut_at_rare(word: str, rare: set[str]) -> list[str]:
    """The pieces of a word between the two characters of rare bigrams."""
    pieces = [word[0]]
    for before, char in zip(word, word[1:], strict=False):
        if before + char in rare and script_of(word) in UNSPACED:
            pieces.append(char)
        else:
            pieces[-1] += char
    return pieces
