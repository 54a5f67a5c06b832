"""The house style of all pictures, over matplotlib.

    with house_style():
        figure, axes = new_figure(height=340)
        axes.plot(sizes, figures, **line("SuperBPE"))
        picture = svg(figure, "Characters per token", "SuperBPE: 5.07 at 50,000")

A tokenizer has the same letter, colour, marker and dashes in every picture, and any one of them is
enough to tell it from its neighbours: so pictures also work in black and white. Text stays text in
the reader's font. The same figures give the same bytes.
"""

from __future__ import annotations

import io
import itertools
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ...common.packages import package
from ...common.text import visible
from ...pages.look import (
    FAINT,
    GROUND,
    INK,
    MUTED,
    TOKENIZERS,
    colour,
    letter,
    places,
    tokenizer_of,
)

WIDTH = 500  # points; a telephone shows two thirds of that, and the letters can still be read

MARKERS = "osD^vPX*h"
DASHES = ((0, (6, 1.5)), (0, (6, 1.5, 1, 1.5)), (0, (3, 1.2)), (0, (1, 1)), (0, (9, 1.5, 3, 1.5)))
_OURS = 3  # of the tokenizers of `look.py` have solid lines

HOUSE = {
    "svg.fonttype": "none", "svg.hashsalt": "supratok", "text.parse_math": False,
    # Verdana is as wide as DejaVu Sans, which comes with matplotlib and is what it measures.
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Helvetica", "Arial"], "font.size": 12,
    "figure.dpi": 72, "figure.facecolor": GROUND, "figure.constrained_layout.use": True,
    "figure.constrained_layout.w_pad": 0.1, "figure.constrained_layout.h_pad": 0.1,
    "text.color": INK, "axes.labelcolor": MUTED, "axes.titlecolor": MUTED, "axes.titlesize": 12,
    "axes.titlelocation": "left", "axes.titlepad": 10,
    "axes.grid": True, "axes.axisbelow": True, "grid.color": FAINT, "grid.linewidth": 1,
    **{f"axes.spines.{side}": False for side in ("left", "right", "top", "bottom")},
    **{f"{axis}tick.major.size": 0 for axis in "xy"},
    **{f"{axis}tick.minor.size": 0 for axis in "xy"},
    **{f"{axis}tick.major.pad": 6 for axis in "xy"},
    **{f"{axis}tick.labelcolor": MUTED for axis in "xy"},
    "legend.frameon": False, "legend.borderpad": 0, "legend.handletextpad": 0.4,
    "legend.columnspacing": 1.5,
    "lines.linewidth": 1.5, "lines.markersize": 6, "lines.markeredgewidth": 1.5,
}  # fmt: skip


@contextmanager
def house_style() -> Iterator[None]:
    """Ignore a user's own settings of matplotlib, and its warnings about glyphs: the reader's font
    shows the text, not the one that matplotlib measures with."""
    style = package("matplotlib.style", "lab")
    with style.context(["default", HOUSE], after_reset=True), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def new_figure(height: float) -> tuple[Any, Any]:
    """A figure of the house's width with one pair of axes; the height is in points."""
    figure = package("matplotlib.figure", "lab").Figure(figsize=(WIDTH / 72, height / 72))
    return figure, figure.add_subplot()


def svg(figure: Any, title: str, description: str) -> str:
    """The figure as SVG; title and description are for search and for screen readers."""
    unstable = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    about = {"Title": visible(title), "Description": visible(description)}
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata=unstable | about)
    return "<svg" + file.getvalue().partition("<svg")[2]


# --- Series ----------------------------------------------------------------------------------

Styles = dict[str, dict[str, Any]]  # by name: arguments of `axes.plot`


def styles(names: Iterable[str], paper: Collection[str] = ()) -> Styles:
    """How to plot each name. The paper's figures are grey, dashed and hollow; a name that is no
    tokenizer takes the first style that no other name of the picture has."""
    names = list(names)
    tokenizers = _tokenizers(names, paper)
    numbered, papers = places(tokenizers.values()), itertools.count()
    return {
        name: _style(next(papers), MUTED, GROUND, (0, (4, 3)))
        if name in paper
        else _numbered(numbered[tokenizers[name]])
        for name in names
    }


def labels(names: Iterable[str], paper: Collection[str] = ()) -> dict[str, str]:
    """What to write for each name: short, and a tokenizer with its letter before it, "A dense"."""
    names = list(names)
    tokenizers = _tokenizers(names, paper)
    return {
        name: f"{letter(TOKENIZERS.index(tokenizers[name]))} {short(name)}"
        if tokenizers.get(name) in TOKENIZERS
        else short(name)
        for name in names
    }


def _tokenizers(names: Iterable[str], paper: Collection[str]) -> dict[str, str]:
    """The tokenizer of each name that is not the paper's: "dense" of "dense 50,000", unless the
    picture has dense twice."""
    found = {name: tokenizer_of(name) for name in names if name not in paper}
    often = Counter(found.values())
    return {name: its if often[its] == 1 else name for name, its in found.items()}


def _numbered(place: int) -> dict[str, Any]:
    own = colour(place)
    return _style(place, own, own, "-" if place < _OURS else DASHES[place % len(DASHES)])


def _style(place: int, colour: str, face: str, dashes: Any) -> dict[str, Any]:
    marker = MARKERS[place % len(MARKERS)]
    return {"color": colour, "markerfacecolor": face, "marker": marker, "linestyle": dashes}


def add_legend(figure: Any, handles: list[Any], labels: list[str], side: str = "upper") -> None:
    """A legend above or below (`lower`) the axes, in as many columns as fit."""
    for columns in range(len(labels), 0, -1):
        legend = figure.legend(handles, labels, loc=f"outside {side} left", ncols=columns)
        if legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()


def short(name: str, most: int = 32) -> str:
    """A name that leaves room for the picture."""
    shown = visible(name)
    return shown if len(shown) <= most else shown[: most - 1] + "…"
