"""Script-aware processing (paper 3.4 and Appendix E): it changes the word counts and cuts that the
traditional pass sees.

- Scripts written without spaces: a bigram of characters that is too rare cuts its word.
- Turkish and Finnish: a word with a known suffix counts, in some share of its occurrences, as its
  stem and its suffix apart. Merges across that border weigh less, merges inside it fully.

      " kitaplar" 10 times, suffix "lar", weight 0.5  ->  " kitaplar" 5, " kitap" +5, "lar" +5

- Arabic: words that differ only in the spelling of hamza share some of their counts.

Only the counts of the traditional pass change, never the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..common import _core
from ..readings import UNSPACED, LanguageWords
from ..recipe import Scripts

Rows = Iterable[tuple[str, int]]  # words with their counts

LANGUAGES = ("tr", "fi")  # Paper 3.4: the languages with suffix rules

_ARABIC = _core.char_class("ا")[1]

_LONGEST_SUFFIX = 6  # letters
_SHORTEST_STEM = 3
_MINED_WORDS = 100_000  # Choice: the most frequent; rarer ones take time and change little
_SHOWN = 20  # suffixes in the report

# Choice: hamza forms are alef with hamza (above, below), madda or wasla, and other letters that
# carry hamza; also the same written as a letter and a mark. Alef maqsura (ى) is another letter.
_HAMZA = str.maketrans("أإآٱؤئۀۂۓ", "ااااويەہے", "\u0653\u0654\u0655")


@dataclass
class ScriptRules:
    """How the traditional pass counts and cuts words."""

    changes: dict[str, int] = field(default_factory=dict)  # of the counts of words
    bigrams: _core.Bigrams | None = None
    gate: int = 0  # a bigram seen less often cuts its word
    report: dict[str, Any] = field(default_factory=dict)


def find_script_rules(
    words: _core.WordTable, by_language: Mapping[str, LanguageWords], scripts: Scripts | None
) -> ScriptRules:
    """The rules for these words; none without `scripts`. `by_language`: the words of the documents
    in Turkish and in Finnish."""
    if scripts is None:
        return ScriptRules()
    changes: Counter[str] = Counter()
    suffixes: dict[str, list[str]] = {}
    for language, found in sorted(by_language.items()):
        rows = _rows(found.table.rows())
        suffixes[language] = mine_suffixes(rows, scripts.suffixes)
        changes.update(suffix_changes(rows, suffixes[language], scripts.suffix_weight))
    arabic = _rows(words.rows_of_script(_ARABIC)) if scripts.hamza else []
    hamza, groups = hamza_changes(arabic, scripts.hamza)
    changes.update(hamza)
    bigrams = _core.Bigrams(words, list(UNSPACED)) if scripts.gate else None
    rare, cuts = bigrams.below(scripts.gate) if bigrams else (0, 0)
    documents = {language: found.documents for language, found in by_language.items()}
    report = {
        "documents": {language: documents.get(language, 0) for language in LANGUAGES},
        "suffixes": {language: mined[:_SHOWN] for language, mined in suffixes.items()},
        "bigrams": {"kept": len(bigrams or ()) - rare, "gated": rare, "cuts": cuts},
        "hamza_groups": groups,
    }
    changed = {word: by for word, by in changes.items() if by}
    return ScriptRules(changed, bigrams, scripts.gate, report)


def _rows(rows: tuple[list[str], np.ndarray[Any, np.dtype[np.int64]]]) -> list[tuple[str, int]]:
    return list(zip(rows[0], rows[1].tolist(), strict=True))


# --- Turkish and Finnish


def mine_suffixes(rows: Rows, number: int) -> list[str]:
    """The endings that follow the most words, most often; the best first.

    An ending counts if the rest is itself a word: "kitaplar" is evidence for "lar" if the text has
    "kitap". Its score is the number of such words times their occurrences; of equals the longer
    comes first, then code points decide."""
    words = _plain_words(rows)
    stems: Counter[str] = Counter()
    occurrences: Counter[str] = Counter()
    for word, count in words.items():
        for cut in range(max(_SHORTEST_STEM, len(word) - _LONGEST_SUFFIX), len(word)):
            if word[:cut] in words:
                stems[word[cut:]] += 1
                occurrences[word[cut:]] += count
    # Choice: one word is not enough evidence.
    found = [ending for ending, number in stems.items() if number > 1]
    found.sort(key=lambda ending: (-stems[ending] * occurrences[ending], -len(ending), ending))
    return found[:number]


def _plain_words(rows: Rows) -> dict[str, int]:
    """The most frequent words of lower-case letters alone: without names and abbreviations."""
    words: Counter[str] = Counter()
    for word, count in rows:
        if word.islower() and word.strip().isalpha():
            words[word.strip()] += count
    order = sorted(words.items(), key=lambda row: (-row[1], row[0]))
    return dict(order[:_MINED_WORDS])


def split_suffix(word: str, suffixes: set[str]) -> tuple[str, str] | None:
    """The stem and the longest suffix of a word, if it has one and the stem is long enough.

    >>> split_suffix(" evlerde", {"de", "lerde"}), split_suffix(" bizlerde", {"de", "lerde"})
    ((' evler', 'de'), (' biz', 'lerde'))
    """
    start = len(word) - len(word.lstrip(" ")) + _SHORTEST_STEM
    for cut in range(max(start, len(word) - _LONGEST_SUFFIX), len(word)):
        if word[cut:] in suffixes:
            return word[:cut], word[cut:]
    return None


def suffix_changes(rows: Rows, suffixes: Iterable[str], weight: float) -> Counter[str]:
    """In this share of its occurrences a word with a suffix counts as its stem and its suffix."""
    known = set(suffixes)
    changes: Counter[str] = Counter()
    for word, count in rows:
        moved = int(count * weight)
        if moved and (parts := split_suffix(word, known)):
            changes[word] -= moved
            changes[parts[0]] += moved
            changes[parts[1]] += moved
    return changes


# --- Arabic


def hamza_changes(rows: Rows, share: float) -> tuple[Counter[str], int]:
    """The changes that move the counts of a word's spellings towards their mean by this share;
    their total stays. Also the number of words with several spellings.

        أن 70, ان 30, share 0.5  ->  60, 40
    """
    groups: dict[str, list[tuple[str, int]]] = {}
    for word, count in rows:
        groups.setdefault(word.translate(_HAMZA), []).append((word, count))
    several = [group for group in groups.values() if len(group) > 1 and share > 0]
    changes: Counter[str] = Counter()
    for group in several:
        changes.update(_pooled(group, round(share * 1000)))
    return changes, len(several)


def _pooled(group: list[tuple[str, int]], thousandths: int) -> dict[str, int]:
    """In whole numbers, rounded down; the remainder goes to the most frequent, one to each."""
    group = sorted(group, key=lambda row: (-row[1], row[0]))
    total, forms = sum(count for _, count in group), len(group)
    after = [
        ((1000 - thousandths) * count * forms + thousandths * total) // (1000 * forms)
        for _, count in group
    ]
    for place in range(total - sum(after)):
        after[place] += 1
    return {word: new - count for (word, count), new in zip(group, after, strict=True)}
