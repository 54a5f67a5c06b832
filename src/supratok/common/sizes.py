"""Sizes of memory and files, as people write them: 8GB, 512 MiB, 1.5G."""

from __future__ import annotations

import re

_UNITS = {
    "": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12,
    "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40,
}  # fmt: skip


def parse_size(size: str | int, what: str) -> int:
    """The number of bytes.

    >>> parse_size("1.5GB", "memory"), parse_size("512 MiB", "memory"), parse_size(7, "memory")
    (1500000000, 536870912, 7)
    """
    if isinstance(size, int) and not isinstance(size, bool):
        found = size
    else:
        parts = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?\s*", str(size).lower())
        if parts is None:
            raise ValueError(f"{what}={size!r}: not a size; write one such as 8GB or 512MiB")
        found = int(float(parts[1]) * _UNITS[parts[2] or ""])
    if found <= 0:
        raise ValueError(f"{what}={size!r}: must be more than nothing; write one such as 8GB")
    return found
