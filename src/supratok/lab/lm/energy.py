"""What a run takes of a graphics card: seconds, energy, and carbon dioxide by estimate.

    with Meter() as meter:
        train_model(...)
    meter.spent.kilowatt_hours        # None where no card tells its power

The card is asked for its power twice a second, by `nvidia-smi`, and the readings are added up. It
tells the power of the card alone: not of the machine around it, nor of its cooling.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
from dataclasses import dataclass

# Choice: kilograms of carbon dioxide for a kilowatt-hour. The paper says 24 kg for 21 hours on
# eight A100; at their 400 W that is 0.357, about what the world's grids give off less a quarter.
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
    """Measures while it is open."""

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
        """After it was closed."""
        known = self._readings > 0
        return Spent(self.seconds, self._joules / 3.6e6 if known else None)
