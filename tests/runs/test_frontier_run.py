"""Bits against density, from finished rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from run_scripts import script
from supratok.lab.report.frontier import Place, frontier

ROOT = Path(__file__).parent.parent.parent
NONE = {"splitting": 0.0, "fading": 0.0, "phrases": "chance"}
BOTH = {"splitting": 1.0, "fading": 0.4, "phrases": "composed"}


def row(name: str, seed: int, bits: float, density: float, **changes: Any) -> str:
    setting = {
        "plan": {"tokens": changes.pop("tokens", 100_000_000), "seed": seed},
        "layers": 12, "width": 768, "context": 1024, **NONE, **changes,
    }  # fmt: skip
    tests = {"held out": {"bits_per_character": bits, "characters_per_token": density}}
    asked = {"row": f"{name} 50,000, 12L-768d, 100 M tokens, seed {seed}", "setting": setting}
    return json.dumps({"asked": asked, "figures": {"tests": tests}}) + "\n"


ROWS = [
    row("BPE-Bytes-GPT4o", 0, 2.0, 4.0),
    row("BPE-Bytes-GPT4o", 1, 1.0, 4.0),
    row("BPE-Bytes-GPT4o", 1, 3.0, 4.0),  # the same seed again: its mean is 2.0
    row("balanced", 0, 2.1, 5.0),
    row("balanced", 0, 2.02, 5.0, **BOTH),
    row("balanced", 1, 1.98, 5.0, **BOTH),
    row("balanced", 1, 9.0, 5.0, **BOTH, tokens=84_000_000),  # another budget
    row("balanced", 1, 9.0, 5.0, **BOTH, own_decay=5.0),  # another aid
    row("price 10", 7, 1.0, 4.5, **BOTH),  # a seed that BPE lacks
]


def test_the_table_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rows.jsonl").write_text("".join(ROWS), encoding="utf-8")
    script("frontier").main(["--rows", str(tmp_path), "--out", str(tmp_path / "out")])
    said = capsys.readouterr().out
    lines = [line[2:-2].split(" | ")[:5] for line in said.splitlines() if line[:1] == "|"][2:]
    assert lines == [
        ["BPE-Bytes-GPT4o", "none", "0, 1", "4.000", "-"],
        ["balanced", "none", "0", "5.000", "+5.00%"],
        ["balanced", "both", "0, 1", "5.000", "+0.00% (+1.00, -1.00)"],
        ["price 10", "both", "7", "4.500", "-"],
    ]
    assert "balanced, no aids: 1 of 3 seeds" in said
    assert "SuperBPE, both aids: 0 of 3 seeds" in said
    picture = (tmp_path / "out/frontier.svg").read_text("utf-8")
    assert "balanced: 5.000 characters per token, +5.00% bits without aids, +0.00%" in picture
    assert "price 10" not in picture


def test_rows_to_compare_with_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(ROWS[3], encoding="utf-8")
    with pytest.raises(SystemExit, match="no row of BPE-Bytes-GPT4o"):
        script("frontier").main(["--rows", str(tmp_path), "--out", str(tmp_path / "out")])


def test_the_page_shows_what_the_finished_rows_give(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script("frontier").main(["--out", str(tmp_path)])
    table = [line for line in capsys.readouterr().out.splitlines() if line[:1] == "|"]
    page = (ROOT / "docs/frontier.md").read_text("utf-8")
    assert "\n".join(table) in page
    shown = (ROOT / "docs/pictures/frontier.svg").read_text("utf-8")
    drawn = (tmp_path / "frontier.svg").read_text("utf-8")
    assert _texts(shown) == _texts(drawn)


def _texts(svg: str) -> list[str]:
    """Names and figures: other versions of matplotlib place them otherwise."""
    return ["".join(text.itertext()) for text in ElementTree.fromstring(svg).iter() if text.text]


def test_the_picture_names_all_and_is_stable() -> None:
    places = {"SuperBPE": Place(5.4, (2.0,), (0.1, 0.3)), "default": Place(5.5, (3.0, 3.2), (0.2,))}
    first, second = (
        frontier(places, base=Place(4.4), title="Bits", ours=["default"], joined=["default"])
        for _ in range(2)
    )
    assert first == second
    assert {"BPE", "SuperBPE", "default", "with both aids"} <= set(_texts(first))
    with pytest.raises(ValueError, match="no figures to draw"):
        frontier({}, base=Place(4.4), title="Bits")
