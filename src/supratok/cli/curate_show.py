"""The histogram of entropies: in characters for the terminal, and as a picture."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from ..common.files import whole_file
from ..corpus.curate import BINS, STEPS
from .common import check_writable
from .show import new_console, new_table

HEIGHT = 8  # rows of the histogram in the terminal
MOST_BITS = 42  # a pair of characters has no more: a threshold beyond is not drawn
STYLES = ("red", "yellow", "green")
COLOURS = ("#c8553d", "#e0a030", "#3a7d5c")


# --- The terminal ----------------------------------------------------------------------------


def show(facts: Mapping[str, Any]) -> None:
    console = new_console()
    table = new_table("entropy", "bits", "documents", "kept", "characters", "kept")
    bins = facts["bins"]
    for name, limits in zip(BINS, _limits(facts), strict=True):
        table.add_row(name, limits, *_amounts(bins[name]))
    whole = {key: sum(row[key] for row in bins.values()) for key in bins["low"]}
    table.add_row("all", "", *_amounts(whole))
    console.print(table)
    quantiles = new_table("of the documents", *(f"{float(q):.0%}" for q in facts["quantiles"]))
    quantiles.add_row("have at most (bits)", *(f"{b:.2f}" for b in facts["quantiles"].values()))
    console.print(quantiles)
    for line in histogram(facts, console):
        console.print(line)


def _limits(facts: Mapping[str, Any]) -> tuple[str, str, str]:
    low, high = f"{facts['low']:.4g}", f"{facts['high']:.4g}"
    return f"below {low}", f"{low} to {high}", f"above {high}"


def _amounts(row: Mapping[str, int]) -> list[str]:
    cells = []
    for what, kept in (("documents", "kept"), ("characters", "kept_characters")):
        share = f" ({row[kept] / row[what]:.1%})" if row[what] else ""
        cells += [f"{row[what]:,}", f"{row[kept]:,}{share}"]
    return cells


def histogram(facts: Mapping[str, Any], console: Console) -> list[Text]:
    """Columns as high as there are documents, the bits below; thresholds stand out as lines.

    A column that is not empty is always to be seen, however low.
    """
    levels = " .....:::#" if console.options.ascii_only else " ▁▂▃▄▅▆▇█"
    bar, floor, cross = "|-+" if console.options.ascii_only else "│─┼"
    columns, first, width = _columns(facts, console.width - 2)
    marks = {_column(facts[name], width) - first for name in ("low", "high")}
    highest = max(map(sum, columns))
    lines = []
    for row in reversed(range(HEIGHT)):
        line = Text()
        for number, column in enumerate(columns):
            eighths = math.ceil(sum(column) / highest * HEIGHT * 8) - 8 * row
            empty = bar if number in marks else " "
            shown = levels[min(eighths, 8)] if eighths > 0 else empty
            line.append(shown, STYLES[column.index(max(column))] if eighths > 0 else "dim")
        lines.append(line)
    axis = "".join(cross if number in marks else floor for number in range(len(columns)))
    return [*lines, Text(axis), *_below(len(columns), first, width, highest)]


def _columns(facts: Mapping[str, Any], room: int) -> tuple[list[list[int]], int, int]:
    """The documents of each column by bin, the place of the first column, and the steps that each
    is wide: as few as the room allows. Place 3 of columns of 2 steps begins at step 6."""
    steps = _steps(facts)
    drawn = [int(facts[name] * STEPS) for name in ("low", "high") if facts[name] <= MOST_BITS]
    least, most = min([*steps, *drawn]), max([*steps, *drawn])
    width = next(w for w in itertools.count(1) if most // w - least // w < room)
    columns = [[0, 0, 0] for _ in range(least // width, most // width + 1)]
    for step, row in steps.items():
        for place, documents in enumerate(row):
            columns[step // width - least // width][place] += documents
    return columns, least // width, width


def _steps(facts: Mapping[str, Any]) -> dict[int, list[int]]:
    """By step of the histogram: the documents of each bin, kept or not."""
    found = facts["histogram"]
    rows = [map(sum, zip(found[n]["dropped"], found[n]["kept"], strict=True)) for n in BINS]
    first = round(found["start"] * STEPS)
    return {first + number: list(row) for number, row in enumerate(zip(*rows, strict=True))}


def _column(bits: float, width: int) -> int:
    return int(min(bits, 1e6) * STEPS) // width


def _below(columns: int, first: int, width: int, highest: int) -> list[Text]:
    """The whole bits at their columns, and what a column stands for."""
    labels = ""
    for bit in range(MOST_BITS + 1):
        place = -(-bit * STEPS // width) - first
        if place >= len(labels) + (1 if labels else 0) and place + len(str(bit)) <= columns:
            labels = labels.ljust(place) + str(bit)
    note = f"bits; a column is {width / STEPS:g}, the highest has {highest:,} documents"
    return [Text(labels), Text(note, "dim")]


# --- The picture -----------------------------------------------------------------------------


def check_picture(path: Path) -> None:
    """Before the reading: can it be drawn, and written?"""
    if path.suffix.lower() not in (".png", ".svg"):
        raise ValueError(f"--picture {path}: name it .png or .svg")
    check_writable(path, "--picture")
    _matplotlib()


def _matplotlib() -> Any:
    try:
        import matplotlib.figure
    except ImportError as error:
        raise ImportError("--picture needs matplotlib: pip install supratok[lab]") from error
    return matplotlib


def draw(facts: Mapping[str, Any], name: str, path: Path) -> None:
    """The histogram as a picture: the kept documents solid, the others pale."""
    library = _matplotlib()
    look = {"font.size": 10, "svg.hashsalt": "supratok"}  # the salt: the same file each time
    with library.rc_context(look), whole_file(path) as file:
        figure = library.figure.Figure(figsize=(8, 4.5), layout="constrained")
        axes = figure.add_subplot()
        _draw_bars(axes, facts)
        _draw_thresholds(axes, facts)
        axes.set_xlabel("entropy of character bigrams, bits")
        axes.set_ylabel(f"documents per {1 / STEPS:g} bit (pale: not kept)")
        axes.set_title(_title(facts, name), loc="left", fontsize=11, pad=20)
        figure.legend(frameon=False, loc="outside lower center", ncols=3, fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
        axes.yaxis.set_major_formatter(library.ticker.StrMethodFormatter("{x:,.0f}"))
        form = path.suffix.lower().removeprefix(".")
        figure.savefig(file, format=form, dpi=160, metadata={"Date": None} if form == "svg" else {})


def _draw_bars(axes: Any, facts: Mapping[str, Any]) -> None:
    """Invariant: the six parts of a step (kept and not, of each bin) stand on one another."""
    found = facts["histogram"]
    length = len(found["low"]["kept"])
    places = [found["start"] + number / STEPS for number in range(length)]
    base = [0] * length
    for name, colour in zip(BINS, COLOURS, strict=True):
        row = facts["bins"][name]
        label = f"{name}: {row['kept']:,} of {row['documents']:,} kept"
        for part, alpha in (("kept", 1.0), ("dropped", 0.35)):
            rows = found[name][part]
            axes.bar(
                places, rows, 1 / STEPS, base, align="edge", color=colour, alpha=alpha,
                label=label if part == "kept" else None, linewidth=0,
            )  # fmt: skip
            base = [low + more for low, more in zip(base, rows, strict=True)]


def _draw_thresholds(axes: Any, facts: Mapping[str, Any]) -> None:
    for name in ("low", "high"):
        if facts[name] <= MOST_BITS:
            axes.axvline(facts[name], color="#444444", linewidth=1, linestyle="--")
            axes.text(
                facts[name], 1.01, f"{facts[name]:.4g}", transform=axes.get_xaxis_transform(),
                color="#444444", ha="center", fontsize=9,
            )  # fmt: skip


def _title(facts: Mapping[str, Any], name: str) -> str:
    rows = facts["bins"].values()
    documents, kept = sum(r["documents"] for r in rows), sum(r["kept"] for r in rows)
    characters = sum(r["characters"] for r in rows)
    share = sum(r["kept_characters"] for r in rows) / max(1, characters)
    plain = name.replace("$", r"\$")  # no formula
    return (
        f"{plain}: {documents:,} documents, {characters / 1e6:,.1f} M characters\n"
        f"kept: {kept / documents:.1%} of the documents, {share:.1%} of the characters"
    )
