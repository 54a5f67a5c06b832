"""Two models compared over the same seeds: Student's test of the differences."""

from __future__ import annotations

import pytest

from supratok.lab.lm.seeds import _beyond, paired


@pytest.mark.parametrize(
    ("t", "seeds", "p"),
    [(1.0, 2, 0.5), (12.7062, 2, 0.05), (4.30265, 3, 0.05), (2.22814, 11, 0.05)],
)
def test_student_has_the_values_of_the_tables(t: float, seeds: int, p: float) -> None:
    assert _beyond(t, seeds) == pytest.approx(p, rel=1e-3)


def test_the_effect_of_a_seed_on_both_cancels() -> None:
    found = paired([1.0, 2.0, 3.0], [0.5, 1.4, 2.5])
    assert found.mean == pytest.approx(1.6 / 3)
    assert found.p < 0.01
    assert paired([1.0, 2.0], [1.0, 2.0]).p == 1.0
    with pytest.raises(ValueError, match="1 and 1 seeds"):
        paired([1.0], [2.0])
