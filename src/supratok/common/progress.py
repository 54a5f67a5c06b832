"""How training tells where it is: silently, in bars for people, or in JSON lines for programs.

    with make_progress(True) as progress:
        progress.start("words", total=corpus.bytes_total, unit="B")
        for text in corpus:
            progress.at(corpus.bytes_read)
        progress.end(words=680_155)

Training says `at` as often as it likes; what is shown, and how often, is decided here.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from typing import Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, Task, TaskProgressColumn, TextColumn
from rich.progress import Progress as RichProgress
from rich.text import Text


class Progress(contextlib.AbstractContextManager["Progress"]):
    """One phase after another, each from `start` to `end`. This base class is silent."""

    def start(self, phase: str, total: float | None = None, unit: str = "") -> None:
        """A phase begins; `total` in units (bytes, merges), None where it is not known."""

    def at(self, done: float, total: float | None = None) -> None:
        """So many units of the phase are done; the total may become known late."""

    def note(self, text: str) -> None:
        """A word on how the phase goes, shown with the next `at`: "best 0.12"."""

    def end(self, **facts: object) -> None:
        """The phase is over, and this is what came of it: words=680155, crossover=0.55."""

    def close(self) -> None:
        """Everything is over, also after an error."""

    def __exit__(self, *_: object) -> None:
        self.close()


def make_progress(progress: bool | Progress) -> Progress:
    """Bars for True, silence for False; a `Progress` is itself."""
    if isinstance(progress, Progress):
        return progress
    return Bars() if progress else Progress()


class _Watched(Progress):
    """What `Bars` and `Events` share: where the phase is, and a clock that keeps `at` cheap.

    A subclass says what happens at the start (`_started`), every `interval` seconds at most
    (`_moved`), and at the end (`_ended`).
    """

    interval = 0.2
    first = 0.0  # seconds until the first `_moved`
    _phase: str | None = None
    _said = ""

    def start(self, phase: str, total: float | None = None, unit: str = "") -> None:
        self.end()  # the phase before, if nobody did
        self._phase, self._done, self._total, self._unit = phase, 0.0, total, unit
        self._said = ""
        self._began = time.monotonic()
        self._due = self._began + self.first
        self._started()

    def at(self, done: float, total: float | None = None) -> None:
        self._done = done
        if total is not None:
            self._total = total
        now = time.monotonic()
        if now >= self._due and self._phase is not None:
            self._due = now + self.interval
            self._moved()

    def note(self, text: str) -> None:
        self._said = text

    def end(self, **facts: object) -> None:
        if self._phase is not None:
            self._ended(facts)
            self._phase = None

    def _started(self) -> None:
        raise NotImplementedError

    def _moved(self) -> None:
        raise NotImplementedError

    def _ended(self, facts: dict[str, object]) -> None:
        raise NotImplementedError

    def _seconds(self) -> float:
        return time.monotonic() - self._began

    def _left(self) -> float | None:
        """The seconds still to go, if the rest goes as fast as what is done."""
        if not self._total or self._done <= 0:
            return None
        return self._seconds() * max(self._total - self._done, 0.0) / self._done


class Events(_Watched):
    """One JSON object a line: {"event": "start" | "progress" | "end", "phase": ..., ...}.

    "progress" comes at most five times a second; the first and the last always come.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr

    def emit(self, event: str, **values: object) -> None:
        """Write one line now."""
        line = json.dumps({"event": event, **values}, default=_plain)
        self._stream.write(line + "\n")
        self._stream.flush()

    def _started(self) -> None:
        self._told: float | None = None  # the position of the latest progress event
        self._emit_position("start", {})

    def _moved(self) -> None:
        self._told = self._done
        self._emit_position("progress", {})

    def _ended(self, facts: dict[str, object]) -> None:
        if self._told is not None and self._told != self._done:
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
            **({"note": self._said} if self._said else {}),
            **facts,
        )


class Bars(_Watched):
    """A bar that moves for each phase, on stderr; finished phases stay, with their time and facts.

    Where there is no terminal (a log file, a pipe), plain lines: one when a phase starts, one when
    it ends, and one every ten seconds between.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._rich: RichProgress | None = None
        if not self._console.is_terminal:
            self.interval = self.first = 10.0

    def _started(self) -> None:
        if not self._console.is_terminal:
            self._print(f"{self._phase} ...")
            return
        if self._rich is None:
            self._rich = RichProgress(*_columns(), console=self._console)
            self._rich.start()
        self._task = self._rich.add_task(
            str(self._phase), total=self._total, unit=self._unit, said="", facts=None
        )

    def _moved(self) -> None:
        if self._rich is not None:
            self._rich.update(self._task, completed=self._done, total=self._total, said=self._said)
            return
        share = f" {self._done / self._total:.0%}" if self._total else ""
        left = self._left()
        rest = "" if left is None else f", about {_clock(left)} left"
        rest += f"; {self._said}" if self._said else ""
        amount = _amount(self._done, self._unit)
        self._print(f"{self._phase}:{share} {amount}, {_clock(self._seconds())}{rest}")

    def _ended(self, facts: dict[str, object]) -> None:
        story = ", ".join(f"{name} {_number(value)}" for name, value in facts.items())
        if self._rich is not None:
            whole = self._done or self._total or 1.0
            self._rich.update(self._task, completed=whole, total=whole, facts=story)
            return
        self._print(f"{self._phase}: {_clock(self._seconds())}{'; ' if story else ''}{story}")

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, emoji=False, soft_wrap=True)

    def close(self) -> None:
        if self._rich is not None:
            self._rich.stop()
            self._rich = None
        self._phase = None


def _columns() -> list[ProgressColumn]:
    return [
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        _Time(),
        _Note(),
    ]


class _Time(ProgressColumn):
    """How long the phase has taken."""

    def render(self, task: Task) -> Text:
        seconds = task.finished_time if task.finished else task.elapsed
        return Text(_clock(seconds or 0.0), style="cyan", justify="right")


class _Note(ProgressColumn):
    """While the phase runs, how far it is and the time left; once it is over, its facts."""

    def render(self, task: Task) -> Text:
        if task.fields["facts"] is not None:
            return Text(task.fields["facts"], style="dim")
        words = [_amount(task.completed, task.fields["unit"])]
        if task.time_remaining is not None and not task.finished:
            words.append(f"about {_clock(task.time_remaining)} left")
        words += [task.fields["said"]] if task.fields["said"] else []
        return Text(", ".join(words))


def _clock(seconds: float) -> str:
    """12.3 s, 3:05 min, 1:02:03 h."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} h" if hours else f"{minutes}:{rest:02} min"


def _amount(value: float, unit: str) -> str:
    if unit in ("B", "bytes"):
        return f"{value / 1e6:,.1f} MB"
    return f"{value:,.0f} {unit}".rstrip()


def _number(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> object:
    """What JSON has no word for: a number of numpy's as Python's, the rest in words."""
    return value.item() if hasattr(value, "item") else str(value)
