"""Show where training is: in bars for people, in JSON lines for programs, or not at all.

    with make_progress(True) as progress:
        progress.start("words", total=corpus.bytes_total, unit="B")
        for text in corpus:
            progress.at(corpus.bytes_read)
        progress.end(words=680_155)

Callers may call `at` as often as they like; this module limits how often it shows anything.
"""

from __future__ import annotations

import json
import sys
from typing import Any, TextIO

from .notebook import NotebookProgress, in_notebook
from .phases import Progress, Watched

__all__ = ["Events", "Progress", "make_progress"]


def make_progress(progress: bool | Progress) -> Progress:
    """Bars for True, in the terminal or the notebook; silence for False; a `Progress` is itself."""
    if isinstance(progress, Progress):
        return progress
    if not progress:
        return Progress()
    if in_notebook():
        return NotebookProgress()
    from .bars import Bars  # here, so that `import supratok` does not load rich

    return Bars()


class Events(Watched):
    """One JSON object a line: {"event": "start" | "progress" | "end", "phase": ..., ...}.

    It writes "progress" at most five times a second, but always the first and the last.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr

    def emit(self, event: str, **values: object) -> None:
        """Write one line now."""
        line = json.dumps({"event": event, **values}, default=_plain)
        self._stream.write(line + "\n")
        self._stream.flush()

    def _started(self) -> None:
        self._emitted: float | None = None  # the position of the latest progress event
        self._emit_position("start", {})

    def _moved(self) -> None:
        self._emitted = self._done
        self._emit_position("progress", {})

    def _ended(self, facts: dict[str, object]) -> None:
        if self._emitted is not None and self._emitted != self._done:
            self._moved()
        self._emit_position("end", facts)

    def _emit_position(self, event: str, facts: dict[str, object]) -> None:
        left = self._left()
        self.emit(
            event,
            phase=self._phase,
            done=self._done,
            total=self._total,
            unit=self._unit,
            seconds=round(self._seconds(), 3),
            eta=None if left is None else round(left, 1),
            **({"note": self._note} if self._note else {}),
            **facts,
        )


def _plain(value: Any) -> object:
    """A value that JSON has no type for: a number of numpy's as Python's, others as strings."""
    return value.item() if hasattr(value, "item") else str(value)
