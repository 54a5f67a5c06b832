"""Import an optional dependency, or name the extra that installs it."""

from __future__ import annotations

import importlib
from typing import Any

_DISTRIBUTIONS = {"google": "protobuf"}  # packages whose module has another name


def package(name: str, extra: str) -> Any:
    """package("tokenizers", "extend") -> the module, or an ImportError with the pip command."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        missing = (error.name or name).split(".")[0]  # perhaps one that `name` itself imports
        missing = _DISTRIBUTIONS.get(missing, missing)
        raise ImportError(
            f"this needs the package {missing!r} ({error}): pip install supratok[{extra}]"
        ) from error
