"""Pictures that are drawn without data are the ones that their scripts draw."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent


def test_the_picture_of_covers(tmp_path: Path) -> None:
    """Its rows by hand: "in New", "Newton", "New York" or "New Zealand", "in New England"."""
    out = tmp_path / "covers.svg"
    subprocess.run([sys.executable, ROOT / "tools" / "covers_picture.py", out], check=True)
    assert out.read_text("utf-8") == (ROOT / "docs/pictures/covers.svg").read_text("utf-8")
    drawn = ElementTree.parse(out).iter("{http://www.w3.org/2000/svg}text")
    texts = ["".join(text.itertext()) for text in drawn]
    notes = [text for text in texts if "cross" in text]
    assert notes == [
        "no token crosses the end",
        "“wton” crosses the end",
        "“ New York” crosses the end, or “ New Zealand”",
        "“ in New England” crosses the end",
    ]
    letters = [text for text in texts if len(text) == 1]
    rows = ("Ilive inNew", "Ilive inNewton", "Ilive inNewYork", "Ilive inNewEngland")
    assert "".join(letters) == "".join(rows).replace(" ", "")


def test_the_picture_of_the_worked_example(tmp_path: Path) -> None:
    """Its joins by hand: "ab" twice, from the left, then " ab", then the phrase."""
    out = tmp_path / "worked-example.svg"
    tool = ROOT / "tools" / "worked_example_picture.py"
    subprocess.run([sys.executable, tool, out], check=True)
    assert out.read_text("utf-8") == (ROOT / "docs/pictures/worked-example.svg").read_text("utf-8")
    drawn = ElementTree.parse(out).iter("{http://www.w3.org/2000/svg}text")
    notes = [text for part in drawn if "join “" in (text := "".join(part.itertext()))]
    assert notes == [
        "join “ab”, number 4 of the list",
        "join “ab”, number 4 of the list",
        "join “ ab”, number 5 of the list",
        "join “ab ab”, number 6 of the list",
    ]
