"""Check the shape of a JSON document that somebody else wrote, once, where it comes in.

    check_shape({"rows": [["a", 1], ["b", "2"]]}, {"rows": [(str, int)], "name?": str})
    -> ValueError: rows[1][1] must be a whole number, not '2'

A shape is a type, a range of numbers, `Any`, or made of shapes:

    [a]            a list of a
    (a, b)         a list of exactly these
    {str: a}       an object, all of whose values are a
    {"x": a}       an object with this name, and perhaps others; "x?" may be missing or null
    a function     the shape that it returns, for shapes that hold themselves
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

_WORDS: dict[type, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}


_LARGEST = 1e300  # of numbers: neither infinity nor NaN


def check_shape(value: object, shape: Any) -> None:
    """Raise ValueError, with the place of the first value that does not fit."""
    _check([value], shape, lambda place: "")


def _check(values: Sequence[Any], shape: Any, name: Callable[[int], str]) -> None:
    """Check many values of one shape at once: a table is checked column by column, fast."""
    if callable(shape) and not isinstance(shape, type) and shape is not Any:
        shape = shape() if values else Any
    if shape is Any:
        return
    if not _all_fit(values, shape):
        bad = next(place for place, value in enumerate(values) if not _all_fit([value], shape))
        where = name(bad).removeprefix(".") or "the document"
        raise ValueError(f"{where} must be {_words(shape)}, not {reprlib.repr(values[bad])}")
    if isinstance(shape, tuple):
        for column, inner in enumerate(shape):
            _check([value[column] for value in values], inner, partial(_in_column, name, column))
    elif isinstance(shape, list):
        for place, value in enumerate(values):
            _check(value, shape[0], partial(_in_list, name, place))
    elif isinstance(shape, dict) and str in shape:
        for place, value in enumerate(values):
            _check(list(value.values()), shape[str], partial(_in_object, name, place, value))
    elif isinstance(shape, dict):
        for key, inner in shape.items():
            _check_name(values, key, inner, name)


def _check_name(
    values: Sequence[dict[str, Any]], key: str, shape: Any, name: Callable[[int], str]
) -> None:
    needed, key = not key.endswith("?"), key.removesuffix("?")
    places = [place for place, value in enumerate(values) if value.get(key) is not None]
    if needed and len(places) < len(values):
        missing = next(place for place, value in enumerate(values) if value.get(key) is None)
        where = name(missing).removeprefix(".") or "the document"
        raise ValueError(f"{where} has no {key!r}, which must be {_words(shape)}")
    _check(
        [values[place][key] for place in places],
        shape,
        lambda place: f"{name(places[place])}.{key}",
    )


def _in_column(name: Callable[[int], str], column: int, place: int) -> str:
    return f"{name(place)}[{column}]"


def _in_list(name: Callable[[int], str], outer: int, place: int) -> str:
    return f"{name(outer)}[{place}]"


def _in_object(name: Callable[[int], str], outer: int, value: dict[str, Any], place: int) -> str:
    return f"{name(outer)}[{reprlib.repr(list(value)[place])}]"


def _all_fit(values: Sequence[Any], shape: Any) -> bool:
    """Whether all values are of the kind, without a look inside; in few calls, so fast."""
    kinds = set(map(type, values))
    if isinstance(shape, range):
        return kinds <= {int} and (not values or (min(values) in shape and max(values) in shape))
    if isinstance(shape, tuple):
        return kinds <= {list, tuple} and set(map(len, values)) <= {len(shape)}
    if shape is float:
        return kinds <= {int, float} and all(abs(value) < _LARGEST for value in values)
    return kinds <= {shape if isinstance(shape, type) else type(shape)}


def _words(shape: Any) -> str:
    if isinstance(shape, range):
        return f"a whole number from {shape[0]:,} to {shape[-1]:,}"
    if isinstance(shape, tuple):
        return f"a list of {len(shape)}"
    if isinstance(shape, type):
        return _WORDS[shape]
    return "a list" if isinstance(shape, list) else "an object"
