"""Experiments: settings that cannot be are refused, and matched plans are fair."""

from __future__ import annotations

from typing import Any

import pytest
from phrase_coder import TINY

from supratok.lab.lm.experiment import Setting, matched
from supratok.lab.lm.model import Shape
from supratok.lab.lm.training import Plan


@pytest.mark.parametrize(
    "wrong",
    [
        {"fading": 1.5}, {"fading": -0.1}, {"phrases": "none"}, {"rest_from": 2.0},
        {"own_from": 0.4}, {"rest": 0.1},
    ],
)  # fmt: skip
def test_a_setting_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        Setting(Plan(tokens=1), **wrong)


def test_a_matched_plan_is_fair() -> None:
    plan, wide, slim = Plan(tokens=1_000), Shape(512, **TINY), Shape(256, **TINY)
    assert matched(plan, "tokens", tokens=(100, 80), shapes=(slim, wide)).tokens == 1_000
    assert matched(plan, "text", tokens=(100, 80), shapes=(slim, wide)).tokens == 800
    less = matched(plan, "compute", tokens=(100, 80), shapes=(slim, wide)).tokens
    assert less * wide.operations == pytest.approx(1_000 * slim.operations, rel=1e-3)
    with pytest.raises(ValueError, match="protocol='time'"):
        matched(plan, "time")  # type: ignore[arg-type]
    for protocol, missing in (("text", "tokens"), ("compute", "shapes")):
        with pytest.raises(ValueError, match=f"protocol='{protocol}': pass the {missing}"):
            matched(plan, protocol)  # type: ignore[arg-type]
