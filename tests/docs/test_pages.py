"""How the pages are written: a table of results says what it proves, and pages are short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docs_pages import FENCE, ROOT

DOCS = sorted((ROOT / "docs").glob("*.md"))
LONG = {"log.md", "first-minutes.md"}  # a diary, and what programs print
SHORT = [page for page in DOCS if page.name not in LONG]
FIGURE = re.compile(r"^[*`+±-]*\d[\d,.]*(?: ?(?:%|s|ms|MB|GB|M|µs|ns))?\b")


def tables(page: Path) -> list[tuple[str, list[str]]]:
    """The paragraph above each table, and its cells below the head."""
    text = FENCE.sub("```\n```", page.read_text(encoding="utf-8"))
    parts = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    found = []
    for before, part in zip(["", *parts], parts, strict=False):
        if part.startswith("|"):
            rows = part.splitlines()[2:]
            found.append((before, [cell.strip() for row in rows for cell in row[1:-1].split("|")]))
    return found


def is_of_results(cells: list[str]) -> bool:
    figures = [cell for cell in cells if FIGURE.match(cell)]
    return len(figures) >= len(cells) / 3


@pytest.mark.parametrize("page", SHORT, ids=lambda page: page.name)
def test_a_table_of_results_has_the_sentence_that_it_proves(page: Path) -> None:
    for before, cells in tables(page):
        if is_of_results(cells):
            assert re.search(r"\bproves?\b|\bshows?\b", before), before[-300:] or "nothing above"


def test_there_are_tables_of_results() -> None:
    found = [cells for page in DOCS for _, cells in tables(page) if is_of_results(cells)]
    assert len(found) > 25


@pytest.mark.parametrize("page", SHORT, ids=lambda page: page.name)
def test_pages_are_short(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").splitlines()) <= 175


def test_the_ten_questions() -> None:
    page = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
    rows = [row for row in page.splitlines() if row.startswith("| ")][2:]
    assert len(rows) == 10
    assert all(re.search(r"\]\([\w-]+\.md[^)]*\) \|$", row) for row in rows)
