"""runs/laws.py: no violation, and it sees one where there is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from run_scripts import script
from supratok import Tokenizer
from supratok.lab.report.tables import read
from supratok.tokenizer import Cover


def test_the_table(tmp_path: Path) -> None:
    laws = script("laws")
    laws.main(["--vocabularies", "8", "--portion", "4", "--processes", "1", "--out", str(tmp_path)])
    table = read(tmp_path)
    assert len(table.lines) == 2 * len(laws.LAWS) + 1
    assert {line[3] for line in table.lines} == {"0"}
    assert table.lines[-1][2] == f"{8 * 2 * laws.TEXTS * len(laws.LAWS):,}"


def test_a_violation_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    laws = script("laws")
    covers = Tokenizer.covers
    monkeypatch.setattr(
        Tokenizer, "covers", lambda one, text, **more: covers(one, text, **more)[:1]
    )
    monkeypatch.setattr(Tokenizer, "stable", lambda one, text, **_: Cover(one.encode(text), ""))
    monkeypatch.setattr(Tokenizer, "is_canonical", lambda one, ids: True)
    found = laws.check_all(range(12))
    assert {name.split(" | ")[0] for name in found["wrong"]} == {"merges", "fewest"}
    assert len(found["wrong"]) >= 2 * 3 and found["failed"]
