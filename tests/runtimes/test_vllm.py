"""The tokenizer mode of vLLM, in registries that have vLLM's own shape; vLLM itself is too large to
be installed for tests."""

from __future__ import annotations

import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import supratok
from supratok.runtimes.vllm import register
from texts import small_tokenizer

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


class Registry:
    """As `TokenizerRegistry` and `RENDERER_REGISTRY`: a mode, its module and its class."""

    def __init__(self) -> None:
        self.tokenizers: dict[str, tuple[str, str]] = {}

    def register(self, mode: str, module: str, class_name: str) -> None:
        assert mode not in self.tokenizers  # vLLM warns
        self.tokenizers[mode] = module, class_name


def add_module(monkeypatch: pytest.MonkeyPatch, name: str, **contents: Any) -> None:
    module = ModuleType(name)
    vars(module).update(contents)
    monkeypatch.setitem(sys.modules, name, module)


class HfTokenizer:
    """As `CachedHfTokenizer`."""

    @classmethod
    def from_pretrained(cls, path: Path, *args: Any, revision: str | None = None) -> Any:
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(path, revision=revision)


@pytest.fixture
def registries(monkeypatch: pytest.MonkeyPatch) -> tuple[Registry, Registry]:
    both = Registry(), Registry()
    add_module(monkeypatch, "vllm")
    add_module(monkeypatch, "vllm.tokenizers", TokenizerRegistry=both[0])
    add_module(monkeypatch, "vllm.tokenizers.hf", CachedHfTokenizer=HfTokenizer)
    add_module(monkeypatch, "vllm.renderers")
    add_module(monkeypatch, "vllm.renderers.registry", RENDERER_REGISTRY=both[1])
    return both


def test_vllm_finds_the_mode(registries: tuple[Registry, Registry], tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    project = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]
    module, name = project["entry-points"]["vllm.general_plugins"]["supratok"].split(":")
    for _ in range(2):  # vLLM may call it several times
        getattr(import_module(module), name)()
    assert registries[1].tokenizers == {"supratok": ("vllm.renderers.hf", "HfRenderer")}
    module, name = registries[0].tokenizers["supratok"]
    tokenizer = small_tokenizer("merges")
    tokenizer.export(tmp_path / "my-model", ["huggingface"])
    try:
        made = getattr(import_module(module), name).from_pretrained(
            tmp_path / "my-model", revision=None
        )
        assert "_supratok" in made._tokenizer.__dict__
        assert made.encode("the cats") == tokenizer.encode("the cats")
    finally:
        supratok.unpatch_transformers()


def test_another_vllm_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    add_module(monkeypatch, "vllm")
    add_module(monkeypatch, "vllm.tokenizers")
    register()
    assert "call supratok.patch_transformers()" in caplog.text
