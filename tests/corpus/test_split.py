"""The held-out sample is its definition, in whatever order the documents come."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from supratok.corpus.split import HeldOut, digest, is_held_out


def test_digest_is_fixed() -> None:
    assert digest("") == 0xE4A6A0577479B2B4
    assert digest("日本") != digest("日本 ")


def test_share_of_held_out() -> None:
    digests = [digest(f"document {number}") for number in range(40_000)]
    for share in (0.05, 0.3):
        assert abs(sum(is_held_out(d, share) for d in digests) / len(digests) - share) < 0.01
    assert not any(is_held_out(d, 0.0) for d in digests)
    assert is_held_out(2**64 - 1, 1.0)
    assert [is_held_out(d) for d in (0, 2**64 // 20 - 9999, 2**64 // 20 + 9999)] == [
        True,
        True,
        False,
    ]


def plain_sample(texts: list[str], capacity: int) -> list[str]:
    """The definition: from the start while they fit, and always the first."""
    kept: list[str] = []
    size = 0
    for text in sorted(set(texts), key=digest):
        size += len(text.encode())
        if kept and size > capacity:
            break
        kept.append(text)
    return kept


def sample(texts: list[str], capacity: int) -> list[str]:
    held = HeldOut(capacity)
    for text in texts:
        held.add(text, digest(text))
    return held.documents


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=9), max_size=30),
    st.integers(0, 60),
    st.randoms(),
)
def test_sample_is_the_definition_in_any_order(
    texts: list[str], capacity: int, shuffler: random.Random
) -> None:
    expected = plain_sample(texts, capacity)
    assert sample(texts, capacity) == expected
    shuffler.shuffle(texts)
    assert sample(texts, capacity) == expected


def test_sample_by_hand() -> None:
    held = HeldOut(capacity=5)
    for text, number in (("ccc", 3), ("a", 1), ("dd", 4), ("bb", 2), ("a", 1)):
        held.add(text, number)
    assert held.documents == ["a", "bb"]  # "ccc" does not fit, so "dd" is not asked
    held.add("far too long", 0)
    assert held.documents == ["far too long"]
