"""Write files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


def refuse_unwritable(path: Path, what: str) -> None:
    """Raise before an hour of work if its result could not be written."""
    import tempfile  # here and below, since it loads a dozen modules

    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise ValueError(
            f"{what}: cannot write in the folder {path.parent} ({error.strerror});"
            " create it, or choose another"
        ) from error


def write_whole(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Write to a temporary file in the same folder, then rename it to `path`."""
    import tempfile

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
