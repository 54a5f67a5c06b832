"""Phrases and their words: splitting keeps the text, and sharing adds the words' embeddings."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from phrase_coder import TEXTS, coder

from supratok.lab.lm.coder import Coder
from supratok.lab.lm.parts import Sharing, Splitting, phrase_parts

__all__ = ["coder"]  # a fixture

pytestmark = pytest.mark.usefixtures("one_thread")


def test_parts_are_the_words_of_phrases(coder: Coder) -> None:
    parts = phrase_parts(coder)
    assert len(parts.phrases) > 5
    spell = coder.peer.token_text  # type: ignore[attr-defined]
    for id in parts.phrases.tolist():
        assert "".join(map(spell, parts.of(id))) == spell(id)
        assert not any(len(spell(part).split()) > 1 for part in parts.of(id))
    assert parts.of(coder.end) == [coder.end]


@given(st.floats(0, 1), st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_splitting_never_changes_the_text(coder: Coder, share: float, seed: int) -> None:
    parts = phrase_parts(coder)
    ids = coder.encode(TEXTS[seed % len(TEXTS)])
    found = Splitting(parts, share)(ids, 0, np.random.default_rng(seed))
    assert coder.peer.decode(found.tolist()) == coder.peer.decode(ids.tolist())
    if share == 0:
        assert found.tolist() == ids.tolist()
    if share == 1:
        assert len(found) == len(ids) + Splitting(parts, share).longer([ids], 1)
        assert found.tolist() == [part for id in ids.tolist() for part in parts.of(id)]


def test_splitting_fades(coder: Coder) -> None:
    """To nothing at its end, and with as many more tokens as `longer` expects."""
    parts = phrase_parts(coder)
    ids = np.tile(np.concatenate(coder.encode_all(TEXTS)), 20)
    budget, until = len(ids), round(len(ids) * 0.6)
    fading = Splitting(parts, 0.5, until)
    whole = fading(ids, 0, np.random.default_rng(0))
    expected = fading.longer([ids], budget)
    assert expected == pytest.approx(0.5 * 0.3 * (parts.counts[ids] - 1).sum(), rel=1e-9)
    assert len(whole) - len(ids) == pytest.approx(expected, rel=0.1)
    assert whole[-(budget - until) :].tolist() == ids[until:].tolist()
    assert fading(ids, until, np.random.default_rng(0)).tolist() == ids.tolist()
    early = fading(ids[:until], 0, np.random.default_rng(1))
    late = fading(ids[:until], until // 2, np.random.default_rng(1))
    assert len(ids[:until]) < len(late) < len(early)
    with pytest.raises(ValueError, match="until=0"):
        Splitting(parts, 0.5, 0)


def test_splitting_keeps_a_rest(coder: Coder) -> None:
    """It falls as before until it is the rest; before `since` there is no rest."""
    parts = phrase_parts(coder)
    places = np.arange(100)
    plain = Splitting(parts, 1.0, 40).share_at(places)
    assert Splitting(parts, 1.0, 40, 0.3).share_at(places).tolist() == [
        max(share, 0.3) for share in plain.tolist()
    ]
    late = Splitting(parts, 1.0, 40, 0.1, since=80)
    assert late.share_at(places)[:80].tolist() == plain[:80].tolist()
    assert late.share_at(places)[80:].tolist() == [0.1] * 20
    ids = np.tile(np.concatenate(coder.encode_all(TEXTS)), 20)
    some = Splitting(parts, 1.0, round(len(ids) * 0.4), 0.1, since=round(len(ids) * 0.8))
    expected = some.longer([ids], len(ids))
    assert expected == pytest.approx((0.2 + 0.02) * (parts.counts[ids] - 1).sum(), rel=1e-3)
    assert len(some(ids, 0, np.random.default_rng(0))) - len(ids) == pytest.approx(
        expected, rel=0.1
    )
    with pytest.raises(ValueError, match="rest=2"):
        Splitting(parts, 0.5, rest=2.0)


@pytest.mark.parametrize("composed", [False, True])
def test_sharing_adds_the_mean_of_the_words(coder: Coder, composed: bool) -> None:
    """Matrices start as the identity, so composing starts as sharing."""
    parts = phrase_parts(coder)
    sharing, table = Sharing(parts, 8, composed), torch.randn(coder.rows, 8)
    full = sharing.full(table)
    for id in range(coder.rows):
        mean = table[parts.of(id)].mean(dim=0) if parts.counts[id] > 1 else 0.0
        assert torch.allclose(full[id], table[id] + mean, atol=1e-6)
    started = table.clone()
    sharing.start(started, own=False)
    phrase = int(parts.phrases[0])
    assert torch.allclose(started[phrase], table[parts.of(phrase)].mean(dim=0), atol=1e-6)
    sharing.start(started, own=True)
    assert not started[phrase].any()


def test_composing_treats_the_first_word_unlike_the_last(coder: Coder) -> None:
    parts = phrase_parts(coder)
    sharing, table = Sharing(parts, 4, composed=True), torch.randn(coder.rows, 4)
    first, middle, last = (torch.randn(4, 4) for _ in range(3))
    with torch.no_grad():
        for name, matrix in {"first": first, "middle": middle, "last": last}.items():
            sharing.get_parameter(name).copy_(matrix)
        full = sharing.full(table)
    assert max(parts.counts) > 2
    for id in parts.phrases.tolist():
        words = table[parts.of(id)]
        mapped = [
            word @ (first if place == 0 else last if place == len(words) - 1 else middle)
            for place, word in enumerate(words)
        ]
        expected = table[id] + torch.stack(mapped).mean(dim=0)
        assert torch.allclose(full[id], expected, atol=1e-5)


def test_without_their_own_rows_phrases_are_their_words_alone(coder: Coder) -> None:
    parts = phrase_parts(coder)
    sharing = Sharing(parts, 4, composed=True)
    table = torch.randn(coder.rows, 4, requires_grad=True)
    phrases = torch.from_numpy(parts.phrases)
    full = sharing.full(table, own=False)
    (full * torch.randn(full.shape)).sum().backward()
    assert torch.allclose(full[phrases], sharing.full(table)[phrases] - table[phrases], atol=1e-6)
    assert table.grad is not None and not table.grad[phrases].any()
    words = torch.tensor(sorted({word for id in parts.phrases.tolist() for word in parts.of(id)}))
    assert table.grad[words].all()
