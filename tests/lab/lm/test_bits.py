"""Bits per character: each token counts once, with enough text before it."""

from __future__ import annotations

import pytest
import torch
from phrase_coder import TEXTS, TINY, coder

from supratok.lab.lm.bits import bits_per_character, token_nats
from supratok.lab.lm.coder import Coder
from supratok.lab.lm.model import Shape, new_decoder

__all__ = ["coder"]  # a fixture

pytestmark = pytest.mark.usefixtures("one_thread")


def test_bits_of_long_texts_are_those_of_a_plain_sum(coder: Coder) -> None:
    """Each token once, with at least half a context before it. Here: one window for each token."""
    model = new_decoder(Shape(coder.rows, **TINY), 0)
    text = "".join(TEXTS[:5])
    ids = [coder.end, *coder.encode(text).tolist()]
    assert len(ids) > 3 * 16
    nats = []
    for place in range(1, len(ids)):
        last = max(0, (place - 1 - 16) // 8 + 1) * 8 if place > 16 else 0
        window = torch.tensor([ids[last:place]])
        logits = model(window)[0, -1] @ model.table.T
        nats.append(-float(torch.log_softmax(logits.detach().double(), 0)[ids[place]]))
    assert token_nats(model, coder, ["", text], "cpu")[1] == pytest.approx(nats, rel=1e-4)
    found = bits_per_character(model, coder, [text, "", TEXTS[1]], "cpu")
    assert found.nats[0] == pytest.approx(sum(nats), rel=1e-4)
    assert found.nats[1] == 0.0
    assert found.tokens == (len(ids) - 1, 0, len(coder.encode(TEXTS[1])))
    assert found.characters == (len(text), 0, len(TEXTS[1]))
