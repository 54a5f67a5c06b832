"""Pictures of tables, as SVG in the house style.

svg = sweep({"ours": {50_000: 5.35, 100_000: 5.78}, "theirs": {50_000: 5.07, 100_000: 5.45}},
            title="Characters per token by vocabulary")
Path("sweep.svg").write_text(svg, encoding="utf-8")
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ...common.packages import package
from ...pages.look import GROUND, INK, MUTED
from .style import (
    Styles,
    add_legend,
    house_style,
    labels,
    new_figure,
    short,
    styles,
    svg,
)

Figures = Mapping[str, Mapping[str, float]]


@house_style()
def sweep(
    series: Mapping[str, Mapping[int, float]],
    *,
    title: str,
    unit: str = "characters per token",
    across: str = "tokens in the vocabulary",
    strong: Collection[str] = (),
    paper: Collection[str] = (),
    bands: Mapping[str, Mapping[int, tuple[float, float]]] | None = None,
) -> str:
    """A line for each name over vocabulary sizes, or over another amount (`across`). The lines of
    `strong` names are thick; `bands` are confidence intervals."""
    series = _filled(series, title)
    figure, axes = new_figure(max(340, 18 * len(series) + 60))
    drawn: dict[str, Any] = {}
    for name, style in styles(series, paper).items():
        sizes, thick = sorted(series[name]), 2.6 if name in strong else 1.5
        values = [series[name][size] for size in sizes]
        drawn[name] = axes.plot(sizes, values, linewidth=thick, **style)[0]
        if found := (bands or {}).get(name):
            low, high = zip(*(found[size] for size in sorted(found)), strict=True)
            axes.fill_between(sorted(found), low, high, color=style["color"], alpha=0.15, lw=0)
    _size_axis(axes, {size for points in series.values() for size in points})
    axes.set(title=unit, xlabel=across)
    order = sorted(series, key=lambda name: -series[name][max(series[name])])  # as the lines end
    written = labels(series, paper)
    figure.legend(
        [drawn[name] for name in order], [written[name] for name in order], handlelength=2.6,
        labelcolor=[drawn[name].get_color() for name in order], labelspacing=0.6,
        loc="outside right center",
    )  # fmt: skip
    return svg(figure, title, _in_words(series))


@house_style()
def bars(items: Figures, *, title: str, paper: Collection[str] = (), form: str = "+.1%") -> str:
    """The change that each item makes: one bar for each series, from 0 to the left or right. Bars
    grow paler from series to series, and the paper's are hollow. A series may lack items."""
    items = _filled(items, title)
    names = _series(items)
    room = len(names) + 0.8  # of an item, in bars
    figure, axes = new_figure(14 * room * len(items) + 40)
    axes.axvline(0, color=MUTED, lw=1)
    drawn, plotted = [], styles(names, paper)
    for place, name in enumerate(names):
        rows = [(row * room + place, item[name]) for row, item in enumerate(items.values())
                if name in item]  # fmt: skip
        colour, at = plotted[name]["color"], [y for y, _ in rows]
        face = GROUND if name in paper else (colour, max(0.2, 1 - 0.6 * place))
        values = [value for _, value in rows]
        found = axes.barh(at, values, height=0.72, facecolor=face, edgecolor=colour, lw=1.2)
        axes.bar_label(found, [format(v, form) for v in values], padding=4, size=11, color=colour)
        drawn.append(found)
    _name_rows(axes, items, [row * room + (len(names) - 1) / 2 for row in range(len(items))])
    axes.set_ylim(len(items) * room - 0.9, -0.9)
    axes.margins(x=0.16)
    axes.grid(False)
    axes.set_xticks([])
    if len(names) > 1:
        add_legend(figure, drawn, list(labels(names, paper).values()))
    return svg(figure, title, _in_words(items, form))


@house_style()
def languages(
    items: Figures, *, title: str, unit: str = "characters per token", paper: Collection[str] = ()
) -> str:
    """A row for each language with a marker for each series."""
    items = _filled(items, title)
    names = _series(items)
    room = max(30, 5 * len(names) + 12)  # of a language, in points
    figure, axes = new_figure(len(items) * room + 90)
    drawn, plotted = [], styles(names, paper)
    for place, name in enumerate(names):
        shift = (place - (len(names) - 1) / 2) * 5 / room  # so that none hides another
        rows = [
            (item[name], row + shift) for row, item in enumerate(items.values()) if name in item
        ]
        style = {**plotted[name], "linestyle": "none"}
        drawn += axes.plot(*zip(*rows, strict=True), zorder=3, **style)
    _name_rows(axes, items, range(len(items)))
    axes.set_yticks([row + 0.5 for row in range(len(items) - 1)], minor=True)
    axes.grid(axis="y", which="major", visible=False)
    axes.grid(axis="y", which="minor")
    axes.set(ylim=(len(items) - 0.5, -0.5), xlabel=unit)
    add_legend(figure, drawn, list(labels(names, paper).values()))
    return svg(figure, title, _in_words(items))


@house_style()
def trade(
    points: Mapping[str, tuple[float, float]],
    *,
    title: str,
    x: str,
    y: str,
    strong: Collection[str] = (),
) -> str:
    """A marker with its name for each point; those of `strong` names are solid. Names that are no
    tokenizers have the same marker."""
    points = _filled(points, title)
    figure, axes = new_figure(400)
    plotted = {name: {"color": INK, "marker": "o"} for name in points}
    written = labels(points)
    plotted |= styles(name for name in points if written[name] != short(name))
    for name, point in points.items():
        face = plotted[name]["color"] if name in strong else GROUND
        axes.plot(*point, zorder=3, **{**plotted[name], "markerfacecolor": face})
    axes.margins(0.12)
    axes.set(title=y, xlabel=x)
    _label_points(figure, axes, points, written, plotted, strong)
    figures = {name: {x: across, y: up} for name, (across, up) in points.items()}
    return svg(figure, title, _in_words(figures))


# --- Labels ----------------------------------------------------------------------------------


def _filled(found: Mapping[str, Any], title: str) -> dict[str, Any]:
    """Drop names without figures; a picture of nothing is a mistake."""
    filled = {name: figures for name, figures in found.items() if figures}
    if not filled:
        raise ValueError(f"{title}: no figures to draw; leave the picture out")
    return filled


def _series(items: Figures) -> list[str]:
    return list(dict.fromkeys(name for found in items.values() for name in found))


def _name_rows(axes: Any, names: Collection[str], places: Sequence[float]) -> None:
    axes.set_yticks(places, list(labels(names).values()))
    axes.tick_params(axis="y", labelcolor=INK, labelsize=13, pad=8)


def _size_axis(axes: Any, sizes: Collection[int]) -> None:
    """The sizes below the axes, or round ones such as 50k if they are many or close together; on a
    logarithmic scale if they differ much."""
    ticker, each = package("matplotlib.ticker", "lab"), sorted(sizes)
    closest = min((b - a for a, b in itertools.pairwise(each)), default=0)
    if max(sizes) > 8 * min(sizes) > 0:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    elif 6 * closest >= each[-1] - each[0]:  # so at most 7 of them
        axes.xaxis.set_major_locator(ticker.FixedLocator(each))
    else:
        axes.xaxis.set_major_locator(ticker.MaxNLocator(6))
    axes.xaxis.set_major_formatter(ticker.EngFormatter(sep=""))
    axes.set_xticks([], minor=True)
    axes.grid(axis="x", visible=False)


# Beside a point: the offset in points, and how the text is aligned there; the best place first.
_BESIDE = [
    ((9, 0), "left", "center"), ((-9, 0), "right", "center"), ((0, 8), "center", "bottom"),
    ((0, -8), "center", "top"), ((6, 5), "left", "bottom"), ((6, -5), "left", "top"),
    ((-6, 5), "right", "bottom"), ((-6, -5), "right", "top"), ((9, 14), "left", "center"),
    ((9, -14), "left", "center"), ((-9, 14), "right", "center"), ((-9, -14), "right", "center"),
]  # fmt: skip


def _label_points(
    figure: Any,
    axes: Any,
    points: Mapping[str, tuple[float, float]],
    written: Mapping[str, str],
    plotted: Styles,
    strong: Collection[str],
) -> None:
    """Write each name beside its point, where it covers the least of other points and names."""
    box = package("matplotlib.transforms", "lab").Bbox
    figure.draw_without_rendering()  # decides where the axes lie
    dots = {name: axes.transData.transform(point) for name, point in points.items()}
    taken = [box.from_bounds(x - 5, y - 5, 10, 10) for x, y in dots.values()]

    def place(label: Any, offset: tuple[int, int], across: str, up: str) -> Any:
        label.set(position=offset, ha=across, va=up)
        return label.get_window_extent().padded(0, -2)  # letters are lower than their line

    def covered(found: Any) -> float:
        overlaps = (box.intersection(found, other) for other in taken)
        outside = max(0, 6 - found.x0) + max(0, found.x1 - figure.bbox.width + 6)
        return float(1000 * outside + sum(both.width * both.height for both in overlaps if both))

    for name in sorted(points, key=lambda name: (name not in strong, *dots[name])):
        label = axes.annotate(
            written[name], points[name], (0, 0), textcoords="offset points", in_layout=False,
            color=plotted[name]["color"], weight="bold" if name in strong else "normal",
        )  # fmt: skip
        best = min(_BESIDE, key=lambda where: covered(place(label, *where)))
        taken.append(place(label, *best))


def _in_words(found: Mapping[str, Mapping[Any, float]], form: str = ".4g") -> str:
    """The figures in words: ours: 5.35 at 50000, 5.78 at 100000."""
    return ". ".join(
        f"{name}: " + ", ".join(f"{value:{form}} at {place}" for place, value in figures.items())
        for name, figures in found.items()
    )
