"""Runs the blocks of one page in the current folder, one after the other, as a reader would.

    python run_blocks.py blocks.json

Blocks of Python share their names; commands run in bash, with `supratok` and `python` of this
environment. A block of text after commands is what they print: each of its lines must be among the
lines printed, with other figures where it has figures.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from supratok import Recipe


def masked(text: str) -> list[str]:
    return [re.sub(r"\d[\d,.]*", "0", line).rstrip() for line in text.splitlines()]


def shell(commands: str) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False,
    )  # fmt: skip
    print(done.stdout)
    if done.returncode:
        raise SystemExit(f"exit code {done.returncode}:\n{commands}")
    return done.stdout


def run(blocks: list[tuple[int, str, str]]) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    printed: str | None = None
    for line, language, text in blocks:
        print(f"--- line {line}: {language}", flush=True)
        if language == "sh":
            printed = shell(text)
            continue
        if language == "python":
            exec(compile("\n" * line + text, "page", "exec"), names)
        elif language == "toml":
            Path("block.toml").write_text(text, encoding="utf-8")
            Recipe.from_toml("block.toml", vocab_size=1000)
        elif language == "json":
            json.loads(text)
        elif language == "text" and printed is not None:
            missing = [one for one in masked(text) if one not in masked(printed)]
            assert not missing, f"line {line}: not printed: {missing}"
        else:
            assert language == "text", f"line {line}: what is a block of {language!r}?"
        printed = None


if __name__ == "__main__":
    sys.path.insert(0, "")  # modules of the folder, as for a reader's own program
    run(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
