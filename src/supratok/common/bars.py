"""Progress bars on standard error. The only module below cli that loads rich."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, Task, TaskProgressColumn, TextColumn
from rich.progress import Progress as RichProgress
from rich.text import Text

from .phases import Watched
from .wording import amount, duration, facts_line, glossed


class Bars(Watched):
    """A moving bar for each phase, on stderr; finished phases stay, with their time and facts.

    Without a terminal (a log file, a pipe) it prints plain lines: one when a phase starts, one when
    it ends, and one every ten seconds between.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._narrow = self._console.is_terminal and self._console.width < 80
        self._rich: RichProgress | None = None
        if not self._console.is_terminal:
            self.interval = self.first = 10.0

    def _started(self) -> None:
        if not self._console.is_terminal:
            self._print(f"{glossed(self._phase)} ...")
            return
        if self._rich is None:
            self._rich = RichProgress(*_columns(self._narrow), console=self._console)
            self._rich.start()
        name = str(self._phase) if self._narrow else glossed(self._phase)
        self._task = self._rich.add_task(
            name, total=self._total, unit=self._unit, note="", facts=None
        )

    def _moved(self) -> None:
        if self._rich is not None:
            self._rich.update(self._task, completed=self._done, total=self._total, note=self._note)
            return
        share = f" {self._done / self._total:.0%}" if self._total else ""
        left = self._left()
        rest = "" if left is None else f", about {duration(left)} left"
        rest += f"; {self._note}" if self._note else ""
        done = amount(self._done, self._unit)
        self._print(f"{self._phase}:{share} {done}, {duration(self._seconds())}{rest}")

    def _ended(self, facts: dict[str, object]) -> None:
        shown = facts_line(facts)
        if self._rich is not None:
            whole = self._done or self._total or 1.0
            self._rich.update(self._task, completed=whole, total=whole, facts=shown)
            return
        self._print(f"{self._phase}: {duration(self._seconds())}{'; ' if shown else ''}{shown}")

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, emoji=False, soft_wrap=True)

    def close(self) -> None:
        if self._rich is not None:
            self._rich.stop()
            self._rich = None
        self._phase = None


def _columns(narrow: bool) -> list[ProgressColumn]:
    return [
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=8 if narrow else 16),
        TaskProgressColumn(),
        _Time(),
        _Details(),
    ]


class _Time(ProgressColumn):
    """How long the phase has taken."""

    def render(self, task: Task) -> Text:
        seconds = task.finished_time if task.finished else task.elapsed
        return Text(duration(seconds or 0.0), style="cyan", justify="right")


class _Details(ProgressColumn):
    """Of a running phase, its position and the time left; of a finished one, its facts."""

    def render(self, task: Task) -> Text:
        if task.fields["facts"] is not None:
            return Text(task.fields["facts"], style="dim")
        words = [amount(task.completed, task.fields["unit"])]
        if task.time_remaining is not None and not task.finished:
            words.append(f"about {duration(task.time_remaining)} left")
        words += [task.fields["note"]] if task.fields["note"] else []
        return Text(", ".join(words))
