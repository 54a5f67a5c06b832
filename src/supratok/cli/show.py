"""Draw tables and tokens in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..common.text import visible


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


def show_rows(console: Console, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table or, where it does not fit, the cells of each row under one another."""
    table = new_table(*columns)
    for row in rows:
        table.add_row(*row)
    endless = console.options.update(width=1 << 20)
    if console.measure(table, options=endless).maximum <= console.width:
        console.print(table)
        return
    room = max(map(len, columns[1:]))
    for row in rows:
        console.print(row[0], style="bold")
        for column, cell in zip(columns[1:], row[1:], strict=True):
            console.print(f"  {column:<{room}}  {cell}")


def ratio(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def new_console(to_stderr: bool = False) -> Console:
    """A console without markup, so that names and tokens appear unchanged; 120 wide in a file."""
    width = None if (sys.stderr if to_stderr else sys.stdout).isatty() else 120
    return Console(markup=False, emoji=False, highlight=False, width=width, stderr=to_stderr)


def quoted(text: str) -> str:
    return f'"{visible(text)}"'
