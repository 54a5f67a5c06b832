"""Call a function of a script in a fresh process: `python SCRIPT NAME '{"argument": ...}'`.

The script prints the answer as JSON. So the peak of memory is the function's own, and a first call
is truly the first (benches/workers.py).
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

_ONE_THREAD = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}


def call_worker(script: Path, name: str, *, one_thread: bool = False, **arguments: Any) -> Any:
    """The worker's answer. Without `one_thread`, every library takes all cores."""
    environment = {key: value for key, value in os.environ.items() if key not in _ONE_THREAD}
    command = [sys.executable, str(script), name]
    done = subprocess.run(
        [*command, json.dumps(arguments)],
        env={**environment, **(_ONE_THREAD if one_thread else {})},
        stdout=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"the measurement failed: {shlex.join(command)} {json.dumps(arguments)!r}")
    return json.loads(done.stdout)
