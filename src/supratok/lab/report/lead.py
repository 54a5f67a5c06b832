"""What a page leads with: the letters of tokenizers, the best figures of a table, and bars of them.

    known = letters([table])                  # {"dense": 0, "my.json": 13}
    tiles(table, known)                       # the best figure of each group, with its tokenizer
    charts(table, known)                      # all figures of that column, as bars

The column that leads is the first of `table.higher`, or of `table.lower` if that is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ...pages import look
from .tables import NOTHING, Table, best, figure

HEADED = "tokenizer"  # the column whose cells are names of tokenizers
UNITS = {"C/T": "characters per token"}  # what a head is called where there is room
_MOST_BARS, _MOST_CHARTS = 16, 6  # beyond, bars are a second table

Letters = Mapping[str, int]  # by name of a tokenizer: its place, see `pages.look`
Marks = Mapping[tuple[int, int], int]  # by (line, column): the place of the tokenizer named there


class Tile(NamedTuple):
    """The best figure of a group, and the next one."""

    figure: str
    place: int | None
    name: str
    group: str
    next_place: int | None
    next_name: str
    next_figure: str


class Bar(NamedTuple):
    """As the macro `bars` of `pages/assets/parts.html` takes it."""

    place: int | None
    name: str
    width: str  # in percent of the widest
    figure: str
    hollow: bool  # of a line that does not compete


# --- Letters ---------------------------------------------------------------------------------


def letters(tables: Iterable[Table]) -> dict[str, int]:
    """The place of each tokenizer of a page. Those that `pages.look` knows keep theirs; the others
    take places behind all of these, so that no letter means two tokenizers."""
    names = [name for table in tables for _, name in _names(table)]
    places = look.places([*look.TOKENIZERS, *names])
    return {name: places[name] for name in names}


def marked_cells(table: Table, known: Letters) -> dict[tuple[int, int], int]:
    """The cells, as (line, column), that name a tokenizer, and its place."""
    return {cell: known[name] for cell, name in _names(table)}


def _names(table: Table) -> list[tuple[tuple[int, int], str]]:
    """The cells that name tokenizers. In the column of names that is headed `tokenizer`, all do; in
    another column of names, or with this head elsewhere, only those that `pages.look` knows."""
    first = naming_column(table)
    columns = [
        column for column, head in enumerate(table.head) if head == HEADED or column == first
    ]
    found = []
    for number, line in enumerate(table.lines):
        for column in columns:
            name = look.tokenizer_of(line[column])
            every = column == first and table.head[column] == HEADED
            if name in look.TOKENIZERS or (every and name not in ("", NOTHING)):
                found.append(((number, column), name))
    return found


def naming_column(table: Table) -> int:
    """The first column that is not made into headings of groups."""
    return int(table.grouped and len(table.head) > 1)


# --- Figures ---------------------------------------------------------------------------------


def leading_column(table: Table) -> int | None:
    return next(iter([*table.higher, *table.lower]), None)


def unit(table: Table) -> str:
    """What the leading column holds, in words."""
    column = leading_column(table)
    return "" if column is None else UNITS.get(table.head[column], table.head[column])


def tiles(table: Table, known: Letters) -> list[Tile]:
    """The best figure of each group that has more than one, and the next best."""
    column, found = leading_column(table), []
    if column is None:
        return []
    winners, marks = best(table), marked_cells(table, known)
    for group, numbers in _groups(table).items():
        order = [number for number in _ordered(table, column, numbers) if number not in table.aside]
        if len(order) > 1 and (order[0], column) in winners:
            one, other = order[:2]
            figures = (table.lines[one][column], table.lines[other][column])
            first, second = _name(table, one, marks), _name(table, other, marks)
            found.append(Tile(figures[0], *first, group, *second, figures[1]))
    return found


def charts(table: Table, known: Letters) -> list[tuple[str, list[Bar]]]:
    """For each group: its name and a bar for each line. None for tables without tokenizers, with
    figures below zero, or too many of them."""
    column, marks = leading_column(table), marked_cells(table, known)
    if column is None or not marks:
        return []
    groups = {name: _ordered(table, column, some) for name, some in _groups(table).items()}
    groups = {name: numbers for name, numbers in groups.items() if len(numbers) > 1}
    values = [_value(table, number, column) for some in groups.values() for number in some]
    many = len(groups) > _MOST_CHARTS or max(map(len, groups.values()), default=0) > _MOST_BARS
    if many or max(values, default=0.0) <= 0 or min(values) < 0:
        return []
    return [
        (name, [_bar(table, number, column, marks, max(values)) for number in numbers])
        for name, numbers in groups.items()
    ]


def _bar(table: Table, number: int, column: int, marks: Marks, widest: float) -> Bar:
    width = f"{100 * _value(table, number, column) / widest:.1f}"
    cell, apart = table.lines[number][column], number in table.aside
    return Bar(*_name(table, number, marks), width, cell, apart)


def _name(table: Table, number: int, marks: Marks) -> tuple[int | None, str]:
    """The place of the tokenizer of a line, and its name; a line of anything else is told by its
    first cell and what heads it."""
    column = naming_column(table)
    place, cell = marks.get((number, column)), table.lines[number][column]
    return place, cell if place is not None else f"{table.head[column]} {cell}".strip()


def _groups(table: Table) -> dict[str, list[int]]:
    """The lines of each group, by the group's name; all lines, if the table has no groups."""
    found: dict[str, list[int]] = {}
    for number, line in enumerate(table.lines):
        found.setdefault(line[0] if naming_column(table) else "", []).append(number)
    return found


def _ordered(table: Table, column: int, numbers: list[int]) -> list[int]:
    """The lines that have a figure there, best first."""
    sign = -1 if column in table.higher else 1
    some = [number for number in numbers if figure(table.lines[number][column]) is not None]
    return sorted(some, key=lambda number: sign * _value(table, number, column))


def _value(table: Table, number: int, column: int) -> float:
    found = figure(table.lines[number][column])
    assert found is not None
    return found
