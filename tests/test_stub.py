"""The hand-written stub of the core has the parameters that the built module has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import supratok
from supratok import _core

STUB = Path(supratok.__file__).with_name("_core.pyi")


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


@pytest.mark.parametrize(("name", "node"), list(functions()), ids=lambda value: str(value)[:40])
def test_parameters_agree(name: str, node: ast.FunctionDef) -> None:
    found: object = _core
    for part in name.split("."):
        found = getattr(found, part)
    ((signature, *_),) = found.__nb_signature__  # type: ignore[attr-defined]
    built = ast.parse(f"{signature}: ...").body[0]
    assert isinstance(built, ast.FunctionDef)
    skip = 1 if name.endswith("__len__") else 0  # nanobind leaves its self without a name
    assert parameters(built)[skip:] == parameters(node)[skip:]
