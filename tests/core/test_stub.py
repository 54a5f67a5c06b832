"""The hand-written stub of the core has the parameters of the built module. Stubtest compares the
names of classes and methods; it cannot see nanobind's parameters, so this test compares them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import supratok
from supratok.common import _core

STUB = Path(supratok.__file__).parent / "common" / "_core.pyi"


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                assert isinstance(inner, ast.FunctionDef)
                yield f"{node.name}.{inner.name}", inner


def parameters(node: ast.FunctionDef) -> list[str]:
    kinds = node.args
    plain = [arg.arg for arg in kinds.posonlyargs + kinds.args]
    return plain + [f"*{arg.arg}" for arg in kinds.kwonlyargs]


@pytest.mark.parametrize("name", [name for name, _ in functions()])
def test_parameters_agree(name: str) -> None:
    node = dict(functions())[name]
    found: object = _core
    for part in name.split("."):
        found = getattr(found, part)
    if isinstance(found, property):
        return  # it has no parameters
    ((signature, *_),) = found.__nb_signature__  # type: ignore[attr-defined]
    # Its notation for arrays and default values is not Python.
    plain = re.sub(r"ndarray\[[^\]]*\]", "ndarray", signature)
    plain = re.sub(r"= \\\d", "= None", plain)
    built = ast.parse(f"{plain}: ...").body[0]
    assert isinstance(built, ast.FunctionDef)
    assert parameters(built) == parameters(node)
