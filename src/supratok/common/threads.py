"""How many threads to use."""

from __future__ import annotations

import os


def usable_threads(threads: int | None) -> int:
    """`threads`, or for None all cores that this process may use."""
    if threads is None:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    if not isinstance(threads, int):
        raise TypeError(f"threads={threads!r}: must be a whole number, or None for all cores")
    if threads < 1:
        raise ValueError(f"threads={threads}: must be at least 1")
    return threads
