"""Leaf surgery equals its plain twin, and keeps the promises of a vocabulary."""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supratok import Recipe, Token, Tokenizer, train
from supratok.common import _core
from supratok.common.progress import Progress
from supratok.learn.expression import express
from supratok.learn.expression.deciding import Deciding
from supratok.learn.expression.surgery import ROUNDS, Candidates, Surgery, Usage
from supratok.recipe import Expressions
from supratok.tokenizer import BYTES
from texts import prose

DOCUMENTS = prose(5, 600)
HELD_OUT, TRAINING = DOCUMENTS[:100], DOCUMENTS[100:]


@functools.cache
def trained(segmentation: Any, crossover: float | None = None) -> Tokenizer:
    recipe = Recipe(vocab_size=900, segmentation=segmentation, crossover=crossover)
    return train(TRAINING, recipe, threads=1, progress=False)


def word_table() -> _core.WordTable:
    table = _core.WordTable(16)
    table.count(TRAINING, 1)
    return table


def run(recipe: Recipe, tokens: list[Token]) -> tuple[list[Token], dict[str, Any]]:
    return express(
        tokens, lambda: iter(TRAINING), Deciding.of(HELD_OUT), word_table(), recipe, 2, Progress()
    )  # fmt: skip


def used(tokens: list[Token], fewest: bool) -> int:
    return int(encoder_of(tokens, fewest).usage(HELD_OUT, 1).sum())


def encoder_of(tokens: list[Token], fewest: bool) -> _core.Encoder:
    texts = [token.text for token in tokens]
    return _core.Encoder(texts, [1] * len(texts), fewest=fewest, first_id=0)


# --- The whole pass


@pytest.mark.parametrize("segmentation", ["merges", "fewest"])
@pytest.mark.parametrize("crossover", [None, 1.0])
@pytest.mark.parametrize("options", [
    Expressions(min_pmi=1.0),
    Expressions(min_pmi=1.0, in_place=True),
    Expressions(min_pmi=1.0, in_place=True, training_share=0.5),
])  # fmt: skip
def test_the_vocabulary_keeps_its_promises(
    segmentation: Any, crossover: float | None, options: Expressions
) -> None:
    base = trained(segmentation, crossover)
    before = list(base.vocabulary)
    recipe = replace(base.recipe, expressions=options)
    after, report = run(recipe, before)
    assert len(after) == len(before)
    assert len({token.text for token in after}) == len(after)
    assert [t for t in after if t.born == "alphabet"] == [t for t in before if t.born == "alphabet"]
    Tokenizer(after, recipe)  # refuses a token that does not encode to itself
    old = [token for token in after if token.born != "expression"]
    assert old == [token for token in before if token in set(old)]  # in the same order
    assert after[: len(old)] == old  # new tokens rank last
    assert len(before) - len(old) == report["displaced"]
    assert report["displaced"] == report["accepted"] + report["intermediates"]
    assert report["held_out_tokens_before"] == used(before, segmentation == "fewest")
    assert report["held_out_tokens_after"] == used(after, segmentation == "fewest")
    if crossover == 1.0:  # words alone: phrases are worth their places
        assert report["accepted"] > 0
        assert report["held_out_tokens_after"] < report["held_out_tokens_before"]


def test_room_is_filled_first() -> None:
    base = trained("merges", 1.0)
    before = list(base.vocabulary)
    recipe = replace(
        base.recipe, vocab_size=BYTES + len(before) + 10, expressions=Expressions(min_pmi=1.0)
    )
    after, report = run(recipe, before)
    assert len(after) == len(before) + 10
    assert report["accepted"] + report["intermediates"] == report["displaced"] + 10


def test_without_options_or_held_out_text_nothing_happens() -> None:
    base = trained("merges", 1.0)
    tokens = list(base.vocabulary)
    assert run(base.recipe, tokens) == (tokens, {})
    recipe = replace(base.recipe, expressions=Expressions())
    found = express(
        tokens, lambda: iter(TRAINING), Deciding.of([]), word_table(), recipe, 1, Progress()
    )
    assert found == (tokens, {})


def test_counts_of_new_tokens() -> None:
    """The count of a span is its count in the training text."""
    base = trained("fewest", 1.0)
    recipe = replace(base.recipe, expressions=Expressions(min_pmi=1.0))
    after, _ = run(recipe, list(base.vocabulary))
    new = [token for token in after if token.born == "expression"]
    assert new
    for token in new[:20]:
        words = _core.split_words(token.text)
        here = 0
        for text in TRAINING:
            units = _core.split_words(text)
            here += sum(units[i : i + len(words)] == words for i in range(len(units)))
        assert token.count == here


# --- The surgery, beside its plain twin


def plain_round(surgery: Surgery, candidates: Candidates, waiting: list[int]) -> list[int]:
    """Accepts the span of the highest priority, again and again, and computes all from scratch."""
    encoder, tokens = encoder_of(surgery.tokens, surgery.fewest), surgery.tokens
    rows = [encoder.encode(text) for text in surgery.usage.held_out.texts]
    counts = Counter(id - BYTES for row in rows for id in row)
    documents = Counter(id - BYTES for row in rows for id in set(row))
    weight = surgery.options.utility_documents
    price = {m: counts[m] + weight * documents[m] for m in range(len(tokens))}
    learnt = range(surgery.alphabet, len(tokens))
    parts = {m: () if surgery.fewest else encoder.parts(m) or () for m in learnt}
    pieces = {i: [id - BYTES for id in encoder.encode(candidates.texts[i])] for i in waiting}
    pieces = {i: row for i, row in pieces.items() if len(row) > 1}
    gained = {
        i: candidates.counts[i] * (len(row) - 1) + weight * candidates.documents[i]
        for i, row in pieces.items()
    }
    free, gone, kept, claimed = surgery.size - len(tokens), set[int](), set[int](), set[Any]()
    known, new, accepted = {token.text for token in tokens}, list[Token](), list[int]()

    def chain(i: int) -> list[str]:
        texts = [tokens[piece].text for piece in pieces[i]]
        return [
            "".join(texts[:n]) for n in range(len(texts) if surgery.fewest else 2, len(texts) + 1)
        ]

    while True:
        made_of = {part for m in learnt for part in parts[m]}  # as the round began
        leaves = [m for m in learnt if m not in gone | kept | made_of
                  and tokens[m].born != "expression"]  # fmt: skip
        leaves.sort(key=lambda m: (price[m], -m))
        best: tuple[Any, ...] | None = None
        for i, row in pieces.items():
            text, joins = candidates.texts[i], set(zip(row, row[1:], strict=False))
            if i in accepted or text in surgery.gone or gone & set(row) or claimed & joins:
                continue
            if known & set(chain(i)):
                continue
            places = max(0, len(chain(i)) - free)
            out = [m for m in leaves if m not in row][:places]
            worth = gained[i] - sum(price[m] for m in out)
            order = -(worth + surgery.options.priority_score * candidates.scores[i])
            if len(out) == places and worth > 0:
                best = min(best or (np.inf,), (order, len(text), text, i, out))
        if best is None:
            break
        *_, i, out = best
        free = max(0, free - len(chain(i)))
        gone.update(out)
        kept.update(pieces[i])
        claimed.update(zip(pieces[i], pieces[i][1:], strict=False))
        known.update(chain(i))
        count = int(candidates.training_counts[i])
        new += [Token(text, count, "expression") for text in chain(i)]
        accepted.append(i)
    surgery.gone.update(tokens[m].text for m in gone)
    surgery.tokens = [token for m, token in enumerate(tokens) if m not in gone] + new
    return accepted


@st.composite
def spans(draw: st.DrawFn) -> list[str]:
    """Stretches of the held-out text, some overlapping, some with half words."""
    texts = set()
    for _ in range(draw(st.integers(1, 25))):
        text = HELD_OUT[draw(st.integers(0, 30))]
        start = draw(st.integers(0, 40))
        texts.add(text[start : start + draw(st.integers(3, 25))])
    return sorted(text for text in texts if text)


@settings(deadline=None, max_examples=60)
@given(spans(), st.data(), st.sampled_from(["merges", "fewest"]), st.integers(0, 3))
def test_surgery_equals_the_plain_one(
    texts: list[str], data: st.DataObject, segmentation: Any, room: int
) -> None:
    tokens = list(trained(segmentation).vocabulary)
    numbers = st.lists(st.integers(0, 60), min_size=len(texts), max_size=len(texts))
    counts = np.array(data.draw(numbers))
    documents = np.minimum(counts, np.array(data.draw(numbers)))
    candidates = Candidates(texts, counts, counts * 1.0, documents * 1.0, counts * 1.0,
                            documents * 1.0, np.array(data.draw(numbers)) / 7)  # fmt: skip

    def surgery() -> Surgery:
        return Surgery(
            tokens, np.zeros(len(tokens)), sum(token.born == "alphabet" for token in tokens),
            len(tokens) + room, segmentation == "fewest", Expressions(),
            Usage(Deciding.of(HELD_OUT), 1),
        )  # fmt: skip

    plain, waiting = surgery(), list(range(len(texts)))
    for _ in range(ROUNDS):
        accepted = plain_round(plain, candidates, waiting)
        if not accepted:
            break
        waiting = [i for i in waiting if i not in accepted]
    assert surgery().run(candidates) == plain.tokens
    assert not encoder_of(plain.tokens, plain.fewest).states().any()
