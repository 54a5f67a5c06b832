"""The time and the energy that a run takes."""

from __future__ import annotations

import pytest

from supratok.lab.lm.energy import Meter


def test_seconds_are_measured_where_no_card_reports_its_power(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("supratok.lab.lm.energy._ASK", ["no such program"])
    with Meter() as meter:
        pass
    assert meter.spent.seconds >= 0
    assert meter.spent.kilowatt_hours is None is meter.spent.carbon


def test_power_is_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = ["sh", "-c", "for i in 1 2 3 4; do sleep 0.1; echo 360; done"]
    monkeypatch.setattr("supratok.lab.lm.energy._ASK", ask)
    with Meter() as meter:
        import time

        time.sleep(0.7)
    kilowatt_hours = meter.spent.kilowatt_hours
    assert kilowatt_hours is not None
    assert 0.3 < kilowatt_hours * 1e4 < 0.7  # about 0.4 s at 360 W
