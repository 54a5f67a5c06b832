"""The model: the paper's size, the same for the same seed, and no token sees later ones."""

from __future__ import annotations

import pytest
import torch
from phrase_coder import TINY

from supratok.lab.lm.model import Decoder, Shape, new_decoder

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize(
    ("layers", "width", "count"), [(12, 768, 282_450_432), (24, 1024, 565_504_000)]
)
def test_as_many_parameters_as_in_the_paper(layers: int, width: int, count: int) -> None:
    shape = Shape(256_000, layers, width)
    assert shape.parameters == count
    with torch.device("meta"):
        assert sum(weight.numel() for weight in Decoder(shape).parameters()) == count


def test_the_same_seed_gives_the_same_model() -> None:
    ids = torch.arange(12).view(1, 12)
    first, again, other = (new_decoder(Shape(50, **TINY), seed)(ids) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_no_token_sees_what_comes_after_it() -> None:
    model = new_decoder(Shape(50, **TINY), 0)
    ids = torch.arange(12).view(1, 12)
    changed = ids.clone()
    changed[0, 8:] = 49
    assert torch.allclose(model(ids)[0, :8], model(changed)[0, :8], atol=1e-6)
    assert not torch.allclose(model(ids)[0, 8:], model(changed)[0, 8:])


def test_a_text_longer_than_the_context_is_refused() -> None:
    with pytest.raises(ValueError, match="17 tokens: the model has 16 positions"):
        new_decoder(Shape(50, **TINY), 0)(torch.zeros(1, 17, dtype=torch.long))
