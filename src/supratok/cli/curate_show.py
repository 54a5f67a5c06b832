"""The histogram of entropies, in characters for the terminal and as a picture."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from ..common.files import whole_file
from ..common.packages import package
from ..common.text import visible
from ..corpus.curate import BINS, STEPS
from ..lab.report import style
from ..pages import look
from .common import check_writable
from .draw import new_console, new_table

HEIGHT = 8  # rows of the histogram in the terminal
MOST_BITS = 42  # the entropy of a pair of characters is lower; a threshold above is not drawn
STYLES = ("red", "yellow", "green")
COLOURS = [look.COLOURS[place] for place in (1, 0, 2)]


# --- The terminal ----------------------------------------------------------------------------


def show(facts: Mapping[str, Any], to_stderr: bool = False) -> None:
    console = new_console(to_stderr)
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
    """One column for each step of bits, as high as its documents, with the thresholds as lines.

    A column that is not empty always shows, however low.
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
    """The documents of each column by bin, the place of the first column, and the width of a
    column in steps, as few as the room allows: column 3 of width 2 begins at step 6."""
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
    """By step of the histogram: the documents of each bin, kept and dropped."""
    found = facts["histogram"]
    rows = [map(sum, zip(found[n]["dropped"], found[n]["kept"], strict=True)) for n in BINS]
    first = round(found["start"] * STEPS)
    return {first + number: list(row) for number, row in enumerate(zip(*rows, strict=True))}


def _column(bits: float, width: int) -> int:
    return int(min(bits, 1e6) * STEPS) // width


def _below(columns: int, first: int, width: int, highest: int) -> list[Text]:
    """The scale in whole bits, and the width of a column."""
    labels = ""
    for bit in range(MOST_BITS + 1):
        place = -(-bit * STEPS // width) - first
        if place >= len(labels) + (1 if labels else 0) and place + len(str(bit)) <= columns:
            labels = labels.ljust(place) + str(bit)
    note = f"bits; a column is {width / STEPS:g}, the highest has {highest:,} documents"
    return [Text(labels), Text(note, "dim")]


# --- The picture -----------------------------------------------------------------------------


def check_picture(path: Path, read: list[str]) -> None:
    """Refuse a picture that cannot be drawn or written, or over a file to read, before the work."""
    if path.suffix.lower() not in (".png", ".svg"):
        raise ValueError(f"--picture {path}: name it .png or .svg")
    check_writable(path, read, "--picture")
    package("matplotlib", "lab")


def draw(facts: Mapping[str, Any], name: str, path: Path) -> None:
    """Draw the histogram: kept documents solid, dropped ones pale."""
    with style.house_style(), whole_file(path) as file:
        figure, axes = style.new_figure(height=340)
        _draw_bars(axes, facts)
        _draw_thresholds(axes, facts)
        title, summary = visible(name), _summary(facts)
        axes.set_title(f"{title}: {summary}", color=look.INK, pad=22)
        axes.set_xlabel("entropy of character bigrams, bits")
        axes.set_ylabel(f"documents per {1 / STEPS:g} bit (pale: dropped)")
        axes.yaxis.set_major_formatter("{x:,.0f}")
        handles, labels = axes.get_legend_handles_labels()
        style.add_legend(figure, handles, labels, side="lower")
        if path.suffix.lower() == ".svg":
            file.write(style.svg(figure, f"Entropy of {title}", summary).encode())
        else:
            figure.savefig(file, format="png", dpi=160)


def _draw_bars(axes: Any, facts: Mapping[str, Any]) -> None:
    """Invariant: each step stacks six parts, kept and dropped documents of each bin."""
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
    axes.set_ylim(0, 1.05 * max(base))


def _draw_thresholds(axes: Any, facts: Mapping[str, Any]) -> None:
    for name in ("low", "high"):
        if facts[name] <= MOST_BITS:
            axes.axvline(facts[name], color=look.MUTED, linewidth=1, linestyle="--")
            axes.text(
                facts[name], 1.01, f"{facts[name]:.4g}", transform=axes.get_xaxis_transform(),
                color=look.MUTED, ha="center",
            )  # fmt: skip


def _summary(facts: Mapping[str, Any]) -> str:
    rows = facts["bins"].values()
    documents, kept = sum(r["documents"] for r in rows), sum(r["kept"] for r in rows)
    characters = sum(r["characters"] for r in rows)
    share = sum(r["kept_characters"] for r in rows) / max(1, characters)
    return (
        f"{documents:,} documents, {characters / 1e6:,.1f} M characters\n"
        f"kept: {kept / documents:.1%} of the documents, {share:.1%} of the characters"
    )
