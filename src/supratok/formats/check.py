"""Does an imported tokenizer give the ids of the program it comes from? Tried on texts, each time.

The import is exact by its reasoning; this catches a file or a version of a program that is not what
we think it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ..tokenizer import Tokenizer
from .assemble import LITERAL_SPACE, SPACE_FIRST, Found
from .hostile import hostile_texts
from .listing import SPACE
from .peer import _read


def check_ids(
    tokenizer: Tokenizer, found: Found, theirs: Callable[[str], list[int]], program: str
) -> None:
    """Hostile texts, but for those that their program loses something of."""
    names = [*tokenizer.special_tokens, *found.always]
    for text in hostile_texts(tokenizer.texts, names):
        if SPACE in text and LITERAL_SPACE in found.differences:
            continue
        if text.startswith(" ") and SPACE_FIRST in found.differences:
            continue
        ours, other = tokenizer.encode(text), theirs(text)
        if ours != other:
            raise ValueError(
                f"{found.name}: {program} encodes {text[:200]!r} as {other[:50]}, and this import"
                f" as {ours[:50]}; it cannot be imported; please report this"
            )


def read_inside(path: str | os.PathLike[str], name: str) -> tuple[Path, bytes]:
    """The file, or the one of this name in a folder; each may be packed, with .zst appended."""
    file = Path(path)
    if file.is_dir():
        inside = (file / name, file / f"{name}.zst")
        file = next((one for one in inside if one.exists()), inside[0])
    return file, _read(file)
