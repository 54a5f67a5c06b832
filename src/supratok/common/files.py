"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


def refuse_unwritable(path: Path, what: str) -> None:
    """An hour of work must not end at a folder that is not there."""
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise ValueError(
            f"{what}: cannot write in the folder {path.parent} ({error.strerror});"
            " make it, or choose another"
        ) from error


def write_whole(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Written beside the file and then put in its place, so that no half-written one is seen."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
