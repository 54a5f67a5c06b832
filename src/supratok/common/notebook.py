"""Progress in a notebook: one block that changes, however many phases there are.

It imports nothing of IPython unless a notebook has loaded it already.
"""

from __future__ import annotations

import html
import importlib
import sys
from typing import Any, NamedTuple

from .phases import Watched
from .wording import amount, duration, facts_line, glossed


def in_notebook() -> bool:
    """Whether this is a kernel of Jupyter, which has a browser to draw in; IPython in a terminal
    has none."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


class NotebookProgress(Watched):
    """A table with a line for each phase, drawn again in the same place of the page."""

    def __init__(self) -> None:
        self._rows: list[_Row] = []
        self._handle: Any = None

    def _started(self) -> None:
        self._rows.append(_Row(glossed(self._phase), None, "", ""))
        self._draw()

    def _moved(self) -> None:
        left = self._left()
        details = [amount(self._done, self._unit)]
        details += [] if left is None else [f"about {duration(left)} left"]
        details += [self._note] if self._note else []
        share = min(1.0, self._done / self._total) if self._total else None
        name, time = self._rows[-1].name, duration(self._seconds())
        self._rows[-1] = _Row(name, share, time, ", ".join(details))
        self._draw()

    def _ended(self, facts: dict[str, object]) -> None:
        time = duration(self._seconds())
        self._rows[-1] = _Row(self._rows[-1].name, 1.0, time, facts_line(facts))
        self._draw()

    def _draw(self) -> None:
        block = _Block(self._rows)
        if self._handle is None:
            drawing = importlib.import_module("IPython.display")
            self._handle = drawing.display(block, display_id=True)
        else:
            self._handle.update(block)

    def close(self) -> None:
        self._phase = None


class _Row(NamedTuple):
    """One phase."""

    name: str
    share: float | None  # of its work; None if its length is unknown
    time: str
    details: str


class _Block:
    """What a notebook asks for its drawing: HTML or, in an export to text, lines."""

    def __init__(self, rows: list[_Row]) -> None:
        self._rows = list(rows)

    def __repr__(self) -> str:
        rows = ((row.name, "; ".join(filter(None, row[2:]))) for row in self._rows)
        return "\n".join(f"{name}: {said or '...'}" for name, said in rows)

    def _repr_html_(self) -> str:
        lines = "".join(
            f"<tr><td style='text-align:left'>{html.escape(row.name)}</td><td>{_bar(row.share)}"
            f"</td><td>{row.time}</td><td style='text-align:left'>{html.escape(row.details)}</td>"
            "</tr>"
            for row in self._rows
        )
        return f"<table>{lines}</table>"


def _bar(share: float | None) -> str:
    value = "" if share is None else f" value='{share:.3f}'"
    return f"<progress max='1'{value}></progress>"
