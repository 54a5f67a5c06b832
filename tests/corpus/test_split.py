"""The held-out sample equals its definition, in any order; a split trains on the rest."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supratok.common.progress import Progress
from supratok.corpus import CorpusError, open_corpus
from supratok.corpus.split import HeldOut, Split, digest, held_out_half, is_held_out
from supratok.recipe import Curation


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


# --- The split

DOCUMENTS = [f"document {number}" for number in range(400)]


def split_of(documents: list[str], curation: Curation | None = None) -> Split:
    return Split(open_corpus(iter(documents)), curation, 1, Progress())


def test_later_readings_repeat_the_first() -> None:
    split = split_of(DOCUMENTS)
    training = [document.text for document in split.decide("first")]
    assert training == [text for text in DOCUMENTS if not is_held_out(digest(text))]
    for _ in range(2):
        assert list(split.texts("later")) == training
    assert split.totals.documents == 400 and split.totals.training_documents == len(training)
    assert split.totals.held_out_documents == 400 - len(training)
    assert split.totals.characters == sum(map(len, training))
    assert split.deciding_texts() == held_out_half(DOCUMENTS, measuring=False)
    assert split.measuring_texts() == held_out_half(DOCUMENTS)


def test_curation_drops_documents_that_are_not_held_out() -> None:
    split = split_of(DOCUMENTS, Curation(low=0.0, high=99.0, keep=(0.0, 0.5, 0.0)))
    training = [document.text for document in split.decide("first")]
    assert list(split.texts("later")) == training
    assert 100 < len(training) < 300
    assert split.measuring_texts() == held_out_half(DOCUMENTS)  # whatever curation drops


def test_a_corpus_of_held_out_documents_is_trained_on_whole() -> None:
    """Otherwise there would be nothing to learn from."""
    held_out = [text for text in DOCUMENTS if is_held_out(digest(text))]
    split = split_of(held_out)
    assert [document.text for document in split.decide("first")] == held_out
    assert list(split.texts("later")) == held_out
    assert split.totals.held_out_documents == 0
    assert split.totals.characters == sum(map(len, held_out))
    assert split.deciding_texts() == split.measuring_texts() == []


def test_an_empty_corpus_is_refused() -> None:
    with pytest.raises(CorpusError, match="the corpus is empty"):
        list(split_of([]).decide("first"))
