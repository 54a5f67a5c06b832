"""Claim: a run that is killed goes on with the same command and ends with the same bytes.

    python runs/killed.py --documents 20000 --times 20

Trains once without interruption; then, again and again, starts the same command, kills it (SIGKILL)
after a random part of that time, and runs it again until it ends. The seed of the moments is fixed.
"""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from rows import ENGLISH, claim, command, first_documents, identity, located, options, write_table
from supratok.lab.report.tables import Table

HEAD = ["run", "killed after", "the second run took", "tokenizer"]


def main(arguments: list[str] | None = None) -> None:
    parser = options("Kill training at random moments.", "killed", 32_000)
    parser.add_argument("--times", type=int, default=20, help="kills (default: 20)")
    parser.add_argument("--preset", default="default", help="the recipe (default: default)")
    args = parser.parse_args(arguments)
    whole = located(args.corpus, ENGLISH)
    corpus = first_documents(whole, args.documents, args.out)
    args.out.mkdir(parents=True, exist_ok=True)
    out, work = args.out / "tokenizer.json", args.out / "work"
    line = [
        sys.executable, "-m", "supratok", "train", str(corpus), "--vocab-size", str(args.sizes[0]),
        "--preset", args.preset, "--out", str(out), "--work", str(work), "--quiet",
    ]  # fmt: skip

    def seconds(run: list[str]) -> float:
        began = time.monotonic()
        subprocess.run(run, check=True)
        return time.monotonic() - began

    shutil.rmtree(work, ignore_errors=True)
    whole_time = seconds(line)
    expected, moments = out.read_bytes(), random.Random(0)
    lines, same = [["uninterrupted", "", f"{whole_time:.1f} s", "as it is"]], 0
    for run in range(1, args.times + 1):
        out.unlink()
        moment = moments.uniform(0, whole_time)
        killed = _kill_after(line, moment)
        took = seconds(line)
        same += out.read_bytes() == expected
        left = [path.name for path in Path(args.out).iterdir() if path.name.endswith(".part")]
        lines.append([
            str(run), f"{moment:.1f} s" if killed else f"{moment:.1f} s (it had ended)",
            f"{took:.1f} s", "same" if out.read_bytes() == expected else "OTHER",
        ])  # fmt: skip
        if work.exists() or left:
            lines[-1][-1] += f", left behind: {left or work.name}"
    notes = [
        f"{same} of {args.times} byte-identical",
        f"{whole.name} (SHA-256 {identity(whole)[:12]}), {args.documents or 'all'} documents;"
        f" {args.preset} at {args.sizes[0]:,}",
        command("killed", arguments),
    ]
    write_table(args.out, Table("Killed and resumed", claim(__doc__), HEAD, lines, notes))


def _kill_after(line: list[str], moment: float) -> bool:
    """Start a run and kill it at this moment; False if it had ended before."""
    process = subprocess.Popen(line)
    try:
        process.wait(timeout=moment)
        return False
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return True


if __name__ == "__main__":
    main()
