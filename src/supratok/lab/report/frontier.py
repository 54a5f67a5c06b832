"""The picture of bits against density: what a model over a tokenizer takes, and what it saves.

    svg = frontier(
        {"default": Place(5.45, plain=(3.1, 3.6), aided=(-0.2, 0.4))}, base=Place(4.42),
        title="Bits and tokens over BPE", ours=["default"])

Each tokenizer stands at its characters per token. Its hollow marker is the mean of models without
training aids, its solid one that of models with both aids, and an arrow leads from the one to the
other. Small marks are single seeds. BPE is the line at 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...pages.look import GROUND, MUTED
from .style import house_style, new_figure, styles, svg

_OURS, _BASE = "default", "BPE-Bytes-GPT4o"  # whose colours they have
_BETTER, _BETTER_INK = "#e9f3ec", "#1a7340"  # the ground of fewer bits than BPE, and text on it


@dataclass(frozen=True)
class Place:
    """Where a tokenizer stands: its characters per token, and by seed how many per cent more bits
    its models take than those of BPE."""

    across: float
    plain: tuple[float, ...] = ()
    aided: tuple[float, ...] = ()


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


@house_style()
def frontier(
    places: Mapping[str, Place],
    *,
    base: Place,
    title: str,
    labels: Mapping[str, str] | None = None,
    ours: Sequence[str] = (),
    joined: Sequence[str] = (),
) -> str:
    """`base`: BPE. `ours` are one method with other settings, in one colour, and a line joins the
    aided models of those that differ in one number (`joined`)."""
    if not places:
        raise ValueError(f"{title}: no figures to draw; leave the picture out")
    figure, axes = new_figure(400)
    drawn = styles([_OURS, _BASE, *(name for name in places if name not in ours)])
    drawn |= dict.fromkeys(ours, drawn[_OURS])
    for name, place in places.items():
        _draw(axes, place, drawn[name])
    line = sorted((places[name].across, mean(places[name].aided)) for name in joined)
    if line:
        axes.plot(*zip(*line, strict=True), color=drawn[_OURS]["color"], lw=2.2, zorder=2)
    axes.margins(x=0.16, y=0.08)
    _ground(axes, base, drawn[_BASE])
    right = max(places, key=lambda name: places[name].across)
    for name, place in places.items():
        where = "right" if name == right else "below" if name in joined else "left"
        _name(axes, place, (labels or {}).get(name, name), drawn[name]["color"], where)
    axes.set(
        title="bits per character, % over BPE: lower is better",
        xlabel="characters per token of held-out text: to the right, fewer tokens",
    )
    _legend(figure, axes)
    return svg(figure, title, _in_words(places))


def _draw(axes: Any, place: Place, style: Mapping[str, Any]) -> None:
    colour, marker = style["color"], style["marker"]
    for values, face in ((place.plain, GROUND), (place.aided, colour)):
        if not values:
            continue
        if len(values) > 1:
            axes.plot([place.across] * len(values), values, linestyle="none", marker="_",
                      color=colour, markersize=7, mew=1, alpha=0.7, zorder=3)  # fmt: skip
        axes.plot(place.across, mean(values), marker=marker, color=colour, markerfacecolor=face,
                  markersize=8, zorder=4)  # fmt: skip
    if place.plain and place.aided:
        axes.annotate(
            "", (place.across, mean(place.aided)), (place.across, mean(place.plain)), zorder=1,
            arrowprops={"arrowstyle": "-|>", "color": colour, "shrinkA": 6, "shrinkB": 6,
                        "lw": 1.2, "alpha": 0.75},
        )  # fmt: skip


def _ground(axes: Any, base: Place, style: Mapping[str, Any]) -> None:
    """BPE at 0, and the ground below it."""
    low, high = axes.get_ylim()
    low, high = min(low, -1.6), max(high, 1.0)
    axes.set_ylim(low, high)
    axes.axhspan(low, 0, color=_BETTER, zorder=0, lw=0)
    axes.axhline(0, color=style["color"], lw=1.2, zorder=1)
    axes.plot(base.across, 0, **{**style, "linestyle": "none", "markersize": 8}, zorder=4)
    axes.annotate("BPE", (base.across, 0), (0, 9), textcoords="offset points", ha="center",
                  color=style["color"])  # fmt: skip
    axes.annotate("fewer bits than BPE", (0.02, 0), (0, -8), xycoords=("axes fraction", "data"),
                  textcoords="offset points", va="top", color=_BETTER_INK, size=11)  # fmt: skip


# The offset in points of a label, and how it is aligned there.
_BESIDE = {
    "right": ((10, 0), "left", "center"), "left": ((-10, 0), "right", "center"),
    "below": ((0, -8), "center", "top"),
}  # fmt: skip


def _name(axes: Any, place: Place, label: str, colour: str, where: str) -> None:
    """Write a name: below the lowest aided seed, to the right of the aided mean, or to the left of
    the plain one, whichever the tokenizer has."""
    aided = place.aided if where != "left" else ()
    values = aided or place.plain or place.aided
    offset, across, up = _BESIDE[where]
    at = min(values) if where == "below" else mean(values)
    axes.annotate(label, (place.across, at), offset, textcoords="offset points", ha=across, va=up,
                  color=colour, size=11)  # fmt: skip


def _legend(figure: Any, axes: Any) -> None:
    """What hollow, solid and small mean, by grey examples."""
    kinds = {
        "without training aids": {"marker": "o", "markerfacecolor": GROUND, "markersize": 8},
        "with both aids": {"marker": "o", "markersize": 8},
        "a seed": {"marker": "_", "markersize": 7},
    }
    shown = [axes.plot([], [], linestyle="none", color=MUTED, **kind)[0] for kind in kinds.values()]
    figure.legend(shown, list(kinds), loc="outside upper left", ncols=3)


def _in_words(places: Mapping[str, Place]) -> str:
    parts = []
    for name, place in places.items():
        kinds = [
            f"{mean(values):+.2f}% bits {kind} aids"
            for values, kind in ((place.plain, "without"), (place.aided, "with"))
            if values
        ]
        parts.append(f"{name}: {place.across:.3f} characters per token, {', '.join(kinds)}")
    return ". ".join(parts)
