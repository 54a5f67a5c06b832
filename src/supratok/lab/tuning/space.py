"""The search space: which values of a recipe vary, between which ends, by which step.

    space = read_space(["vocab_size=16000:32000:4000", "phrase_price=1:3:0.5"])
    recipe_of("default", {"vocab_size": 20_000, "phrase_price": 1.5})

The default is the paper's space. A given range replaces the one of the same name, or is added;
`screen.min_pmi=5` fixes a value. Names are those of a recipe file: `phrase_price`, or
`screen.min_pmi` for a value of a component. Naming a value of a component that the preset lacks
adds the component.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from ...recipe import PRESETS, Recipe

Value = int | float


@dataclass(frozen=True)
class Range:
    """From `low` by `step` to `high`, or to the last value below it; without a step, every value
    between the two."""

    low: Value
    high: Value
    step: Value | None = None

    def __post_init__(self) -> None:
        values = [value for value in (self.low, self.high, self.step) if value is not None]
        if not all(map(math.isfinite, values)) or self.low > self.high:
            raise ValueError(f"{self}: give two numbers, the lower one first")
        if self.step is not None and not self.step > 0:
            raise ValueError(f"{self}: the step must be above 0, or left out")

    @property
    def whole(self) -> bool:
        return all(isinstance(value, int) for value in (self.low, self.high, self.step or 1))

    def suggest(self, trial: Any, name: str) -> Value:
        """A value for an Optuna trial."""
        if self.whole:
            found: Value = trial.suggest_int(name, self.low, self.last, step=self.step or 1)
        else:
            found = trial.suggest_float(name, self.low, self.last, step=self.step)
        return found

    @property
    def last(self) -> Value:
        """The highest value that the steps reach."""
        if self.step is None:
            return self.high
        steps = math.floor((self.high - self.low) / self.step + 1e-9)
        return self.low + steps * self.step

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.low:.10g}"
        values = [self.low, self.high, *([] if self.step is None else [self.step])]
        return ":".join(f"{value:.10g}" for value in values)


Space = dict[str, Range]

# Paper 3.5, Appendix B. Choice: sizes by 16,000. The reference (BPE-Standard and a model over it)
# is trained once for each size: eleven times, rather than for nearly every trial.
PAPER: Space = {
    "vocab_size": Range(160_000, 320_000, 16_000),
    "screen.min_pmi": Range(3.0, 6.0, 0.5),
    "screen.min_count": Range(3, 6, 1),
}


def read_space(given: Iterable[str], preset: str = "default", base: Space | None = None) -> Space:
    """The space of the paper (or `base`), changed by NAME=LOW:HIGH[:STEP], NAME=VALUE, or a TOML
    file of such lines: `"screen.min_pmi" = [3.0, 6.0, 0.5]`."""
    space = dict(PAPER if base is None else base)
    for one in given:
        name, sign, values = one.partition("=")
        found = {name.strip(): _split(one, values)} if sign else _in_file(Path(one))
        for key, numbers in found.items():
            space[key] = _range(key, numbers)
    _check(space, preset)
    return space


def recipe_of(preset: str, values: Mapping[str, Value]) -> Recipe:
    """The recipe of a preset with these values in it."""
    changes: dict[str, Any] = {}
    for name, value in values.items():
        part, dot, inner = name.partition(".")
        if dot:
            changes.setdefault(part, {})[inner] = value
        else:
            changes[name] = value
    return Recipe.from_preset(preset, **changes)


def _split(given: str, values: str) -> list[Value]:
    try:
        return [_number(value) for value in values.split(":")]
    except ValueError:
        raise ValueError(
            f"{given!r}: give NAME=LOW:HIGH, NAME=LOW:HIGH:STEP or NAME=VALUE"
        ) from None


def _number(text: str) -> Value:
    plain = text.strip().replace(",", "")
    return int(plain) if plain.lstrip("+-").isdigit() else float(plain)


def _in_file(path: Path) -> dict[str, list[Value]]:
    """The ranges in a TOML file; a table in it is a component, as in a recipe."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: not TOML ({error})") from error
    found: dict[str, list[Value]] = {}
    for name, value in values.items():
        inner = value.items() if isinstance(value, dict) else [("", value)]
        for key, numbers in inner:
            found[f"{name}.{key}".rstrip(".")] = numbers if isinstance(numbers, list) else [numbers]
    return found


def _range(name: str, numbers: list[Value]) -> Range:
    """A range from one number, two, or two and a step; whole numbers where the recipe has them."""
    real = [one for one in numbers if isinstance(one, (int, float)) and not isinstance(one, bool)]
    if len(real) < len(numbers) or not 1 <= len(real) <= 3:
        raise ValueError(f"{name}={numbers}: give [low, high], [low, high, step] or one value")
    if _kind(name) is float:
        real = [float(one) for one in real]
    elif not all(isinstance(one, int) for one in real):
        raise ValueError(f"{name}={numbers}: give whole numbers")
    low, high, *step = real if len(real) > 1 else real * 2
    return Range(low, high, *step)


def _kind(name: str) -> type:
    """The type of this value in a recipe: int or float."""
    holder: Any = Recipe
    for part in name.split("."):
        hints = get_type_hints(holder) if isinstance(holder, type) else {}
        if part not in hints:
            raise ValueError(f"{name!r}: a recipe has no such value; see `supratok inspect --toml`")
        holder = _without_none(hints[part])
    if holder not in (int, float):
        raise ValueError(f"{name!r}: not a number; only numbers can be tuned")
    kind: type = holder
    return kind


def _without_none(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is UnionType else kind


def _check(space: Space, preset: str) -> None:
    """Both ends must make a recipe: fail now rather than after an hour."""
    if preset not in PRESETS:
        raise ValueError(f"preset={preset!r}: choose one of {', '.join(PRESETS)}")
    if "vocab_size" not in space:
        raise ValueError("vocab_size: give its range, or one value")
    for end in ("low", "high"):
        values = {name: getattr(found, end) for name, found in space.items()}
        try:
            recipe_of(preset, values)
        except ValueError as error:
            raise ValueError(f"the {end} end of the space makes no recipe: {error}") from error
