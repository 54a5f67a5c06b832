"""What docs/boundaries.md shows runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = (Path(__file__).parents[2] / "docs" / "boundaries.md").read_text("utf-8")


def test_the_page_runs() -> None:
    """One block after the other, with the same names."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) >= 6
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "boundaries.md", "exec"), names)
