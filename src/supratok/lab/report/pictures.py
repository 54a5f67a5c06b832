"""Pictures of tables, as SVG that works in light and in dark.

    svg = sweep({"ours": {50_000: 5.35, 100_000: 5.78}, "theirs": {50_000: 5.07, 100_000: 5.45}},
                title="Characters per token by vocabulary")
    Path("sweep.svg").write_text(svg, encoding="utf-8")

The same figures give the same bytes. Letters stay letters, so that they can be found and read
aloud, and the figures are in the description. A picture is 500 units wide: on a telephone it is
shown at two thirds of that, and its letters can still be read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from .canvas import (
    FAINT,
    INK,
    LETTERS,
    LINE,
    MUTED,
    SMALL,
    WIDTH,
    Canvas,
    dot,
    fitting,
    legend_lines,
    letters,
    settings,
    tone,
    width,
)
from .svg import PAPER_MARK

Figures = Mapping[str, Mapping[str, float]]


@settings()
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
    """A line for each name, over vocabulary sizes or what else goes `across`. What is `strong` is
    drawn so, the paper's is grey and dashed; `bands` are confidence intervals."""
    series = _filled(series, title)
    sizes = sorted({size for points in series.values() for size in points})
    height = max(340, len(series) * (LINE - 2) + 60)
    canvas = Canvas(height=height, left=44, right=width(series) + 26, top=30, bottom=44)
    axes = canvas.axes
    if len(sizes) > 1 and sizes[-1] > 8 * sizes[0]:
        axes.set_xscale("log")
    styles = _lines(series, strong, paper)
    for name, points in series.items():
        x, colour = sorted(points), styles[name]["color"]
        if found := (bands or {}).get(name):
            low, high = zip(*(found[size] for size in sorted(found)), strict=True)
            axes.fill_between(sorted(found), low, high, color=colour, alpha=0.18, lw=0)
        axes.plot(x, [points[size] for size in x], **styles[name])
    canvas.grid("y")
    canvas.words(0, canvas.height - 12, unit, MUTED)
    canvas.words(canvas.middle, 10, across, MUTED, ha="center")
    _sizes(canvas, sizes)
    _end_labels(canvas, series, styles)
    return canvas.svg(title, _told(series))


@settings()
def bars(items: Figures, *, title: str, paper: Collection[str] = (), form: str = "+.1%") -> str:
    """What each item changes: a bar for each series from 0 to the left or right. The paper's is
    hollow. A series may lack items."""
    items = _filled(items, title)
    names = _names(items)
    room = 14 * len(names) + 12  # of an item
    legend = legend_lines(names)
    canvas = Canvas(
        height=len(items) * room + LINE * legend + 16, left=width(items) + 12, right=8,
        top=LINE * legend + 12, bottom=4,
    )  # fmt: skip
    values = [value for found in items.values() for value in found.values()]
    low, high = min([0.0, *values]), max([0.0, *values])
    figure = (high - low or 1.0) * 52 / max(60, canvas.inner - 104)  # the room that one takes
    canvas.axes.set(xlim=(low - figure, high + figure), ylim=(len(items) * room, 0))
    canvas.axes.axvline(0, color=MUTED, lw=1)
    for row, (item, found) in enumerate(items.items()):
        canvas.beside(row * room + room / 2, item)
        for place, name in enumerate(names):
            if name in found:
                y = row * room + 6 + 14 * place + 7
                _bar(canvas.axes, y, found[name], tone(place), name in paper, form)
    canvas.legend(names, paper, shape="s")
    return canvas.svg(title, _told(items, form))


@settings()
def languages(
    items: Figures, *, title: str, unit: str = "characters per token", paper: Collection[str] = ()
) -> str:
    """A row for each language, a dot in it for each series. The paper's are hollow."""
    items = _filled(items, title)
    names = _names(items)
    room = max(30, 5 * len(names) + 12)
    legend = legend_lines(names)
    canvas = Canvas(
        height=len(items) * room + LINE * legend + 60, left=width(items) + 12, right=12,
        top=LINE * legend + 12, bottom=48,
    )  # fmt: skip
    axes = canvas.axes
    axes.set_ylim(len(items) - 0.5, -0.5)
    for row, item in enumerate(items):
        canvas.beside(row, item)
        axes.axhline(row + 0.5, color=FAINT, lw=1)
    for place, name in enumerate(names):
        shift = (place - (len(names) - 1) / 2) * 5 / room  # so that none hides another
        rows = [(found[name], y + shift) for y, found in enumerate(items.values()) if name in found]
        style = dot(place, name in paper)
        axes.plot([x for x, _ in rows], [y for _, y in rows], zorder=3, **style)
    canvas.grid("x")
    canvas.words(canvas.middle, 10, unit, MUTED, ha="center")
    canvas.legend(names, paper)
    return canvas.svg(title, _told(items))


@settings()
def trade(
    points: Mapping[str, tuple[float, float]],
    *,
    title: str,
    x: str,
    y: str,
    strong: Collection[str] = (),
) -> str:
    """A dot with its name for each point; what is `strong` stands out."""
    points = _filled(points, title)
    canvas = Canvas(height=360, left=50, right=14, top=30, bottom=48)
    axes = canvas.axes
    for name, (across, up) in points.items():
        style = dot(0 if name in strong else 1, hollow=name not in strong)
        axes.plot([across], [up], zorder=3, **style)
    axes.margins(0.12)
    canvas.grid("x")
    canvas.grid("y")
    canvas.words(0, canvas.height - 12, y, MUTED)
    canvas.words(canvas.middle, 10, x, MUTED, ha="center")
    _name_points(canvas, points, strong)
    told = {name: {x: across, y: up} for name, (across, up) in points.items()}
    return canvas.svg(title, _told(told))


# --- Marks and letters -----------------------------------------------------------------------


def _lines(
    names: Collection[str], strong: Collection[str], paper: Collection[str]
) -> dict[str, dict[str, Any]]:
    """How each line is drawn. The paper's take no colour from the others."""
    coloured = [name for name in names if name not in paper]
    styles = {
        name: dot(place, False)
        | {"color": tone(place), "ls": "-", "lw": 2.6 if name in strong else 1.4}
        for place, name in enumerate(coloured)
    }
    grey = {
        "color": MUTED, "lw": 1.4, "ls": (0, (4, 3)), "marker": "o", "markeredgewidth": 1.2,
        "markerfacecolor": PAPER_MARK, "markeredgecolor": MUTED,
    }  # fmt: skip
    return {name: {**styles.get(name, grey), "markersize": 5} for name in names}


def _bar(axes: Any, y: float, value: float, colour: str, hollow: bool, form: str) -> None:
    fill = PAPER_MARK if hollow else colour
    axes.barh([y], [value], height=10, facecolor=fill, edgecolor=colour, lw=1.2)
    axes.annotate(
        format(value, form), (value, y), (-5 if value < 0 else 5, 0), textcoords="offset points",
        ha="right" if value < 0 else "left", va="center", fontsize=11, color=colour,
    )  # fmt: skip


def _filled(found: Mapping[str, Any], title: str) -> dict[str, Any]:
    """What has figures; drawing nothing is a mistake."""
    filled = {name: figures for name, figures in found.items() if figures}
    if not filled:
        raise ValueError(f"{title}: no figures to draw; leave the picture out")
    return filled


def _names(items: Figures) -> list[str]:
    return list(dict.fromkeys(name for found in items.values() for name in found))


def _short(size: int) -> str:
    """50k for 50,000, 2M for 2,000,000."""
    if size >= 1_000_000:
        return f"{size / 1e6:.3g}M"
    return f"{size / 1000:g}k" if size >= 1000 else str(size)


def _sizes(canvas: Canvas, sizes: Sequence[int]) -> None:
    """The sizes below the axes; one too near to the next bigger one is left out."""
    shown: list[int] = []
    for size in reversed(sizes):
        if not shown or canvas.place(shown[-1], 0)[0] - canvas.place(size, 0)[0] > 36:
            shown.append(size)
    canvas.axes.set_xticks(shown, [_short(size) for size in shown])
    canvas.axes.set_xticks([], minor=True)
    canvas.axes.tick_params(axis="x", length=0, labelcolor=MUTED, labelsize=SMALL, pad=6)


def _end_labels(canvas: Canvas, series: Mapping[str, Mapping[int, float]],
                styles: Mapping[str, Mapping[str, Any]]) -> None:  # fmt: skip
    """The name of each line at its end, moved up or down where two would lie over each other."""
    ends = {name: canvas.place(max(found), found[max(found)]) for name, found in series.items()}
    order = sorted(ends, key=lambda name: ends[name][1])
    heights = _apart([ends[name][1] for name in order], LINE - 2, 10, canvas.height - 10)
    x = canvas.left + canvas.inner + 18
    for name, height in zip(order, heights, strict=True):
        style = styles[name]
        weight = "bold" if style["lw"] > 2 else "normal"
        canvas.line([ends[name][0] + 5, x - 4], [ends[name][1], height], FAINT)
        canvas.words(x, height, fitting(name), style["color"], fontsize=LETTERS, fontweight=weight)


def _apart(heights: Sequence[float], least: float, low_end: float, high_end: float) -> list[float]:
    """Ascending heights, moved as little as need be so that neighbours are `least` apart and all
    are within the ends."""
    groups: list[tuple[float, int]] = []  # the mean of what a group wants for its first, and size
    for height in heights:
        groups.append((height, 1))
        while len(groups) > 1 and groups[-2][0] + groups[-2][1] * least > groups[-1][0]:
            (low, lows), (high, highs) = groups[-2:]
            first = (low * lows + (high - lows * least) * highs) / (lows + highs)
            groups[-2:] = [(first, lows + highs)]
    apart = [first + number * least for first, size in groups for number in range(size)]
    below = [max(height, low_end + place * least) for place, height in enumerate(apart)]
    after = range(len(below) - 1, -1, -1)  # how many come after each
    return [min(height, high_end - more * least) for height, more in zip(below, after, strict=True)]


def _name_points(canvas: Canvas, points: Mapping[str, tuple[float, float]],
                 strong: Collection[str]) -> None:  # fmt: skip
    """A name beside each point, where it covers neither point nor name if there is such a place."""
    dots = {name: canvas.place(*point) for name, point in points.items()}
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in dots.values()]
    for name in sorted(points, key=lambda name: (name not in strong, dots[name])):
        boxes = _boxes(dots[name], letters(fitting(name)) * SMALL)
        box = min(boxes, key=lambda box: _covered(box, taken))
        taken.append(box)
        weight = "bold" if name in strong else "normal"
        canvas.words(box[0], (box[1] + box[3]) / 2, fitting(name), INK, fontweight=weight)


Box = tuple[float, float, float, float]


def _boxes(point: tuple[float, float], room: float) -> list[Box]:
    """Right, left, above and below a point, and at its corners; the best first."""
    x, y = point
    before, over = x - room, x - room / 2
    places = [
        (x + 9, y), (before - 9, y), (over, y + 14), (over, y - 14),
        (x + 6, y + 11), (x + 6, y - 11), (before - 6, y + 11), (before - 6, y - 11),
    ]  # fmt: skip
    return [(left, middle - 7, left + room, middle + 7) for left, middle in places]


def _covered(box: Box, taken: Sequence[Box]) -> float:
    """How much of a box lies over others, or outside the picture."""
    area = 1000.0 * (max(0.0, -box[0]) + max(0.0, box[2] - WIDTH))
    for other in taken:
        across = min(box[2], other[2]) - max(box[0], other[0])
        up = min(box[3], other[3]) - max(box[1], other[1])
        area += max(0.0, across) * max(0.0, up)
    return area


def _told(found: Mapping[str, Mapping[Any, float]], form: str = ".4g") -> str:
    """The figures in words: ours: 5.35 at 50000, 5.78 at 100000."""
    return ". ".join(
        f"{name}: " + ", ".join(f"{value:{form}} at {place}" for place, value in figures.items())
        for name, figures in found.items()
    )
