"""The loss, computed in parts, and its gradients are those of the plain cross-entropy."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from supratok.lab.lm import loss as loss_module
from supratok.lab.lm.loss import mean_loss, token_losses

pytestmark = pytest.mark.usefixtures("one_thread")


@given(st.integers(1, 40), st.integers(2, 30), st.integers(1, 200), st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_the_loss_in_parts_is_the_plain_one(places: int, rows: int, room: int, seed: int) -> None:
    chance = torch.Generator().manual_seed(seed)
    hidden = torch.randn(places, 8, generator=chance, requires_grad=True)
    table = torch.randn(rows, 8, generator=chance, requires_grad=True)
    targets = torch.randint(0, rows, (places,), generator=chance)
    plain = torch.nn.functional.cross_entropy(hidden @ table.T, targets)
    before, loss_module._ROOM = loss_module._ROOM, room
    try:
        ours = mean_loss(hidden, table, targets)
        each = token_losses(hidden, table, targets)
    finally:
        loss_module._ROOM = before
    assert torch.allclose(ours, plain, atol=1e-5)
    assert torch.allclose(each.mean(), plain, atol=1e-5)
    expected = torch.autograd.grad(plain * 3, (hidden, table))
    for found, right in zip(torch.autograd.grad(ours * 3, (hidden, table)), expected, strict=True):
        assert torch.allclose(found, right, atol=1e-5)
