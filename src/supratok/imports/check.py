"""Does an imported tokenizer give the ids of the program it comes from? Tried on texts, each time.

The import is exact by its reasoning; this catches a file or a version of a program that is not what
we think it is.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

from ..compare import _read
from ..tokenizer import Tokenizer

TEXTS = (
    "", " ", "  ", "a", " a", "a ", "Hello, world!", "  two spaces,  three   and\ttabs\t\t.",
    "\n", "\n\n\n", "line\nline\r\n\r\nline", " " * 37 + "x" + " " * 18, "def f():\n        pass\n",
    "Don't stop: it's 12,345.67 (or 1e-9)!", "naïve café, Œuvre, straße, Ελληνικά, русский язык",
    "日本語のテキスト。中文文本，繁體", "한국어 텍스트", "ภาษาไทย", "نص عربي", "हिन्दी", "עברית",
    "🙂🙂👩‍👩‍👧 ❤️", "\x00\x01\x7f\x80\xa0\u2028\ufeff", "e\u0301 ﷺ ﬁ Ａ", "a" * 50, "ab" * 40,
    "<s></s><unk><pad>[INST] x [/INST]<0x41>", "https://example.com/?q=a%20b&c=d#e", "{}[]()<>;:",
)  # fmt: skip
PAIRS = 1000  # of tokens, written side by side


def check_ids(
    tokenizer: Tokenizer,
    name: str,
    theirs: Callable[[str], list[int]],
    program: str,
    space_first: bool = True,
) -> None:
    """`space_first`: whether their program keeps a space at the beginning of a text."""
    for text in _texts(tokenizer):
        if text.startswith(" ") and not space_first:
            continue
        ours, other = tokenizer.encode(text), theirs(text)
        if ours != other:
            raise ValueError(
                f"{name}: {program} encodes {text!r} as {other}, and this import as {ours}; it"
                " cannot be imported; please report this"
            )


def _texts(tokenizer: Tokenizer) -> list[str]:
    rng = random.Random(0)
    known = [text for text in tokenizer.texts if "▁" not in text]
    pairs = ["".join(rng.choices(known, k=2)) for _ in range(PAIRS if known else 0)]
    always = tokenizer.layout.always if tokenizer.layout else {}
    return [*TEXTS, *pairs, *(f"a{text} b{text}" for text in always)]


def read_inside(path: str | os.PathLike[str], name: str) -> tuple[Path, bytes]:
    """The file, or the one of this name in a folder; each may be packed, with .zst appended."""
    file = Path(path)
    if file.is_dir():
        inside = (file / name, file / f"{name}.zst")
        file = next((one for one in inside if one.exists()), inside[0])
    return file, _read(file)
