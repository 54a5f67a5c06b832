"""Import the scripts of runs/ for their tests; skip these where there is no such folder."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tokenizers")  # the baselines need it
RUNS = Path(__file__).parent.parent / "runs"
if not RUNS.exists():
    pytest.skip("a source archive has no runs/", allow_module_level=True)
sys.path.insert(0, str(RUNS))
SIZE = 600  # a small vocabulary


def script(name: str) -> Any:
    return importlib.import_module(name)
