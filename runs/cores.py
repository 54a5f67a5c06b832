"""Claim: 16 cores train at least five times as fast as one.

    python runs/cores.py --only default dense --cores 1 2 4 8 16

Each training is a fresh process with so many threads, reading included, and gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from rows import (
    ENGLISH,
    Rows,
    claim,
    command,
    first_documents,
    identity,
    located,
    options,
    write_table,
)
from supratok import Recipe, train
from supratok.common.progress import Events
from supratok.lab.bench import OURS
from supratok.lab.measure.cost import peak_bytes
from supratok.lab.measure.workers import call_worker
from supratok.lab.report.tables import Table

HEAD = ["recipe", "threads", "wall time", "to one thread", "peak memory", "phases", "tokenizer"]


class Phases(Events):
    """The seconds of each phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def emit(self, event: str, **values: Any) -> None:
        if event == "end":
            phase = values["phase"]
            self.seconds[phase] = round(self.seconds.get(phase, 0.0) + values["seconds"], 2)


def timed(corpus: str, recipe: dict[str, Any], threads: int, out: str) -> dict[str, Any]:
    """In a process of its own."""
    phases, began = Phases(), perf_counter()
    tokenizer = train(Path(corpus), Recipe.from_dict(recipe), threads, phases)
    took = perf_counter() - began
    tokenizer.save(out)
    digest = hashlib.sha256(Path(out).read_bytes()).hexdigest()
    return {"seconds": took, "peak": peak_bytes(), "digest": digest, "phases": phases.seconds}


def main(arguments: list[str] | None = None) -> None:
    parser = options("Training time against cores.", "cores", 100_000)
    parser.add_argument("--only", nargs="+", choices=list(OURS), default=["default", "dense"])
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    args = parser.parse_args(arguments)
    whole, rows = located(args.corpus, ENGLISH), Rows(args.out, args.again)
    corpus = first_documents(whole, args.documents, args.out)
    lines = []
    for name in args.only:
        recipe = OURS[name](*args.sizes).to_dict()
        first = None
        for threads in args.cores:
            asked = {
                "row": f"{name}, {threads} threads", "corpus": identity(whole),
                "documents": args.documents, "recipe": recipe, "threads": threads,
            }  # fmt: skip
            found = rows.get(
                asked,
                lambda recipe=recipe, threads=threads: call_worker(  # type: ignore[misc]
                    Path(__file__), "timed", corpus=str(corpus), recipe=recipe, threads=threads,
                    out=str(args.out / "tokenizer.json"),
                ),
            )  # fmt: skip
            first = first or found["seconds"]
            phases = ", ".join(f"{phase} {took:.1f}" for phase, took in found["phases"].items())
            lines.append([
                name, str(threads), f"{found['seconds']:.1f} s",
                f"{first / found['seconds']:.2f} times", f"{found['peak'] / 1e6:,.0f} MB", phases,
                found["digest"][:12],
            ])  # fmt: skip
    notes = [
        f"{whole.name} (SHA-256 {identity(whole)[:12]}); {args.sizes[0]:,} tokens",
        rows.about(),
        command("cores", arguments),
    ]
    table = Table("Training time against cores", claim(__doc__), HEAD, lines, notes, grouped=True)
    write_table(args.out, table)


if __name__ == "__main__":
    if sys.argv[1:2] == ["timed"]:
        print(json.dumps(timed(**json.loads(sys.argv[2]))))
    else:
        main()
