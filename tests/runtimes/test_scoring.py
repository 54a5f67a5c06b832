"""Probabilities of texts against the enumeration of all sequences of ids."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Iterator
from typing import Any

import pytest

import supratok
from supratok import Tokenizer
from supratok.runtimes import reading
from supratok.runtimes.masks import Masks
from supratok.runtimes.scoring import scores
from texts import small_tokenizer
from tiny_models import FOREIGN, Enumeration, gpt2, llama, narrow, tiny_tokenizer, torch, used_ids
from vocabularies import RULES

pytestmark = pytest.mark.usefixtures("one_thread")
SIZE = 5  # bytes


@pytest.fixture(scope="module", autouse=True)
def kept() -> Iterator[None]:
    """Models and enumerations are kept while the tests of a module run."""
    yield
    tiny.cache_clear()
    enumerated.cache_clear()


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
    assert sum(len(tokenizer.covers(text)) > 2 for text in texts) > 50
    found = supratok.logprobs(model, tokenizer, pairs, canonical=canonical, batch_size=64)
    for (prompt, more), value in zip(pairs, found, strict=True):
        expected = truth.probability[prompt + more] / truth.probability[prompt]
        assert math.exp(value) == pytest.approx(expected, abs=1e-6), (prompt, more)


@pytest.mark.parametrize("rule", RULES)
def test_the_end_of_a_text(rule: str) -> None:
    """A special token behind the text: nothing can follow but another text."""
    model, tokenizer = tiny(rule)
    truth = enumerated(rule, True)
    for text in ("", "a", "ab", "ab a", FOREIGN):
        expected = sum(
            chance for ids, chance in truth.nodes.items()
            if ids[-1:] == (0,) and truth.text(ids) == text.encode() and tokenizer.is_canonical(ids)
        )  # fmt: skip
        value = supratok.logprob(model, tokenizer, "", text + "<s>", allow_special=True)
        assert math.exp(value) == pytest.approx(expected, abs=1e-6)
        plain = supratok.logprob(model, tokenizer, "", text)
        assert supratok.logprob(model, tokenizer, text, "<s>", allow_special=True) == pytest.approx(
            value - plain, abs=1e-6
        )


@pytest.mark.parametrize("rule", RULES)
def test_texts_share_all_probability(rule: str) -> None:
    """A text ends, or goes on with one of four characters, or ends inside a character."""
    model, tokenizer = tiny(rule)
    truth = enumerated(rule, True)
    for prompt in ("", "ab", " a", "b a"):
        pairs = [(prompt, more) for more in ("a", "b", " ", FOREIGN, "<s>")]
        found = supratok.logprobs(model, tokenizer, pairs, allow_special=True)
        half = prompt.encode() + FOREIGN.encode()[:1]
        broken = sum(chance for ids, chance in truth.nodes.items()
                     if ids[-1:] == (0,) and truth.text(ids) == half)  # fmt: skip
        total = sum(map(math.exp, found)) + broken / truth.probability[prompt]
        assert total == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("rule", RULES)
def test_what_is_greedy(rule: str) -> None:
    """The text that `generate` writes without sampling, and no other."""
    model, tokenizer = tiny(rule)
    kinds = set()
    for prompt in enumerated(rule, True).probability:
        if len(prompt.encode()) > 3:
            continue
        (text,) = supratok.generate(model, tokenizer, [prompt], sample=False, max_new_tokens=4)
        text = text.rstrip("\ufffd")  # half a character
        for more in {text[:2], text[:3], "a", "b a", "", " a"}:
            (score,) = scores(model, tokenizer, [(prompt, more)])
            assert score.greedy == text.startswith(more), (prompt, text, more)
            kinds.add(score.greedy)
    assert kinds == {True, False}


def test_one_prompt_is_read_once_and_order_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = tiny("merges")
    pairs = [("ab", " a"), ("b", "a"), ("ab", "b"), ("ab", " a")]
    sizes = []
    original = reading.read

    def counted(model: Any, trees: Any, keep: bool) -> Any:
        sizes.append(len(trees))
        return original(model, trees, keep)

    monkeypatch.setattr("supratok.runtimes.chances.read", counted)
    found = supratok.logprobs(model, tokenizer, pairs)
    assert sizes == [2]
    alone = [supratok.logprob(model, tokenizer, *pair) for pair in pairs]
    assert found == pytest.approx(alone)


def test_long_texts_lose_their_beginning() -> None:
    tokenizer = tiny_tokenizer("merges")
    model = llama(tokenizer).double()  # positions count from any place on
    prompt, more = "ab " * 30, "ba"
    ids = tokenizer.encode(prompt + more)
    assert len(ids) > 20
    short = supratok.logprob(model, tokenizer, prompt, more, context=20)
    assert short != supratok.logprob(model, tokenizer, prompt, more)
    (same,) = [supratok.logprob(model, tokenizer, prompt, more, context=20, bos=[0, 0])]
    assert short == pytest.approx(same)
    with pytest.raises(ValueError, match="does not fit into the model's context"):
        supratok.logprob(model, tokenizer, "", prompt, context=20)


def test_a_special_token_stays_whole() -> None:
    """Its text spans the end of the prompt, whose last character is certain."""
    tokenizer = small_tokenizer("merges", special_tokens=("<s>",))
    model = gpt2(tokenizer)
    with pytest.raises(ValueError, match=r"a special token spans the end of the prompt '\(\)<'"):
        supratok.logprob(model, tokenizer, "()<", "s>", allow_special=True)
    assert supratok.logprob(model, tokenizer, "()<", "s>") < 0


@pytest.mark.parametrize("rule", RULES)
def test_masks_are_those_of_the_tokenizer(rule: str) -> None:
    """Also those that are kept by the last id, and behind ids that are not canonical."""
    tokenizer = tiny_tokenizer(rule)
    masks, rng = Masks(tokenizer), random.Random(0)
    row = torch.zeros(tokenizer.vocab_size + 3)
    for _ in range(400):
        ids = rng.choices(used_ids(tokenizer), k=rng.randint(0, 5))
        found = masks.after(ids, row)
        assert found[: tokenizer.vocab_size].tolist() == tokenizer.next_mask(ids).tolist()
        assert not found[tokenizer.vocab_size :].any()
