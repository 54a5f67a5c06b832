"""Why a record is no document, in a reason to count it by and a message with the remedy."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from typing import NoReturn, TypeGuard


class CorpusError(ValueError):
    """A corpus cannot be read: the message names the file, the line or row, and the remedy."""


class Fault(Exception):
    """One bad record, or a file that ends early."""

    def __init__(self, reason: str, message: str) -> None:
        self.reason, self.message = reason, message


def is_text(value: object) -> TypeGuard[str]:
    """A string without a lone surrogate. `isascii` costs nothing, and `encode` little."""
    try:
        return isinstance(value, str) and (value.isascii() or bool(value.encode()))
    except UnicodeEncodeError:
        return False


def line_fault(line: bytes, key: str) -> Fault:
    """Of a line of JSON that holds no document under `key`."""
    try:
        return record_fault(json.loads(line.decode()), key)
    except UnicodeDecodeError as error:
        return value_fault(error, key)
    except json.JSONDecodeError as error:
        what = f"{error.msg} at column {error.colno}"
    except (ValueError, RecursionError) as error:  # a number or a nesting beyond Python's limits
        what = str(error)
    return Fault("malformed JSON", f"malformed JSON ({what}); write one object on each line")


def record_fault(record: object, key: str) -> Fault:
    """Of a record without a text under `key`."""
    if isinstance(record, Mapping):
        if key in record:
            return value_fault(record[key], key)
        message = f'no key "{key}" (there are: {keys(record)}); name the right one with --text-key'
        return Fault("missing key", message)
    if isinstance(record, str) and not is_text(record):
        return value_fault(record, key)
    what = type(record).__name__
    message = f'a value of type {what}, not an object; give each record a string under "{key}"'
    return Fault("not an object", message)


def value_fault(value: object, key: str, offset: int = 0) -> Fault:
    """Of a value that is no text; for bytes that are not UTF-8, of the decoding error. `offset`:
    where the bytes begin."""
    if isinstance(value, UnicodeDecodeError):
        message = f"invalid UTF-8 at byte offset {offset + value.start}; convert it to UTF-8"
        return Fault("invalid UTF-8", message)
    if value is None:
        return Fault("null", f'"{key}" is null; give it a text')
    if isinstance(value, str):
        message = "a lone surrogate (half a character, such as \\ud800); write the whole character"
        return Fault("lone surrogate", message)
    message = f'"{key}" is of type {type(value).__name__}, not a string'
    return Fault("not a string", f"{message}; name another with --text-key")


def keys(names: Iterable[object]) -> str:
    """For a message: the first twenty."""
    return ", ".join(map(str, itertools.islice(names, 20)))


def refuse(error: OSError, name: object = None) -> NoReturn:
    message = f"{name or error.filename}: cannot be read ({error.strerror or error})"
    raise CorpusError(f"{message}; check the file, its permissions and its disk") from error
