"""What holds only without the sanitizers of `make sanitize`."""

from __future__ import annotations

import os

import pytest

# The address sanitizer keeps what was freed, marks every byte in memory of its own, and ends a
# process that gets no more.
own_memory = pytest.mark.skipif(
    "libasan" in os.environ.get("LD_PRELOAD", ""),
    reason="the address sanitizer takes memory of its own, and ends where there is none",
)
