"""Run the command in a subprocess, as a user does."""

from __future__ import annotations

import os
import random
import subprocess
import sys

COMMAND = [sys.executable, "-m", "supratok"]
PHRASES = ["as well as", "in New York", "one of the most", "it is not", "in order to"]
WORDS = ["time", "year", "people", "way", "day", "thing", "life", "world", "school", "state"]
ODD = "Naïve 日本 😀\r\n\n\ttabs  and \ufeff spaces, in New York.\n\nNo newline at the end"


def documents(seed: int = 3, count: int = 300) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(PHRASES + WORDS, k=40)) + "." for _ in range(count)]


def run(*args: object, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *map(str, args)],
        input=stdin,
        capture_output=True,
        timeout=60,
        env=os.environ | env,
        check=False,
    )


def good(*args: object, stdin: bytes = b"") -> bytes:
    """The output of a command that must succeed."""
    done = run(*args, stdin=stdin)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def refused(*args: object, stdin: bytes = b"", code: int = 1, **env: str) -> str:
    """The error of a command that must fail: one line on stderr and nothing else."""
    done = run(*args, stdin=stdin, **env)
    assert done.returncode == code, done.stderr.decode()
    assert done.stdout == b""
    said = done.stderr.decode()
    assert said.startswith("supratok: error: ") and said.count("\n") == 1, said
    return said
