"""Convert mappings to dataclasses, with every name and type checked, and mappings to TOML.

from_mapping(Screen, {"min_count": 7})        -> Screen(min_count=7)
from_mapping(Screen, {"min_count": "7"})      -> WrongType: min_count='7': must be a whole number
to_toml({"a": 1, "b": {"c": [True]}})         -> a = 1, [b], c = [true]
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


class WrongType(TypeError, ValueError):
    """A value of the wrong type: in a call a TypeError, in a file that we read a ValueError."""


def from_mapping(cls: type[T], values: Mapping[str, Any], base: T | None = None) -> T:
    """A `cls` with these values; the other values come from `base`, or are the defaults. Names are
    checked here, types by `cls` itself: see `check_types`."""
    known = get_type_hints(cls)
    for name in values:
        if name not in known:
            raise ValueError(
                f"unknown {cls.__name__} option {name!r}; known are {', '.join(known)}"
            )
    return cls(**values) if base is None else dataclasses.replace(base, **values)  # type: ignore


def check_types(options: object) -> None:
    """Raise WrongType unless each value of a dataclass has its type."""
    for name, kind in get_type_hints(type(options)).items():
        value = getattr(options, name)
        if not _fits(value, kind):
            raise WrongType(f"{name}={value!r}: must be {_kind(kind)}")


def _fits(value: object, kind: Any) -> bool:
    """Whether a value may be used as a `kind`: also an int as a float, a list as a tuple.
    The recipe itself checks the values of a Literal."""
    if get_origin(kind) in (UnionType, Union):
        return any(_fits(value, one) for one in get_args(kind))
    if get_origin(kind) is tuple:
        inner = get_args(kind)[0]
        return isinstance(value, (list, tuple)) and all(_fits(one, inner) for one in value)
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, str if get_origin(kind) is Literal else kind)


def _kind(kind: Any) -> str:
    """In words: "a number", "a Seeds or None (in TOML a table or false)"."""
    if get_origin(kind) in (UnionType, Union):
        first, _ = get_args(kind)
        toml = "a table or false" if dataclasses.is_dataclass(first) else 'or "parity"'
        return f"{_kind(first)} or None (in TOML {toml})"
    if get_origin(kind) is tuple:
        return "a list of strings" if str in get_args(kind) else "a list of numbers"
    names = {int: "a whole number", float: "a number", bool: "true or false"}
    component = getattr(kind, "__name__", "") if dataclasses.is_dataclass(kind) else ""
    return names.get(kind, f"a {component}" if component else "a string")


def to_toml(values: Mapping[str, Any]) -> str:
    """Scalars, strings and lists of them; then a table for each mapping. TOML has no null."""
    plain = {name: value for name, value in values.items() if not isinstance(value, Mapping)}
    lines = [f"{name} = {_toml(value)}" for name, value in plain.items()]
    for name, table in values.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{name}]"]
            lines += [f"{inner} = {_toml(value)}" for inner, value in table.items()]
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):  # as in JSON, but TOML also escapes DEL
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    if isinstance(value, (int, float)):
        return repr(value)
    raise ValueError(f"{value!r}: TOML has no such value; use a string, a number or a list")
