"""Pruning leaves equals its plain twin, and the rest keeps the promises of a vocabulary."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supratok import Recipe, train
from supratok.common import _core
from supratok.learn.prune import HELD_OUT_WEIGHT, ROUNDS, HeldOutText, prune_leaves, round_size
from supratok.tokenizer import BYTES
from texts import prose


def encoder_of(texts: list[str]) -> _core.Encoder:
    return _core.Encoder(texts, [1] * len(texts), fewest=False, first_id=0)


@st.composite
def vocabularies(draw: st.DrawFn) -> list[str]:
    """An alphabet and joins of two earlier entries, of which those that encode to themselves."""
    texts = ["a", "b", " "]
    for _ in range(draw(st.integers(0, 14))):
        left, right = draw(st.sampled_from(texts)), draw(st.sampled_from(texts))
        more = [*texts, left + right]
        if left + right not in texts and not encoder_of(more).states().any():
            texts = more
    return texts


def plain(
    texts: list[str], uses: list[int], alphabet: int, keep: int, held_out: list[str], scale: float
) -> list[int]:
    """Drops one leaf after the other, and computes all from scratch."""
    left = list(range(len(texts)))
    use = dict(zip(left, map(float, uses), strict=True))
    for round in range(1, ROUNDS + 1):
        encoder = encoder_of([texts[place] for place in left])
        ids = Counter(id for text in held_out for id in encoder.encode(text))
        seen = {place: HELD_OUT_WEIGHT * scale * ids[BYTES + i] for i, place in enumerate(left)}
        while len(left) > round_size(len(texts), keep, round):
            encoder = encoder_of([texts[place] for place in left])
            parts = {place: encoder.parts(i) or () for i, place in enumerate(left)}
            made_of = {left[part] for pair in parts.values() for part in pair}
            leaves = [place for place in left if place >= alphabet and place not in made_of]
            if not leaves:
                break
            gone = min(leaves, key=lambda place: (use[place] + seen[place], -place))
            for part in [left[part] for part in parts[gone]]:
                use[part] += use[gone]
                seen[part] += seen[gone]
            left.remove(gone)
    return left


@settings(deadline=None)
@given(vocabularies(), st.data())
def test_equals_the_plain_one(texts: list[str], data: st.DataObject) -> None:
    uses = data.draw(st.lists(st.integers(0, 9), min_size=len(texts), max_size=len(texts)))
    keep = data.draw(st.integers(3, len(texts)))
    held_out = data.draw(st.lists(st.text(alphabet="ab c", max_size=20), max_size=3))
    scale = data.draw(st.sampled_from([0.0, 10.0, 40.0]))
    kept = prune_leaves(
        texts, np.array(uses), alphabet=3, keep=keep,
        held_out=HeldOutText(held_out, scale, 1),
    )  # fmt: skip
    assert kept == plain(texts, uses, 3, keep, held_out, scale)
    assert len(kept) == keep
    assert kept == sorted(kept) and kept[:3] == [0, 1, 2]
    assert not encoder_of([texts[place] for place in kept]).states().any()


@pytest.mark.parametrize(("keep", "expected"), [
    (6, ["a", "b", "c", "ab", "abc", "bc"]),
    (5, ["a", "b", "c", "ab", "bc"]),  # abc has 2 uses
    (4, ["a", "b", "c", "ab"]),  # ab has inherited them: 5 uses, bc has 4
    (3, ["a", "b", "c"]),
])  # fmt: skip
def test_worked_example(keep: int, expected: list[str]) -> None:
    texts = ["a", "b", "c", "ab", "abc", "bc"]
    uses = np.array([0, 0, 0, 3, 2, 4])
    kept = prune_leaves(texts, uses, alphabet=3, keep=keep, held_out=HeldOutText([], 1.0, 1))
    assert [texts[place] for place in kept] == expected


def test_the_least_used_go_first() -> None:
    """It loses far fewer uses than dropping the last tokens would."""
    documents = prose(8, 400)
    tokenizer = train(documents, Recipe(vocab_size=900), threads=1, progress=False)
    texts = [token.text for token in tokenizer.vocabulary]
    order = np.random.default_rng(3).permutation(len(documents))
    some = [documents[place] for place in order[:40].tolist()]  # a text unlike the whole
    alphabet = sum(token.born == "alphabet" for token in tokenizer.vocabulary)
    kept = prune_leaves(
        texts, tokenizer.usage(some)[BYTES:], alphabet=alphabet, keep=400,
        held_out=HeldOutText([], 1.0, 1),
    )  # fmt: skip
    used = encoder_of([texts[place] for place in kept]).usage(some, 1).sum()
    assert used < encoder_of(texts[:400]).usage(some, 1).sum()
