"""Import an optional dependency, or name the extra that installs it."""

from __future__ import annotations

import importlib
from typing import Any


def package(name: str, extra: str) -> Any:
    """package("tokenizers", "extend") -> the module, or an ImportError with the pip command."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        missing = name.split(".")[0]
        raise ImportError(
            f"this needs the package {missing!r} ({error}): pip install supratok[{extra}]"
        ) from error
