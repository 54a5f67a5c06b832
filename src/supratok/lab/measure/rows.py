"""Rows that are computed once: the figures of long runs, kept on disk.

    rows = Rows(Path("build/runs/sweep"))
    figures = rows.get({"row": "plain", "recipe": recipe.to_dict()}, lambda: measure(...))

A finished row is a JSON line in `rows.jsonl`: the question (its key), the figures, and how it was
made. So an interrupted run resumes.
"""

from __future__ import annotations

import ast
import datetime
import functools
import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import supratok

from ...common.files import write_whole

Figures = dict[str, Any]


class Rows:
    """The finished rows of a folder. `again`: compute all of them again; `checkout`: the repository
    whose commit to note."""

    def __init__(self, folder: Path, again: bool = False, checkout: Path | None = None) -> None:
        self._path, self._checkout = folder / "rows.jsonl", checkout
        self._done: dict[str, dict[str, Any]] = {}  # of rows with the same key, the latest
        self.shown: list[dict[str, Any]] = []  # in the order of the calls
        folder.mkdir(parents=True, exist_ok=True)
        if self._path.exists():
            lines = self._path.read_text(encoding="utf-8").split("\n")
            if lines.pop():  # an unfinished line
                write_whole(self._path, "".join(f"{line}\n" for line in lines))
            rows = [] if again else map(json.loads, lines)
            self._done = {_key(row["asked"]): row for row in rows}

    def has(self, asked: Figures) -> bool:
        """Whether a row is finished."""
        return _key(_by_this_program(asked)) in self._done

    def get(self, asked: Figures, compute: Callable[[], Figures]) -> Figures:
        """The figures of a row; computes it unless it is finished."""
        asked = _by_this_program(asked)
        row = self._done.get(_key(asked))
        if row is None:
            began = time.monotonic()
            print(f"{asked['row']} ...", file=sys.stderr, flush=True)
            row = {"asked": asked, "figures": compute(), "made": _made(self._checkout)}
            print(f"{asked['row']}: {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            self._done[_key(asked)] = row
        self.shown.append(row)
        figures: Figures = row["figures"]
        return figures

    def about(self) -> str:
        """Version, commits, machines and dates of the rows."""
        parts = [f"supratok {supratok.__version__}"]
        for name in ("commit", "machine", "date"):
            values = dict.fromkeys(row["made"][name] for row in self.shown if name in row["made"])
            parts += [f"{name} {', '.join(values)}"] if values else []
        return "; ".join(parts)


def _by_this_program(asked: Figures) -> Figures:
    return {"version": supratok.__version__, "code": code(), **asked}


def _key(asked: Figures) -> str:
    return json.dumps(asked, sort_keys=True)


def _made(checkout: Path | None) -> dict[str, str]:
    return {
        **({"commit": commit(checkout)} if checkout else {}),
        "machine": f"{cpu_model()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


# The parts that decide the tokens of a vocabulary and the ids of a text.
DECIDES = ("recipe.py", "train.py", "corpus", "tokenizer", "learn", "common/reserved.py")


@functools.cache
def code(parts: tuple[str, ...] = DECIDES) -> str:
    """A digest of these parts of the package and of the compiled core: if it changes, rows are
    stale. Comments and layout do not count."""
    folder = Path(supratok.__file__).parent
    found = [
        ast.dump(ast.parse(path.read_text(encoding="utf-8")))
        for part in parts
        for path in ([folder / part] if part.endswith(".py") else modules(folder / part))
    ]
    found += [identity(path) for path in sorted(folder.glob("common/_core*.so"))]
    return hashlib.sha256("\n".join(found).encode()).hexdigest()[:16]


def modules(folder: Path) -> list[Path]:
    """The modules of a room and of the rooms inside it."""
    found = sorted(folder.rglob("*.py"))
    if not found:
        raise FileNotFoundError(f"{folder}: no modules; a digest of nothing never changes")
    return found


@functools.cache
def commit(checkout: Path) -> str:
    """The commit of a repository, with a + if files differ from it."""
    try:
        git = ["git", "-C", str(checkout), "describe", "--always", "--exclude=*", "--dirty=+"]
        return subprocess.run(git, capture_output=True, check=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def cpu_model() -> str:
    """The model of the processor on Linux; elsewhere only its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())


@functools.cache
def identity(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
