"""Appendix A, worked through by hand, and each hard rejection at its threshold."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from supratok.learn.expression.score import (
    Spans,
    Totals,
    gain,
    net,
    priority,
    rejected,
    rejected_early,
    score,
    utility,
)
from supratok.learn.expression.stopwords import ENGLISH, bare, is_letters, stopwords
from supratok.recipe import Expressions

OPTIONS = Expressions()
TOTALS = Totals(ngrams=np.array([4096, 2048, 1024, 512, 256]), documents=99)


def one(**changes: Any) -> Spans:
    """A table of one span of three words, one of them a stopword."""
    values: dict[str, Any] = {
        "words": 3,
        "counts": 16,
        "word_counts": [64, 32, 64, 0, 0],
        "word_documents": [9, 4, 19, 0, 0],
        "pair_counts": [32, 16, 0, 0],
        "stopwords": 1,
        "letters": 42,
        "characters": 44,
        "held_out_counts": 5.0,
        "held_out_documents": 4.0,
        "tokens": 3,
        "left_entropy": 2.0,
        "right_entropy": 1.5,
        "left_peak": 0.25,
        "right_peak": 0.5,
    }
    return Spans(**{name: np.array([value]) for name, value in (values | changes).items()})


def test_a_span_by_hand() -> None:
    found = score(one(), TOTALS, OPTIONS)
    by_hand = {
        "p_train": 0.015625,  # 16 / 1024 = 2^-6
        "pmi": 13.0,  # log2: -6 - (-6 - 7 - 6)
        "npmi": 2.1666667,  # 13 / 6
        "h_b": 1.5,  # the smaller of 2 and 1.5
        "idf": 2.3025851,  # (ln 10 + ln 20 + ln 5) / 3 = (2.302585 + 2.995732 + 1.609438) / 3
        "adj_npmi": 1.0119048,  # (7/6 + 6/7) / 2: pairs 2^-6 and 2^-7, PMI 7 and 6
        "c_peak": 0.5,  # the larger of 0.25 and 0.5
        "g_tok": 2.0,  # 3 - 1
        "g_b": 0.6485109,  # 1 / (1 + e^-(1.75 * 0.35)) = 1 / 1.541994
        "g_n": 0.9999915,  # 1 / (1 + e^-(6 * 1.9466667)) = 1 / 1.00000846
        "b_spec": 1.1823619,  # 1 + 0.14 * 1.3025851
        "b_con": 1.2559524,  # 1 + 0.5 * 0.5119048
        "p_stop": 0.8229969,  # 1 - 0.78 * 0.2269271, (1/3)^1.35 = 0.2269271
        "b_len": 1.08,  # 1 + 0.08 * 1
        "b_cont": 1.36,  # 1 + 0.04 * (14 - 5)
        "p_surf": 0.88,  # 44 > 42
        "g_hold": 16.24,  # 2 * (5 + 0.6 * 4 + 0.18 * 4) = 2 * 8.12
        "s": 16.6366832,  # the product
    }
    assert set(by_hand) == set(vars(found))
    for name, value in by_hand.items():
        assert getattr(found, name)[0] == pytest.approx(value, rel=1e-6), name


def test_unseen_in_held_out_text() -> None:
    # 2 * 0.18 * 4 = 1.44 in place of 16.24; then times 0.45: 16.6366832 * 1.44 / 16.24 * 0.45
    found = score(one(held_out_counts=0.0, held_out_documents=0.0), TOTALS, OPTIONS)
    assert found.g_hold[0] == pytest.approx(1.44)
    assert found.s[0] == pytest.approx(0.6638282, rel=1e-6)


def test_floors() -> None:
    """A bonus or penalty that does not apply is 1; stopwords cost at most 0.7."""
    spans = one(words=2, word_counts=[64, 32, 0, 0, 0], word_documents=[99, 50, 0, 0, 0],
                pair_counts=[32, 0, 0, 0], stopwords=2, letters=6, characters=42,
                right_peak=2.0)  # fmt: skip
    found = score(spans, TOTALS, OPTIONS)
    for name in ("b_spec", "b_con", "b_len", "b_cont", "p_surf"):
        assert getattr(found, name)[0] == 1.0, name
    assert found.p_stop[0] == 0.3  # 1 - 0.78 = 0.22 would be less


def test_a_text_of_one_span() -> None:
    """A span that is the whole text has no PMI to normalise."""
    spans = one(words=2, counts=4, word_counts=[4, 4, 0, 0, 0], pair_counts=[4, 0, 0, 0])
    found = score(spans, Totals(np.array([8, 4]), 3), OPTIONS)
    assert (found.pmi[0], found.npmi[0], found.adj_npmi[0]) == (2.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"counts": 3}, None),
        ({"counts": 2}, "rare"),
        ({"word_counts": [512, 1024, 512, 0, 0]}, "weak cohesion"),  # PMI -6 + 3 + 2 + 3 = 2
        ({"words": 4, "word_counts": [64, 32, 64, 64, 0], "stopwords": 3}, "stopwords"),
        ({"words": 4, "word_counts": [64, 32, 64, 64, 0], "stopwords": 2}, None),
        ({"stopwords": 3}, "stopwords"),
        ({"tokens": 1}, "one token already"),
        ({"left_entropy": 0.28}, "weak boundary"),  # 1 / (1 + e^1.5225) = 0.179
        ({"left_entropy": 0.29}, None),  # 1 / (1 + e^1.505) = 0.182
        ({"held_out_counts": 0.0, "held_out_documents": 0.0, "counts": 3}, "low score"),
        ({"counts": 2, "tokens": 1, "stopwords": 3}, "rare"),  # the first reason counts
    ],
)
def test_rejections(changes: dict[str, Any], reason: str | None) -> None:
    spans = one(**changes)
    found = rejected(spans, TOTALS, score(spans, TOTALS, OPTIONS), OPTIONS)
    assert found.tolist() == [reason]
    early = reason if reason not in ("weak boundary", "low score") else None
    assert rejected_early(spans, TOTALS, OPTIONS).tolist() == [early]


def test_all_stopwords_is_a_reason_of_its_own() -> None:
    lenient = replace(OPTIONS, max_stopwords=1.5)
    assert rejected_early(one(stopwords=3), TOTALS, lenient).tolist() == ["stopwords"]
    assert rejected_early(one(stopwords=2), TOTALS, lenient).tolist() == [None]


def test_worth_and_price_by_hand() -> None:
    counts, documents = np.array([5.0, 2.0]), np.array([4.0, 0.0])
    gains = gain(counts, documents, np.array([3, 1]), OPTIONS)
    assert gains.tolist() == pytest.approx([11.4, 2.0])  # 5 * 2 + 0.35 * 4; 2 * 1
    assert utility(np.array([3.0]), np.array([2.0]), OPTIONS)[0] == pytest.approx(3.7)
    assert net(11.4, [3.7, 2.35]) == pytest.approx(5.35)
    assert priority(5.35, 16.6366832, OPTIONS) == pytest.approx(5.8491005)  # + 0.03 * S


def test_stopwords_of_a_corpus() -> None:
    rare = [" w" + "".join(letters) for letters in itertools.product("abcdefghij", repeat=4)]
    words = [".", " 12", " der", "Der", " und", *rare]
    counts = np.array([50, 50, 9, 5, 8, *[1] * len(rare)])
    few, many = (stopwords(words[:n], counts[:n]) - ENGLISH for n in (105, 9000))
    assert few == {"der", "und"}  # 2% of 102
    assert len(many) == 100
    assert {"der", "und", "waaaa"} <= many
    assert "the" in stopwords([], np.zeros(0, dtype=np.int64))


def test_words_are_compared_bare() -> None:
    assert bare(" The") == "the" == bare("THE")
    letters = [is_letters(word) for word in (" a", "a", "日本", " 1", ".", " ", "\n", " ,")]
    assert letters == [True, True, True, False, False, False, False, False]
