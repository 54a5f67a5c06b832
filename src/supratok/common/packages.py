"""Packages that only some of us need, looked for when they are."""

from __future__ import annotations

import importlib
from typing import Any


def package(name: str, extra: str) -> Any:
    """The module, or an error that says which extra of ours brings it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        missing = name.split(".")[0]
        raise ImportError(
            f"this needs the package {missing!r} ({error}): pip install supratok[{extra}]"
        ) from error
