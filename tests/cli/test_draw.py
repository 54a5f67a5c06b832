"""Tables in the terminal: whole where they fit, row below row where they do not."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from supratok.cli.draw import new_table, print_table

HEAD = ("tokenizer", "vocabulary", "tokens", "characters/token", "lossless")
ROWS: list[tuple[str, ...]] = [
    ("my-first-tokenizer.json", "32,000", "1,234,567", "5.123", "yes"),
    ("other [bold].json", "64,000", "987,654", "6.001", "no"),
]


def printed(width: int, rows: list[tuple[str, ...]] = ROWS) -> list[str]:
    screen = io.StringIO()
    console = Console(file=screen, width=width, markup=False, emoji=False)
    table = new_table(*HEAD)
    for row in rows:
        table.add_row(*row)
    print_table(console, table)
    return screen.getvalue().splitlines()


def test_a_table_that_fits_is_a_table() -> None:
    wide = printed(120)
    assert wide[1].split() == list(HEAD)
    assert len(wide[1]) == 80
    assert printed(80) == wide


def test_where_a_table_does_not_fit_its_rows_are_stacked() -> None:
    lines = printed(40)
    assert lines[:5] == [
        "my-first-tokenizer.json",
        "  vocabulary: 32,000",
        "  tokens: 1,234,567",
        "  characters/token: 5.123",
        "  lossless: yes",
    ]
    assert lines[5] == "other [bold].json"
    assert max(map(len, lines)) <= 40


def test_a_long_name_folds_and_no_figure_does() -> None:
    lines = printed(80, [("folder/" * 9, *ROWS[0][1:])])
    row = next(line for line in lines if "32,000" in line)
    assert "1,234,567" in row and "5.123" in row
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120])
def test_no_line_is_wider_than_the_screen_and_no_figure_is_lost(width: int) -> None:
    lines = printed(width)
    assert max(map(len, lines)) <= width
    for row in ROWS:
        for cell in row[1:]:
            assert any(cell in line for line in lines)


def test_an_empty_table_prints_no_row() -> None:
    assert printed(40, []) == []
