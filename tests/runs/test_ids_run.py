"""runs/ids.py: its rules, its vocabularies, and that it sees a difference."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pytest

from run_scripts import script
from supratok.common import _core
from supratok.lab.report.tables import read

FAMILIES = [*script("made_up").FAMILIES, script("made_up").OUTSIDE]


def run(folder: Path, *given: object) -> Any:
    ids, small = script("ids"), ("--portion", 20, "--texts", 20, "--processes", 1)
    ids.main(["--out", str(folder), *map(str, (*small, *given))])
    return read(folder)


def test_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = run(tmp_path, "--vocabularies", 30, "--before", sys.executable)
    assert "vocabularies 20 to 29: " in capsys.readouterr().err
    assert {line[7] for line in table.lines} == {line[9] for line in table.lines} == {"0"}
    assert {line[8] for line in table.lines if line[1] == "merges"} == {"0"}
    for rule in ("merges", "fewest"):
        assert sum(int(line[2]) for line in table.lines if line[1] == rule) == 30
    more = run(tmp_path, "--vocabularies", 30, "--before", sys.executable)
    assert more.lines == table.lines and capsys.readouterr().err == ""


def test_every_family_is_drawn_and_decided_by_its_number() -> None:
    made_up = script("made_up")
    drawn = [made_up.made_vocabulary(random.Random(i), i) for i in range(60)]
    assert {one.family for one in drawn} == set(FAMILIES)
    assert drawn == [made_up.made_vocabulary(random.Random(i), i) for i in range(60)]
    assert any(one.groups[0][1:] for one in drawn if one.groups)  # tied
    assert max(len(text) for one in drawn for group in one.groups for text in group) > 100
    large = made_up.made_vocabulary(random.Random(3), made_up.LARGE - 1)
    assert len(large.groups) > 500


@pytest.mark.parametrize("number", range(40))
def test_its_rules_are_those_of_the_reference(number: int) -> None:
    ids, made_up, rng = script("ids"), script("made_up"), random.Random(number)
    vocabulary = made_up.settled(made_up.made_vocabulary(rng, number), "merges", rng)
    plain = ids.Plain(vocabulary)
    for text in made_up.made_texts(rng, vocabulary, 20, number + 1):
        short = text[:60]
        assert plain.merges(short) == plain.by_reference(short, "merges")
        assert plain.long_merges(short) == plain.merges(short)
        assert plain.fewest(short) == plain.by_reference(short, "fewest")


def test_a_wrong_encoder_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(_core.Encoder):
        def encode(self, text: str) -> list[int]:
            return super().encode(text[1:])

    ids = script("ids")
    monkeypatch.setattr(ids._core, "Encoder", Wrong)
    found = ids.check_all(range(1, 3), ["merges", "fewest"], 10, None)
    assert found["differ"] == ["1 merges", "1 fewest", "2 merges", "2 fewest"]
    assert all(c["rule"] >= 9 and c["forms"] >= 9 for c in found["sums"].values() if c)
