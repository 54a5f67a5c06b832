"""How texts begin, and go on, against the enumeration of all sequences of ids."""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from test_scoring import SIZE, enumerated, kept, tiny

import supratok
from supratok import Tokenizer
from supratok.runtimes import reading
from texts import corpus, small_tokenizer
from tiny_models import FOREIGN, gpt2, llama, mistral, tiny_tokenizer, torch, transformers
from vocabularies import RULES

pytestmark = pytest.mark.usefixtures("one_thread")
_ = kept  # a fixture of this module too
PROMPTS = ["", "a", "ab", "ab a", " ", f"a{FOREIGN}", f"{FOREIGN}b "]


@pytest.mark.parametrize("canonical", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("rule", RULES)
def test_beginnings_are_drawn_by_their_probability(rule: str, canonical: bool) -> None:
    """600 draws of each prompt. Each frequency is within five standard deviations, and all
    together within what chi-squared allows."""
    model, tokenizer = tiny(rule)
    truth, draws, distance, free = enumerated(rule, canonical), 600, 0.0, 0
    generator = torch.Generator().manual_seed(1)
    for prompt in PROMPTS:
        expected = truth.beginnings[prompt]
        total = sum(expected.values())
        found = supratok.begin(
            model, tokenizer, [prompt] * draws, generator=generator, canonical=canonical
        )
        counts = Counter(tuple(one.ids[1:]) for one in found)
        assert counts.keys() <= expected.keys()
        for one in found[:20]:
            assert one.ids[0] == 0 and one.text.startswith(prompt)
            assert tokenizer.decode(one.ids[1:]) == one.text
            assert one.logprob == pytest.approx(math.log(expected[tuple(one.ids[1:])] / total))
        for ids, chance in expected.items():
            share = chance / total
            wide = math.sqrt(draws * share * (1 - share))
            assert abs(counts[ids] - draws * share) <= 5 * wide + 1
            if draws * share >= 5:
                distance += (counts[ids] - draws * share) ** 2 / (draws * share)
                free += 1
    assert free > 12 and distance < free + 4 * math.sqrt(2 * free)


@pytest.mark.parametrize("rule", RULES)
def test_the_best_beginning(rule: str) -> None:
    model, tokenizer = tiny(rule)
    truth, crossed = enumerated(rule, True), 0
    for prompt in truth.probability:
        if len(prompt.encode()) > 3:
            continue
        (found,) = supratok.begin(model, tokenizer, [prompt], sample=False)
        chances = dict[tuple[int, ...], float]()
        for ids, chance in truth.beginnings[prompt].items():
            cover = ids if truth.text(ids) == prompt.encode() else ids[:-1]
            chances[cover] = chances.get(cover, 0) + chance
        assert tuple(found.cover.ids) == max(chances, key=chances.__getitem__)
        best = tuple(found.cover.ids)
        rivals = {
            ids: chance
            for ids, chance in truth.beginnings[prompt].items()
            if best == (ids if truth.text(ids) == prompt.encode() else ids[:-1])
        }
        assert tuple(found.ids[1:]) == max(rivals, key=rivals.__getitem__)
        crossed += bool(found.cover.rest)
    assert crossed > 3


@pytest.mark.parametrize("rule", RULES)
def test_temperature_is_that_of_each_step(rule: str) -> None:
    """At a high temperature all canonical ids are equally likely at each step."""
    model, tokenizer = tiny(rule)
    weights, next_ids = {}, {}
    for cover in tokenizer.covers("ab"):
        sizes = [tokenizer.next_mask(cover.ids[:size]).sum() for size in range(len(cover.ids))]
        next_ids[cover.rest] = len(tokenizer.may_come(cover)) if cover.rest else 1
        share = next_ids[cover.rest] / (tokenizer.next_mask(cover.ids).sum() if cover.rest else 1)
        weights[cover.rest] = share / math.prod(map(float, sizes))
    assert len(weights) > 1
    for one in supratok.begin(model, tokenizer, ["ab"] * 9, temperature=1e9):
        rest = one.cover.rest
        expected = weights[rest] / sum(weights.values()) / next_ids[rest]
        assert one.logprob == pytest.approx(math.log(expected), abs=1e-3)


@pytest.mark.parametrize("make", [gpt2, llama, mistral])
@pytest.mark.parametrize("rule", RULES)
def test_a_batch_equals_one_by_one_and_plain_rows(
    rule: str, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = tiny_tokenizer(rule)
    model = make(tokenizer).double()
    texts = [*PROMPTS, "abab ab a", "ba b" * 5]
    pairs = [(one, two) for one, two in itertools.product(texts, [" ab", "", "a b"])]

    def texts_of() -> list[str]:
        return supratok.generate(model, tokenizer, texts, sample=False, max_new_tokens=5)

    def results() -> list[float]:
        begun = supratok.begin(model, tokenizer, texts, sample=False)
        return [*supratok.logprobs(model, tokenizer, pairs), *(one.logprob for one in begun)]

    monkeypatch.setattr(reading, "_whole_rows", None)  # nothing falls back
    shared, written = results(), texts_of()
    assert len(set(written)) > 5
    single = [supratok.logprob(model, tokenizer, *pair) for pair in pairs]
    assert single == pytest.approx(shared[: len(single)], abs=1e-9)
    monkeypatch.undo()
    monkeypatch.setattr(reading, "_shared", lambda *_: None)
    assert results() == pytest.approx(shared, abs=1e-9)
    assert texts_of() == written


@pytest.mark.parametrize("make", [gpt2, llama])
def test_generation_takes_the_cache_over(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model reads each position of a prompt once, but for a few at its end."""
    tokenizer = small_tokenizer("merges", special_tokens=("</s>",))
    model, sizes = make(tokenizer), list[int]()
    original = model.forward

    @functools.wraps(original)
    def counted(*args: Any, **options: Any) -> Any:
        sizes.append(options["input_ids"].numel())
        return original(*args, **options)

    model.forward = counted
    prompt = "as well as in New York, " * 8 + "in New"
    size = 1 + len(tokenizer.encode(prompt))
    supratok.generate(model, tokenizer, [prompt], max_new_tokens=3)
    assert sum(sizes) <= size + 12
    sizes.clear()
    supratok.generate(model, tokenizer, [prompt], max_new_tokens=3, num_beams=2)
    assert sum(sizes) > 2 * size


def test_the_endings_to_read() -> None:
    assert reading.longest([(), (1,), (1, 2), (1, 3), (1, 2), (2,)]) == [(1, 2), (1, 3), (2,)]
    assert reading.longest([()]) == []


# --- Whole texts


@pytest.mark.parametrize("make", [gpt2, llama])
@pytest.mark.parametrize("rule", RULES)
def test_generated_texts_go_on_from_their_prompts(tmp_path: Path, rule: str, make: Any) -> None:
    """With a tokenizer that was exported and loaded, and a model that ends texts."""
    small_tokenizer(rule, special_tokens=("</s>",)).export(tmp_path, ["huggingface"], eos="</s>")
    tokenizer = Tokenizer.load(tmp_path)
    model = make(tokenizer)
    rng = random.Random(0)
    prompts = [text[: rng.randint(0, 30)] for text in corpus(5, 40)]
    prompts += ["in New", "as well", "日本語🙂 as w", ""]
    assert any(len(tokenizer.covers(prompt)) > 3 for prompt in prompts)
    torch.manual_seed(0)
    for sample in (True, False):
        found = supratok.generate(model, tokenizer, prompts, sample=sample, max_new_tokens=6)
        assert len(found) == len(prompts) and all(isinstance(text, str) for text in found)
        assert len(set(found)) > 20
    begun = supratok.begin(model, tokenizer, prompts)
    for prompt, one in zip(prompts, begun, strict=True):
        assert one.text.startswith(prompt) and tokenizer.is_canonical(one.ids)


def test_all_that_is_generated_is_canonical_and_ends() -> None:
    for rule in RULES:
        model, tokenizer = tiny(rule)
        ids = torch.zeros((300, 1), dtype=torch.long)
        torch.manual_seed(0)
        options: dict[str, Any] = {"do_sample": True, "top_k": 0, "max_new_tokens": 8}
        plain = model.generate(ids, **options)
        assert not all(map(tokenizer.is_canonical, plain))
        options["logits_processor"] = [supratok.CanonicalLogits(tokenizer)]
        made = model.generate(ids, **options)
        for row in made.tolist():
            end = row.index(0, 1) if 0 in row[1:] else len(row)
            assert tokenizer.canonical_prefix(row[1:end]) >= end - 2  # half a character at the end
        assert any(0 in row[1:] for row in made.tolist())


@pytest.mark.parametrize("rule", RULES)
def test_texts_are_drawn_from_the_distribution(rule: str) -> None:
    """What `generate` writes after a prompt, against the enumeration: 3,000 draws."""
    model, tokenizer = tiny(rule)
    truth, prompt, draws = enumerated(rule, True), "ab", 3000
    torch.manual_seed(2)
    found = supratok.generate(model, tokenizer, [prompt] * draws, max_new_tokens=4)
    texts = [text for text in truth.probability
             if text.startswith(prompt) and len(text.encode()) <= SIZE]  # fmt: skip
    assert len(texts) > 20
    for text in texts:
        share = truth.probability[text] / truth.probability[prompt]
        count = sum((prompt + more).startswith(text) for more in found)
        assert abs(count - draws * share) <= 5 * math.sqrt(draws * share * (1 - share)) + 1, text


def test_options_of_generate() -> None:
    model, tokenizer = tiny("merges")
    with pytest.raises(TypeError, match=r"do_sample is not an option here; pass sample="):
        supratok.generate(model, tokenizer, ["a"], do_sample=True)
    with pytest.raises(TypeError, match="pass the prompt several times"):
        supratok.generate(model, tokenizer, ["a"], num_return_sequences=2)
    with pytest.raises(ValueError, match=r"temperature=0: must be above 0; .* sample=False"):
        supratok.begin(model, tokenizer, ["a"], temperature=0)
    with pytest.raises(TypeError, match="prompts must be a list of texts, not a str"):
        supratok.begin(model, tokenizer, "a b")
    with pytest.raises(ValueError, match=r"' ab' may begin with several tokens.*pass bos="):
        supratok.begin(model, tokenizer, [" ab"], bos=[])
    assert supratok.begin(model, tokenizer, []) == []
    assert supratok.generate(model, tokenizer, []) == []


# --- Where nothing but a logits processor can be passed


@pytest.mark.parametrize("rule", RULES)
def test_approximate_healing(rule: str) -> None:
    model, tokenizer = tiny(rule)
    prompts = [text for text in enumerated(rule, True).probability if len(text.encode()) <= 3]
    torch.manual_seed(0)
    for prompt in prompts:
        healing = supratok.ApproximateHealing(tokenizer, [prompt] * 4)
        assert healing.ids == [tokenizer.stable(prompt).ids] * 4
        ids = torch.tensor([[0, *ids] for ids in healing.ids])
        options: dict[str, Any] = {"do_sample": True, "top_k": 0, "max_new_tokens": 6}
        made = model.generate(ids, logits_processor=[healing], **options)
        for row in made:
            assert tokenizer.decode(row[1:]).startswith(prompt)
    line = (supratok.ApproximateHealing.__doc__ or "").splitlines()[0]
    assert line.startswith("Approximate")


def test_transformers_takes_a_list_of_processors() -> None:
    tokenizer = tiny_tokenizer("merges")
    given = transformers.LogitsProcessorList([supratok.CanonicalLogits(tokenizer)])
    scores = given(torch.tensor([[0]]), torch.zeros((1, tokenizer.vocab_size)))
    assert (scores[0] == 0).tolist() == tokenizer.next_mask([]).tolist()
