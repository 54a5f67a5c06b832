"""Whatever happens around the core, the process lives; see faults.py. `make test-all` tries 200
times what every run tries a few times."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from faults import LONG
from sanitizers import own_memory

SCRIPT = Path(__file__).parent / "faults.py"
linux = pytest.mark.skipif(sys.platform != "linux", reason="limits and sizes are Linux's")
NAMES = ["encode", "batch", "arrays", "usage", "covers", "stream", "dropout", "train", "load"]
tries = pytest.mark.parametrize("tries", [4, pytest.param(200, marks=pytest.mark.long)])


def outcomes(folder: Path, scene: str, name: str, tries: int) -> Counter[str]:
    """What the processes of a scene say; each must end well, and silently."""
    # The thread pools of numpy have nothing to do here, and leaks at exit are no news.
    env = os.environ | {"OPENBLAS_NUM_THREADS": "1", "TMPDIR": str(folder)}
    env.pop("SUPRATOK_LEAK_WARNINGS", None)

    def one(seed: int) -> str:
        command = [sys.executable, str(SCRIPT), scene, name, str(seed)]
        done = subprocess.run(
            command, env=env, capture_output=True, text=True, timeout=300, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), (scene, name, seed, done)
        return done.stdout.strip()

    with ThreadPoolExecutor(2) as pool:
        found = Counter(pool.map(one, range(tries)))
    print(f"{scene} {name}: {dict(found)}")
    return found


@tries
@pytest.mark.parametrize("name", [*NAMES, "count"])
def test_a_program_may_exit_while_threads_work(name: str, tries: int, tmp_path: Path) -> None:
    assert outcomes(tmp_path, "exit", name, tries) == {"left": tries}


@linux
@tries
@pytest.mark.parametrize("name", ["batch", "usage", "dropout", "train"])
def test_threads_that_cannot_be_started_are_done_without(
    name: str, tries: int, tmp_path: Path
) -> None:
    assert outcomes(tmp_path, "threads", name, tries) == {"same": tries}


@linux
@own_memory
@tries
@pytest.mark.parametrize("name", NAMES)
def test_memory_may_run_out(name: str, tries: int, tmp_path: Path) -> None:
    found = outcomes(tmp_path, "memory", name, tries)
    assert found["MemoryError"] + found["enough"] == tries
    assert found["MemoryError"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no timers that send signals")
@pytest.mark.parametrize("name", LONG)
def test_signals_stop_long_work(name: str, tmp_path: Path) -> None:
    assert outcomes(tmp_path, "interrupt", name, 1) == {"stopped": 1}
