"""Probabilities of texts against the enumeration of all sequences of ids."""

from __future__ import annotations

import functools
import math
from typing import Any

import pytest

import supratok
from supratok import Tokenizer
from supratok.runtimes import reading
from supratok.runtimes.scoring import scores
from tiny_models import FOREIGN, Enumeration, gpt2, llama, narrow, tiny_tokenizer, torch, used_ids
from vocabularies import RULES

pytestmark = pytest.mark.usefixtures("one_thread")
SIZE = 5  # bytes


@functools.cache
def tiny(rule: str) -> tuple[Any, Tokenizer]:
    tokenizer = tiny_tokenizer(rule)
    return narrow(gpt2(tokenizer), used_ids(tokenizer)), tokenizer


@functools.cache
def enumerated(rule: str, canonical: bool) -> Enumeration:
    return Enumeration(*tiny(rule), SIZE, canonical)


@pytest.mark.parametrize("canonical", [True, False])
@pytest.mark.parametrize("rule", RULES)
def test_all_continuations_by_enumeration(rule: str, canonical: bool) -> None:
    model, tokenizer = tiny(rule)
    truth = enumerated(rule, canonical)
    texts = [text for text in truth.probability if len(text.encode()) <= SIZE]
    pairs = [(text[:cut], text[cut:]) for text in texts for cut in {0, len(text) // 2, len(text)}]
    assert len(pairs) > 1000 and any(FOREIGN in text for text in texts)
    assert sum(len(tokenizer.covers(text)) > 2 for text in texts) > 100
    found = supratok.logprobs(model, tokenizer, pairs, canonical=canonical, batch_size=64)
    for (prompt, more), value in zip(pairs, found, strict=True):
        expected = truth.probability[prompt + more] / truth.probability[prompt]
        assert math.exp(value) == pytest.approx(expected, abs=1e-6), (prompt, more)
