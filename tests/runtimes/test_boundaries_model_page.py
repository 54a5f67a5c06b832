"""What docs/boundaries-model.md shows runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "boundaries-model.md").read_text("utf-8")
pytestmark = pytest.mark.usefixtures("one_thread")


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """One block after the other, with the same names."""
    pytest.importorskip("transformers")
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 6
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, "boundaries-model.md", "exec"), names)
    assert capsys.readouterr().out == "drifted at id 2, behind 'in New'\n"
