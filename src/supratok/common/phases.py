"""Work as a series of phases: the interface through which training reports where it is."""

from __future__ import annotations

import contextlib
import time


class Progress(contextlib.AbstractContextManager["Progress"]):
    """One phase after another, each from `start` to `end`. This base class is silent."""

    def start(self, phase: str, total: float | None = None, unit: str = "") -> None:
        """A phase begins; `total` counts units (bytes, merges), None if it is unknown."""

    def at(self, done: float, total: float | None = None) -> None:
        """The phase has done so many units; the total may become known late."""

    def note(self, text: str) -> None:
        """How the phase goes, shown with the next `at`: "best 0.12"."""

    def end(self, **facts: object) -> None:
        """The phase is over, with these results: words=680155, crossover=0.55."""

    def close(self) -> None:
        """All phases are over, also after an error."""

    def __exit__(self, *_: object) -> None:
        self.close()


class Watched(Progress):
    """Keeps the position of the phase, and a clock that makes `at` cheap.

    A subclass defines what happens at the start (`_started`), at most every `interval` seconds
    (`_moved`), and at the end (`_ended`).
    """

    interval = 0.2
    first = 0.0  # seconds until the first `_moved`
    _phase: str | None = None
    _note = ""

    def start(self, phase: str, total: float | None = None, unit: str = "") -> None:
        self.end()  # the phase before, if its caller did not
        self._phase, self._done, self._total, self._unit = phase, 0.0, total, unit
        self._note = ""
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
        self._note = text

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
        """The seconds still to go at the speed so far."""
        if not self._total or self._done <= 0:
            return None
        return self._seconds() * max(self._total - self._done, 0.0) / self._done
