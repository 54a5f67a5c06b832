"""The house: few names at the top, a sentence in each room, a core of a readable size."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE, CORE = ROOT / "src" / "supratok", ROOT / "core"
ROOMS = [
    "cli",
    "common",
    "corpus",
    "counts",
    "extending",
    "formats",
    "lab",
    "learn",
    "pages",
    "readings",
    "reference",
    "runtimes",
    "shards",
    "tokenizer",
]


def names(folder: Path) -> set[str]:
    built = {"__pycache__"}
    return {path.name for path in folder.iterdir()} - built


def test_the_top_shows_the_rooms_and_little_else() -> None:
    found = names(PACKAGE)
    files = {"__init__.py", "__main__.py", "py.typed", "recipe.py", "train.py"}
    assert found == {*ROOMS, *files}
    assert len(found) <= 19


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_what_it_is_for_and_what_it_may_import(room: str) -> None:
    sentence = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text("utf-8")))
    assert sentence and ("May import" in sentence or "Imports no other room" in sentence)


def test_the_core_is_small() -> None:
    sizes = {path.name: len(path.read_text("utf-8").splitlines()) for path in CORE.iterdir()}
    assert max(sizes.values()) <= 450, sizes
    # Reading, spilling and counting over numbers in C++ took 3,000 lines, encoding in two levels,
    # decoding and reading files of tokenizers 1,300, what may follow a text 1,260 (CHANGELOG).
    assert sum(sizes.values()) <= 10010, sizes


def test_the_bindings_keep_to_the_stable_abi() -> None:
    """From Python 3.12 on one wheel serves all versions, and only there would the compiler object.
    Macros in capitals reach into the objects of one version; nanobind's own (NB_...) do not. They
    may stand where the compiler leaves them out of that wheel."""
    macros = re.compile(r"\bPy(?:List|Tuple|Sequence_Fast|Unicode|Bytes|Dict)_[A-Z][A-Z_]{2,}\b")
    left_out = re.compile(r"#ifndef Py_LIMITED_API.*?#endif", re.DOTALL)
    texts = {path.name: left_out.sub("", path.read_text("utf-8")) for path in CORE.iterdir()}
    found = {name: macros.findall(text) for name, text in texts.items()}
    assert {name: names for name, names in found.items() if names} == {}
    assert macros.search("PySequence_Fast_ITEMS(list)") and macros.search("PyList_SET_ITEM(a)")
