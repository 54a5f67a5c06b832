"""Seconds, energy and estimated CO2 of a run on a graphics card.

    with Meter() as meter:
        train_model(...)
    meter.spent.kilowatt_hours        # None where no card reports its power

`nvidia-smi` reports the power twice a second, and `Meter` adds up the readings. This is the power
of the card alone, without the rest of the machine and its cooling.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
from dataclasses import dataclass

# Choice: kilograms of CO2 for a kilowatt-hour. The paper reports 24 kg for 21 hours on eight A100;
# at 400 W each that is 0.357, about three quarters of the world's average.
CARBON = 24 / (21 * 8 * 0.4)
_ASK = ["nvidia-smi", "--query-gpu=power.draw", "--format=csv,noheader,nounits", "-lms", "500"]


@dataclass(frozen=True)
class Spent:
    seconds: float
    kilowatt_hours: float | None

    @property
    def carbon(self) -> float | None:
        """Kilograms, by `CARBON`."""
        return None if self.kilowatt_hours is None else self.kilowatt_hours * CARBON


class Meter:
    """Measures inside its `with` block."""

    def __enter__(self) -> Meter:
        self._began, self._joules, self._readings = time.monotonic(), 0.0, 0
        self._process: subprocess.Popen[str] | None = None
        with contextlib.suppress(OSError):
            self._process = subprocess.Popen(
                _ASK, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
            self._listener = threading.Thread(target=self._listen, daemon=True)
            self._listener.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.monotonic() - self._began
        if self._process:
            self._process.terminate()
            self._listener.join()
            self._process.communicate()

    def _listen(self) -> None:
        last = time.monotonic()
        assert self._process and self._process.stdout
        for line in self._process.stdout:
            now = time.monotonic()
            with contextlib.suppress(ValueError):  # "[N/A]"
                self._joules += float(line) * (now - last)
                self._readings += 1
            last = now

    @property
    def spent(self) -> Spent:
        """Read it after the `with` block."""
        known = self._readings > 0
        return Spent(self.seconds, self._joules / 3.6e6 if known else None)
