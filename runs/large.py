"""Claim: 5 GB of text train within 4 GB of memory and give the same tokenizer as without a limit;
without a limit, memory grows less than half as fast as the text.

    python runs/large.py --bytes 5000000000 --growth 250000000 500000000 1000000000 2000000000

The text is made by runs/large_text.py, in --text. Each training is a fresh process, on all cores,
reading included. The peak of memory is what the system reports for the process.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import large_text
from rows import ENGLISH, Figures, Rows, claim, command, identity, located, options, write_table
from supratok.lab.report.tables import Table

HEAD = ["text", "limit", "peak memory", "wall time", "tokenizer"]


def trained(files: list[Path], size: int, limit: str | None, folder: Path) -> Figures:
    """Train in a fresh process: peak memory in bytes, seconds, and the SHA-256 of the result."""
    out, work = folder / "tokenizer.json", folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    line = [
        sys.executable, "-m", "supratok", "train", *map(str, files), "--vocab-size", str(size),
        "--out", str(out), "--work", str(work), "--quiet", *(["--memory", limit] if limit else []),
    ]  # fmt: skip
    began = time.monotonic()
    process = subprocess.Popen(line)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"training failed: {' '.join(line)}")
    return {
        "peak": usage.ru_maxrss * 1024,
        "seconds": time.monotonic() - began,
        "digest": hashlib.sha256(out.read_bytes()).hexdigest(),
    }


def main(arguments: list[str] | None = None) -> None:
    parser = options("Memory of training on large text.", "large", 100_000)
    add = parser.add_argument
    add("--bytes", type=int, default=5_000_000_000, help="of text with a limit (default: 5 GB)")
    add("--memory", default="4GB", help="the limit (default: 4GB)")
    add("--growth", type=int, nargs="*", default=[], help="bytes of text, without a limit")
    add("--text", type=Path, default=Path("build/large"), help="folder for the text")
    args = parser.parse_args(arguments)
    corpus, rows = located(args.corpus, ENGLISH), Rows(args.out, args.again)
    files = large_text.write(corpus, max([args.bytes, *args.growth]), args.text)
    lines: list[list[str]] = []
    wanted = [(size, None) for size in args.growth]
    for size, limit in [*wanted, (args.bytes, None), (args.bytes, args.memory)]:
        asked = {
            "row": f"{size:,} bytes, limit {limit}", "corpus": identity(corpus),
            "size": args.sizes[0], "bytes": size, "limit": limit,
        }  # fmt: skip
        part = files[: -(-size // large_text.FILE)]
        found = rows.get(
            asked,
            lambda part=part, limit=limit: trained(part, args.sizes[0], limit, args.out),  # type: ignore[misc]
        )
        lines.append([
            f"{size / 1e9:.2f} GB", limit or "none", f"{found['peak'] / 1e9:.2f} GB",
            f"{found['seconds']:.0f} s", found["digest"][:12],
        ])  # fmt: skip
    notes = [
        f"{corpus.name} (SHA-256 {identity(corpus)[:12]}) repeated with other words in each copy"
        f" (runs/large_text.py); {args.sizes[0]:,} tokens",
        rows.about(),
        command("large", arguments),
    ]
    write_table(args.out, Table("Memory on large text", claim(__doc__), HEAD, lines, notes))


if __name__ == "__main__":
    main()
