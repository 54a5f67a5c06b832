"""The pages of the documentation, and the fenced blocks in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```[ ]*$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


class Block(NamedTuple):
    line: int
    language: str
    text: str


def blocks_of(page: Path) -> list[Block]:
    """A block without a language is one of commands, as in the README."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(text.count("\n", 0, found.start()) + 1, found[2] or "sh", found[3])
        for found in FENCE.finditer(text)
    ]


def spans_of(page: Path) -> list[str]:
    """The code inside lines, outside blocks."""
    return SPAN.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
