"""The sheet that pictures are drawn on: axes, grid, letters, legend, colours for light and dark.

Lengths are units of the picture. Letters are set by the reader's own fonts, so how wide a text will
be is estimated, not measured.
"""

from __future__ import annotations

import io
import unicodedata
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...common.packages import package
from .svg import COLOURS, MARKS, PAPER_MARK, themed
from .tables import visible

WIDTH = 500
LETTERS, SMALL = 13, 12  # sizes of letters
LINE = 18  # from one line of letters to the next
INK, MUTED, FAINT = MARKS["ink"], MARKS["muted"], MARKS["faint"]
SERIES = [MARKS[name] for name in COLOURS if name.isdigit()]
SHAPES = "osD^vph*"


class Canvas:
    """A sheet with one pair of axes; lengths are units of the picture, from its lower left."""

    def __init__(self, *, height: float, left: float, right: float, top: float, bottom: float):
        self.height = height
        self.left, self.inner = left, WIDTH - left - right
        self.middle = left + self.inner / 2
        figure = package("matplotlib.figure", "lab").Figure
        self._figure = figure(figsize=(WIDTH / 72, height / 72))
        up = (height - top - bottom) / height
        self.axes: Any = self._figure.add_axes(
            (left / WIDTH, bottom / height, self.inner / WIDTH, up)
        )
        self.axes.set(frame_on=False, xticks=[], yticks=[])

    def grid(self, axis: str) -> None:
        """Faint lines at round figures across the given axis, with the figures."""
        ticker = package("matplotlib.ticker", "lab")
        which = getattr(self.axes, f"{axis}axis")
        which.set_major_locator(ticker.MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
        which.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:.10g}"))
        self.axes.grid(axis=axis, color=FAINT, lw=1)
        self.axes.set_axisbelow(True)
        self.axes.tick_params(axis=axis, length=0, labelcolor=MUTED, labelsize=SMALL, pad=6)

    def words(self, x: float, y: float, text: str, colour: str = INK, **style: Any) -> None:
        style = {"va": "center", "fontsize": SMALL, **style}
        self._figure.text(x / WIDTH, y / self.height, visible(text), color=colour, **style)

    def beside(self, y: float, text: str) -> None:
        """The name of a row, before it; y as the axes have it."""
        place = self.axes.get_yaxis_transform()
        self.axes.text(
            -10 / self.inner, y, fitting(text), transform=place, ha="right", va="center",
            fontsize=LETTERS, color=INK,
        )  # fmt: skip

    def legend(self, names: Sequence[str], paper: Collection[str], shape: str = "") -> None:
        """What the marks mean, in lines above the axes."""
        for place, (x, line) in enumerate(_legend_places(names)):
            y = self.height - 12 - line * LINE
            style = dot(place, names[place] in paper) | ({"marker": shape} if shape else {})
            mark = package("matplotlib.lines", "lab").Line2D(
                [(x + 6) / WIDTH], [y / self.height], **style
            )
            self._figure.add_artist(mark)
            self.words(x + 17, y, names[place], tone(place))

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the axes is on the sheet."""
        self.axes.autoscale_view()
        across, up = self.axes.transData.transform((x, y)) * 72 / self._figure.dpi
        return float(across), float(up)

    def line(self, x: Sequence[float], y: Sequence[float], colour: str) -> None:
        artist = package("matplotlib.lines", "lab").Line2D(
            [value / WIDTH for value in x], [value / self.height for value in y], color=colour, lw=1
        )
        self._figure.add_artist(artist)

    def svg(self, title: str, description: str) -> str:
        file = io.StringIO()
        self._figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
        return themed(file.getvalue(), visible(title), visible(description))


@contextmanager
def settings() -> Iterator[None]:
    """Matplotlib as it comes, whatever a person has set: letters as letters, no formulas, the same
    names each time. A font without a character does not matter, as the reader's is used."""
    own = {"svg.fonttype": "none", "svg.hashsalt": "supratok", "text.parse_math": False}
    matplotlib = package("matplotlib", "lab")
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(own)
        yield


# --- Marks and letters -----------------------------------------------------------------------


def tone(place: int) -> str:
    """The colour of a series, by its place among them."""
    return SERIES[place % len(SERIES)]


def dot(place: int, hollow: bool) -> dict[str, Any]:
    """How a point is drawn."""
    colour = tone(place)
    return {
        "ls": "none", "marker": SHAPES[place % len(SHAPES)], "markersize": 7,
        "markeredgewidth": 1.6, "markeredgecolor": colour,
        "markerfacecolor": PAPER_MARK if hollow else colour,
    }  # fmt: skip


def letters(text: str) -> float:
    """About how wide a text is, in units of its size, in a wide type such as DejaVu Sans."""
    return sum(map(_letter, visible(text)))


def _letter(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return 0.68 if character.isupper() else 0.57


def fitting(text: str) -> str:
    """A name, cut where it would take more than 0.45 of the width."""
    cut = visible(text)
    while letters(cut) * LETTERS > WIDTH * 0.45:
        cut = cut.removesuffix("…")[:-1] + "…"
    return cut


def width(names: Collection[str]) -> float:
    """Of the widest name."""
    return max((letters(fitting(name)) for name in names), default=0.0) * LETTERS


def _legend_places(names: Sequence[str]) -> list[tuple[float, int]]:
    """Where each entry begins, and in which line."""
    places, x, line = [], 0.0, 0
    for name in names:
        room = letters(name) * SMALL + 17 + 18
        if x and x + room > WIDTH:
            x, line = 0.0, line + 1
        places.append((x, line))
        x += room
    return places


def legend_lines(names: Sequence[str]) -> int:
    """How many lines a legend takes."""
    return max((line for _, line in _legend_places(names)), default=0) + 1
