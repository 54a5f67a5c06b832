"""One process at a time in a folder.

The system forgets a lock when its process ends, however it ends: a killed run leaves no lock behind.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path


class FolderLock:
    """Held from the start. A folder that another process holds is refused."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / ".lock"
        self._handle: int | None = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(self._handle)
        except OSError:
            self.release()
            raise ValueError(
                f"{folder}: another process works in this folder; wait until it ends, or choose"
                " another folder"
            ) from None

    def release(self) -> None:
        if self._handle is not None:
            with contextlib.suppress(OSError):
                os.close(self._handle)
            self._handle = None


def _lock(handle: int) -> None:
    """Fails at once if another process holds the lock. Closing the file releases it."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
