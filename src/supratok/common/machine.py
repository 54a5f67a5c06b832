"""The memory of this machine, or of the container that this process is in."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_ROOT = Path("/")


class Memory(NamedTuple):
    """In bytes; None if unknown."""

    total: int | None
    available: int | None

    @property
    def usable(self) -> int | None:
        """What is available or, where no one knows that, what there is."""
        return self.total if self.available is None else self.available


def memory(root: Path = _ROOT) -> Memory:
    """The least of what the machine has and what each control group around this process allows."""
    found = [_machine(root), *_groups(root)]
    totals = [one.total for one in found if one.total is not None]
    free = [one.available for one in found if one.available is not None]
    return Memory(min(totals, default=None), min(free, default=None))


def _machine(root: Path) -> Memory:
    with contextlib.suppress(OSError):
        text = (root / "proc/meminfo").read_text(encoding="ascii")
        found = {name: int(kib) * 1024 for name, kib in re.findall(r"(\w+):\s*(\d+) kB", text)}
        return Memory(found.get("MemTotal"), found.get("MemAvailable"))
    with contextlib.suppress(OSError, ValueError, AttributeError):  # not Linux
        return Memory(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), None)
    return Memory(None, None)


def _groups(root: Path) -> Iterator[Memory]:
    """Of versions 1 and 2; a container may name a group that only its host can see."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0":
            yield from _up(root / "sys/fs/cgroup", path, "memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            names = "memory.limit_in_bytes", "memory.usage_in_bytes"
            yield from _up(root / "sys/fs/cgroup/memory", path, *names)


def _up(top: Path, path: str, limit: str, usage: str) -> Iterator[Memory]:
    """From a group to those around it. Pages of files that could be dropped count as free."""
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    for depth in range(len(parts), -1, -1):
        group = top.joinpath(*parts[:depth])
        with contextlib.suppress(OSError, ValueError):  # "max": no limit
            most = int((group / limit).read_text(encoding="ascii"))
            used = int((group / usage).read_text(encoding="ascii"))
            yield Memory(most, max(0, most - used + _inactive(group)))


def _inactive(group: Path) -> int:
    with contextlib.suppress(OSError):
        text = (group / "memory.stat").read_text(encoding="ascii")
        if found := re.search(r"^(?:total_)?inactive_file (\d+)$", text, re.MULTILINE):
            return int(found[1])
    return 0
