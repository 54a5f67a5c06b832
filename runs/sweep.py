"""Claim: at every vocabulary size, fewer tokens than SuperBPE and BPE (the paper's Table 5).

    python runs/sweep.py                                   # takes hours
    python runs/sweep.py --sizes 100000 --only default SuperBPE-like

Rows: our recipes; SuperBPE's transition and plain BPE by our program; SuperBPE, BPE-Standard and a
lossless BPE by stock `tokenizers` (supratok.lab.baselines), and SuperBPE on whole documents.
Characters per token of WikiText-103, validation and test, article by article.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from english import (
    FILES,
    OURS,
    STANDARD,
    about,
    bench_options,
    by_size,
    density,
    lossy,
    make_bench,
    over,
    rows_of,
    seconds,
    share,
    whole,
    wikitext,
)
from rows import claim, command, percent, write_table
from supratok.lab.baselines import BASELINES
from supratok.lab.bench import Row, compared
from supratok.lab.report import pictures
from supratok.lab.report.tables import NOTHING, Table

SUPER, LONGER = "SuperBPE", "SuperBPE-Documents"
ROWS = [*OURS, SUPER, LONGER, STANDARD, "BPE-Bytes-GPT4o"]
LEADING = ("dense", "balanced")  # our densest recipes
# Paper, Table 5: SupraTok, SuperBPE, BPE.
PAPER = {
    50_000: (5.57, 5.13, 4.52),
    100_000: (5.78, 5.68, 4.92),
    200_000: (6.32, 6.15, 5.02),
    256_000: (6.45, 6.18, 5.01),
    300_000: (6.62, 6.20, 5.02),
}
PLACES = {
    "dense": 0,
    "balanced": 0,
    "default": 0,
    "paper": 0,
    "paper, not curated": 0,
    SUPER: 1,
    STANDARD: 2,
}
HEAD = [
    "size", "row", *(f"{test} {what}" for test in FILES
                     for what in ("C/T", f"over {SUPER}", f"over {STANDARD}")),
    "in the paper", "lossless", "crossing, vocabulary", "use, validation", "training s",
]  # fmt: skip


def in_paper(name: str, size: int) -> str:
    """The paper's figure, and its gain over SuperBPE and BPE: 5.78 +1.8% +17.5%."""
    if size not in PAPER or name not in PLACES:
        return NOTHING
    value, others = PAPER[size][PLACES[name]], PAPER[size][PLACES[name] + 1 :]
    return " ".join([f"{value:.2f}", *[percent(value, other) for other in others]])


def lines_of(same: dict[str, Row]) -> Iterator[list[str]]:
    """The rows of one size."""
    for name, row in same.items():
        found, size = row.measured["validation"], row.entry.size or 0
        cells = (
            [density(row, test), *(over(row, same.get(other), test) for other in (SUPER, STANDARD))]
            for test in FILES
        )
        yield [
            f"{size:,}", name, *(cell for some in cells for cell in some), in_paper(name, size),
            whole(row), share(found["crossing_vocabulary"]), share(found["crossing_use"]),
            seconds(row),
        ]  # fmt: skip


# --- Who leads


def standings(rows: Iterable[Row]) -> list[str]:
    """For each recipe of LEADING: whether it leads every lossless baseline at every size and on
    both texts, and where it does not."""
    sizes = by_size(rows)
    names = dict.fromkeys(name for same in sizes for name, row in same.items() if _rival(row))
    if not names:
        return ["no lossless baseline among the rows: no statement on who leads"]
    rivals = f"every lossless baseline ({', '.join(names)})"
    return [
        _standing(name, rivals, sizes) for name in LEADING if any(name in same for same in sizes)
    ]


def _rival(row: Row) -> bool:
    return row.entry.name in BASELINES and not row.lossy


def _standing(name: str, rivals: str, sizes: list[dict[str, Row]]) -> str:
    behind: list[str] = []
    close: list[str] = []
    for same in sizes:
        for rival in filter(_rival, same.values() if name in same else ()):
            for test in FILES:
                found = compared(same[name], rival, test)
                text = f"{rival.entry.label} on {test}: {over(same[name], rival, test)}"
                if found and found.low <= 0:
                    (close if found.value > 0 else behind).append(text)
    if behind:
        said = (
            f"{name} does NOT lead {rivals} at every size shown; it is behind {'; '.join(behind)}"
        )
    else:
        said = f"{name} leads {rivals} at every size shown, on {' and '.join(FILES)}"
    return said + (f"; within chance of {'; '.join(close)}" if close else "")


# --- The table


def drawn(rows: Iterable[Row]) -> dict[str, str]:
    """Characters per token by size, with intervals, beside the paper's figures. The paper does not
    say on which of the two texts it measures."""
    rows = list(rows)
    sizes = sorted({row.entry.size or 0 for row in rows})
    paper = {
        f"{name}, the paper's": {size: PAPER[size][place] for size in sizes if size in PAPER}
        for place, name in enumerate(("SupraTok", "SuperBPE", "BPE"))
    }
    return {
        ("sweep.svg" if test == "validation" else f"sweep-{test}.svg"): _picture(rows, test, paper)
        for test in FILES
    }


def _picture(rows: list[Row], test: str, paper: dict[str, dict[int, float]]) -> str:
    series: dict[str, dict[int, float]] = {}
    bands: dict[str, dict[int, tuple[float, float]]] = {}
    for row in rows:
        name, size, found = row.entry.name, row.entry.size or 0, row.measured[test]
        low, high = found["characters_per_token_interval"]
        series.setdefault(name, {})[size] = found["characters_per_token"]
        bands.setdefault(name, {})[size] = (low, high)
    return pictures.sweep(
        series | paper, title=f"Characters per token of WikiText-103 {test}, by vocabulary size",
        strong=LEADING, paper=list(paper), bands=bands,
    )  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    description = "Characters per token by vocabulary size, beside the paper's."
    parser = bench_options(description, "sweep", list(PAPER), ROWS, several=True)
    args = parser.parse_args(arguments)
    bench = make_bench(args, args.out, wikitext(args))
    rows = rows_of(bench, args.only, args.sizes)
    notes = [
        *standings(rows),
        *about(args, bench, rows),
        "SuperBPE-like and plain: our program, with SuperBPE's transition and without phrases",
        "in the paper: Table 5, over its SuperBPE and its BPE; of other training text, not curated",
        command("sweep", arguments),
    ]
    table = Table(
        "Against SuperBPE and BPE by vocabulary size (Table 5)", claim(__doc__), HEAD,
        [line for same in by_size(rows) for line in lines_of(same)], notes,
        paper=[8], higher=[2, 5], grouped=True, aside=lossy(rows),
    )  # fmt: skip
    write_table(args.out, table, drawn(rows))


if __name__ == "__main__":
    main()
