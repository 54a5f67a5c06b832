"""Ctrl-C while the command `supratok` still imports its modules: it exits at once and quietly.

The package imports this module before any other. From `raise_again` on, which the command calls
when it is ready to catch it, Ctrl-C is a KeyboardInterrupt, as it always is in other programs.
"""

from __future__ import annotations

import os
import sys

try:  # ten milliseconds sooner than `signal`, which makes enums of the same functions
    import _signal as signal  # type: ignore[import-not-found]
except ImportError:
    import signal

INTERRUPTED = 130  # the exit code: 128 and the number of SIGINT, as in a shell


def raise_again() -> None:
    if signal.getsignal(signal.SIGINT) is _exit:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _exit(*_: object) -> None:
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


def _is_command() -> bool:
    """Whether this process runs `supratok` or `python -m supratok`, and not a program that imports
    the library. Python sets the first argument to "-m" until it has found the module."""
    first = sys.argv[0] if getattr(sys, "argv", None) else ""
    if first == "-m":
        given = sys.orig_argv
        return "-m" in given and given[given.index("-m") + 1 :][:1] == ["supratok"]
    return first.replace("\\", "/").rpartition("/")[2] in ("supratok", "supratok.exe")


# Not if another program has its own handler, or if the shell has set Ctrl-C to be ignored.
if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _exit)
