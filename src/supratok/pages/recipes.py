"""A recipe as a page shows it: what differs from its preset first, then everything.

nearest(Recipe.dense(50_000, refine=0))   # ("dense", [Change("refine", "3", "0")])
listed(recipe)                            # {"vocab_size": "50,000", "screen": "off", ...}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..recipe import PRESETS, Recipe

ABSENT = "-"  # a value of a component that the preset has not


class Change(NamedTuple):
    """A value of a recipe that differs from its preset."""

    name: str
    preset: str
    own: str


def nearest(recipe: Recipe) -> tuple[str, list[Change]]:
    """The preset that differs in the fewest values at the same size, and those values; of presets
    that differ alike, the first. A component that only one of them has is one value."""
    own = listed(recipe)
    found = {
        name: _changes(listed(preset(recipe.vocab_size)), own) for name, preset in PRESETS.items()
    }
    name = min(found, key=lambda name: sum(one.preset != ABSENT for one in found[name]))
    return name, found[name]


def _changes(preset: Mapping[str, str], own: Mapping[str, str]) -> list[Change]:
    """What differs, in the order of the recipe; no values of a component that is off here."""
    pairs = (Change(name, preset.get(name, ABSENT), value) for name, value in own.items())
    return [change for change in pairs if change.preset != change.own]


def listed(recipe: Recipe) -> dict[str, str]:
    """Every value as text; those of a component by its name and a dot."""
    found: dict[str, str] = {}
    for name, value in recipe.to_dict().items():
        if isinstance(value, Mapping):
            found |= {name: "on"} if name != "boundaries" else {}
            found |= {f"{name}.{key}": _text(one) for key, one in value.items()}
        else:
            found[name] = "parity" if name == "crossover" and value is None else _text(value)
    # A recipe says in one of two ways how many phrases to keep.
    return found | {
        name: f"by {other}"
        for name, other in (("saving", "phrase_price"), ("phrase_price", "saving"))
        if name not in found
    }


def _text(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value)) or "none"
    return str(value)
