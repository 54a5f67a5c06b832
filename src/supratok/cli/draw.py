"""Draw tables and tokens in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ..common.text import visible

_NAME = 20  # cells that the first column of a table keeps at least, before rows are stacked


def coloured(tokens: Sequence[str], colours: bool = True) -> Text:
    """Tokens in two alternating colours or, without colours, with bars between."""
    text = Text()
    for number, token in enumerate(tokens):
        text.append("" if colours or number == 0 else "|")
        text.append(visible(token), style="black on cyan" if number % 2 else "black on yellow")
    return text


def new_table(*columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", overflow="fold")
    return table


def print_table(console: Console, table: Table) -> None:
    """Print a table or, where it does not fit, its rows one below the other as "name: value".

    Only the first column, of names, may fold: a figure in two lines is not readable."""
    wide = console.options.update(width=10_000)
    natural = Measurement.get(console, wide, table).maximum
    name = Measurement.get(console, wide, Group(*table.columns[0].cells)).maximum
    needed = natural - max(0, name - _NAME)
    if needed > console.width:
        _print_stacked(console, table)
        return
    for column in table.columns[1:]:
        column.no_wrap = True
    console.print(table)


def _cell(console: Console, cell: RenderableType) -> Text:
    """A cell of `new_table` is a text, or a string that may have the console's markup."""
    return cell if isinstance(cell, Text) else console.render_str(str(cell))


def _print_stacked(console: Console, table: Table) -> None:
    names = [str(column.header) for column in table.columns[1:]]
    for first, *others in zip(*(column.cells for column in table.columns), strict=True):
        console.print(Text.assemble(_cell(console, first), style="bold"))
        for name, cell in zip(names, others, strict=True):
            console.print(Text.assemble(f"  {name}: ", _cell(console, cell)))


def ratio(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def new_console(to_stderr: bool = False) -> Console:
    """A console without markup, so that names and tokens appear unchanged; 120 wide in a file."""
    width = None if (sys.stderr if to_stderr else sys.stdout).isatty() else 120
    return Console(markup=False, emoji=False, highlight=False, width=width, stderr=to_stderr)


def quoted(text: str) -> str:
    return f'"{visible(text)}"'
