"""The merge loop does what the plain one of the reference does, on any number of threads."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from supratok.common import _core
from supratok.reference.merges import merge_loop

BYTES, MERGES = 12, 200


def words_of(seed: int) -> Counter[str]:
    """Words of few letters, in which pairs overlap (aaa) and repeat (abab)."""
    rng = random.Random(seed)
    letters = "abcde"[: 1 + seed % 5]
    words = ["".join(rng.choices(letters, k=rng.randrange(2, 15))) for _ in range(120)]
    return Counter({word: rng.randrange(1, 9) for word in words})


def merger_over(words: Counter[str], threads: int, share: int, min_count: int) -> _core.Merger:
    table = _core.WordTable(10)
    table.count(words.elements(), 1)
    codes = [ord(letter) for letter in sorted(set("".join(words)))]
    sequences = _core.Sequences.of_words(table, codes)
    limits = _core.Limits(bytes=BYTES)
    return _core.Merger.over_characters(sequences, codes, limits, min_count, threads, share)


@pytest.mark.parametrize("threads", [1, 2, 3, 16])
@pytest.mark.parametrize("seed", range(10))
def test_merges_equal_those_of_the_plain_loop(seed: int, threads: int) -> None:
    words = words_of(seed)
    merger = merger_over(words, threads, 1, 2)
    merger.run(MERGES // 2)  # may stop anywhere
    merger.run(MERGES // 2)
    joins, uses = merge_loop(
        Counter({tuple(word): count for word, count in words.items()}),
        MERGES,
        2,
        lambda left, right: len("".join(left + right)) <= BYTES,
    )
    assert merger.texts() == [join.text for join in joins]
    assert merger.counts().tolist() == [join.count for join in joins]
    texts = [*sorted(set("".join(words))), *merger.texts()]
    found: Counter[str] = Counter()
    for text, use in zip(texts, merger.usage().tolist(), strict=True):
        found[text] += use
    expected: Counter[str] = Counter()
    for symbol, use in uses.items():
        expected["".join(symbol)] += use
    for word, count in words.items():  # a word of one character is no sequence
        if len(word) == 1:
            expected[word] -= count
    assert found == expected


@pytest.mark.parametrize("seed", range(10))
def test_nothing_depends_on_the_threads_or_on_the_order_of_the_words(seed: int) -> None:
    words = words_of(seed)
    shuffled = list(words.items())
    random.Random(seed).shuffle(shuffled)
    plain, other = merger_over(words, 1, 512, 1), merger_over(Counter(dict(shuffled)), 4, 2, 1)
    for merger in (plain, other):
        merger.run(10**6)
    assert plain.texts() == other.texts()
    assert plain.usage().tolist() == other.usage().tolist()
    for mine, others in zip(plain.parts(), other.parts(), strict=True):
        assert mine.tolist() == others.tolist()
    assert plain.candidates() == other.candidates()


def test_no_threads_and_no_share_are_refused() -> None:
    for threads, share in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match="at least 1"):
            merger_over(words_of(1), threads, share, 1)
