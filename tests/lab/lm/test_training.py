"""Training: models learn, with and without aids, and a run that was stopped can be resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from phrase_coder import TEXTS, TINY, coder

from supratok.lab.lm.bits import bits_per_character
from supratok.lab.lm.coder import Coder
from supratok.lab.lm.experiment import Setting, figures, learn
from supratok.lab.lm.model import Decoder, Shape, new_decoder
from supratok.lab.lm.parts import Sharing, Splitting, phrase_parts
from supratok.lab.lm.stream import Stream
from supratok.lab.lm.training import CHECKPOINT, Plan, train_model

__all__ = ["coder"]  # a fixture

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("own_from", [0.0, 0.5, 1.0])
def test_own_rows_of_phrases_learn_late(
    coder: Coder, own_from: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are zeros until then; from the first step on without the option."""
    parts, moved, full = phrase_parts(coder), [], Sharing.full

    def watched(self: Sharing, table: torch.Tensor, own: bool = True) -> torch.Tensor:
        moved.append(bool(table[torch.from_numpy(parts.phrases)].any()))
        return full(self, table, own)

    monkeypatch.setattr(Sharing, "full", watched)
    plan = Plan(tokens=4 * 16 * 20, batch=4, rate=3e-3)
    setting = Setting(plan, **TINY, phrases="composed", own_from=own_from)
    learn(setting, coder, coder.encode_all(TEXTS), "cpu")
    still = round(20 * own_from) + 1  # the step that moves them has seen zeros
    assert len(moved) == 21  # 20 steps, and once to fold them
    assert moved == [False] * still + [True] * (21 - still)


def test_a_model_learns_and_its_bits_fall(coder: Coder) -> None:
    coded = coder.encode_all(TEXTS)
    untrained = new_decoder(Shape(coder.rows, **TINY), 0)
    before = bits_per_character(untrained, coder, TEXTS[:3], "cpu")
    setting = Setting(Plan(tokens=20_000, batch=8, rate=5e-3), **TINY)  # type: ignore[arg-type]
    trained = learn(setting, coder, coded, "cpu")
    after = bits_per_character(trained.model, coder, TEXTS[:3], "cpu")
    assert after.per_character < 0.5 * before.per_character
    assert trained.curve[-1][0] == trained.tokens <= 20_000
    assert trained.curve[-1][1] < trained.curve[0][1]


def test_bfloat16_on_a_processor_learns_nearly_the_same(coder: Coder) -> None:
    coded = coder.encode_all(TEXTS)
    plans = [Plan(tokens=20_000, batch=8, rate=5e-3, bfloat16=narrow) for narrow in (False, True)]
    wide, narrow = (learn(Setting(plan, **TINY), coder, coded, "cpu") for plan in plans)  # type: ignore[arg-type]
    assert wide.curve != narrow.curve
    assert narrow.curve[-1][1] == pytest.approx(wide.curve[-1][1], rel=0.1)
    assert all(weight.dtype == torch.float32 for weight in narrow.model.parameters())


@pytest.mark.parametrize("phrases", ["mean", "shared", "composed"])
def test_models_trained_with_aids_end_as_plain_ones(coder: Coder, phrases: str) -> None:
    """Training writes shared embeddings into the table: the model alone gives the figures."""
    plan = Plan(tokens=10_000, batch=8, rate=5e-3)
    setting = Setting(plan, **TINY, splitting=0.2, fading=0.8, phrases=phrases)  # type: ignore[arg-type]
    trained = learn(setting, coder, coder.encode_all(TEXTS), "cpu")
    found = figures(trained.model, coder, {"some": TEXTS[:2]}, "cpu")["some"]
    assert found["bits_per_character"] < 1.5
    assert abs(trained.curve[-1][1] - np.log(found["perplexity"])) < 1.0


@pytest.mark.parametrize("aided", [False, True])
def test_a_run_that_was_stopped_ends_as_it_would_have(
    coder: Coder, tmp_path: Path, aided: bool
) -> None:
    parts = phrase_parts(coder)
    assert len(parts.phrases)
    splitting = Splitting(parts, 0.5, 3_000) if aided else None
    stream = Stream(coder.encode_all(TEXTS), coder.end, 5, splitting)
    plan = Plan(tokens=4_000, batch=4, at_once=2, rate=3e-3, seed=5)

    def model(seed: int) -> Decoder:
        return new_decoder(Shape(coder.rows, **TINY), seed)

    def sharing() -> Sharing | None:
        return Sharing(parts, TINY["width"], composed=True) if aided else None

    whole = train_model(model(5), plan, stream, sharing=sharing())

    def stop(tokens: int, loss: float) -> None:
        if tokens > 2_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_model(
            model(5), plan, stream, sharing=sharing(), folder=tmp_path, every=0.0, watch=stop
        )
    again = train_model(model(6), plan, stream, sharing=sharing(), folder=tmp_path)
    for first, second in zip(whole.model.parameters(), again.model.parameters(), strict=True):
        assert torch.allclose(first, second, atol=1e-6)
    assert [tokens for tokens, _ in again.curve] == [tokens for tokens, _ in whole.curve]
    other = Plan(tokens=8_000, batch=4, rate=3e-3, seed=5)
    late = Sharing(parts, TINY["width"], composed=True, late=0.5)
    for asked, beside in ((other, sharing()), (plan, Sharing(parts, TINY["width"])), (plan, late)):
        with pytest.raises(ValueError, match=f"{CHECKPOINT}: a run of another plan"):
            train_model(model(5), asked, stream, sharing=beside, folder=tmp_path)


def test_gradients_in_two_goes_are_those_in_one(coder: Coder) -> None:
    stream = Stream(coder.encode_all(TEXTS), coder.end)
    weights = []
    for at_once in (None, 2):
        plan = Plan(tokens=320, batch=4, at_once=at_once, rate=1e-3)
        trained = train_model(new_decoder(Shape(coder.rows, **TINY), 0), plan, stream)
        weights.append(torch.cat([weight.flatten() for weight in trained.model.parameters()]))
    assert torch.allclose(*weights, atol=1e-5)


def test_the_rate_rises_and_falls() -> None:
    plan = Plan(tokens=1, rate=1.0, warm_up=0.1, last_rate=0.1)
    rates = [plan.rate_at(step, 100) for step in range(100)]
    assert rates[9] == 1.0 == max(rates)
    assert rates[0] == pytest.approx(0.1)
    assert rates[9:] == sorted(rates[9:], reverse=True)
    assert rates[-1] == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(
    "wrong", [{"tokens": 0}, {"tokens": 1, "rate": 0.0}, {"tokens": 1, "batch": 3, "at_once": 2}]
)
def test_a_plan_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must"):
        Plan(**wrong)
