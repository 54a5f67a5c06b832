"""One process at a time in a folder.

The system forgets a lock when its process ends, however it ends: a killed run leaves a file, but no
lock.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from pathlib import Path

_UNKNOWN = (errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK)  # of file systems that have no locks


class FolderLock:
    """Held from the start. A folder that another process holds is refused."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / ".lock"
        self._handle: int | None = None
        while self._handle is None:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                _lock(handle)
                # A process that ends may just have removed the file.
                if os.path.samestat(os.fstat(handle), self.path.stat()):
                    self._handle = handle
            except FileNotFoundError:
                pass
            except OSError:
                os.close(handle)
                raise ValueError(
                    f"{folder}: another process works in this folder; wait until it ends, or choose"
                    " another folder"
                ) from None
            if self._handle is None:
                os.close(handle)

    def release(self) -> None:
        """Remove the file, and let others in."""
        if self._handle is not None:
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                os.close(self._handle)
            self._handle = None


def _lock(handle: int) -> None:
    """Fails at once if another process holds the lock. Closing the file releases it."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        return
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise
