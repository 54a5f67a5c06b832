"""Optional packages: which are missing, and a pip command that works everywhere."""

from __future__ import annotations

import importlib.metadata
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from supratok.common import packages
from supratok.common.packages import EXTRAS, install_hint, is_installed, package, requirements

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def hide(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)


def test_extras_are_those_of_the_project() -> None:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    assert EXTRAS.keys() == project["optional-dependencies"].keys() - {"dev", "docs"}
    for extra, lines in project["optional-dependencies"].items():
        own = {line.partition(";")[0] for line in lines if not line.startswith("supratok[")}
        assert own <= set(requirements(extra).values())


def test_an_extra_of_extras_has_all_their_packages() -> None:
    assert requirements("lab").items() <= requirements("lm").items()
    assert requirements("export").items() <= requirements("verify").items()
    assert requirements("nonsense") == {}


def test_hints_name_packages_that_any_index_has(monkeypatch: pytest.MonkeyPatch) -> None:
    assert install_hint("lab", "tokenizers") == 'pip install "tokenizers>=0.20"'
    for extra in EXTRAS:
        assert "supratok" not in install_hint(extra)
    hide(monkeypatch, "matplotlib", "jinja2")
    assert install_hint("lab") == 'pip install "matplotlib>=3.8" "jinja2>=3.1"'


@pytest.fixture
def not_installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def absent(name: str) -> list[str]:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", absent)
    requirements.cache_clear()
    yield
    requirements.cache_clear()


@pytest.mark.usefixtures("not_installed")
def test_a_checkout_that_was_never_installed_knows_its_extras(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = Path(__file__).parents[2] / "src" / "supratok" / "common" / "packages.py"
    monkeypatch.setattr(packages, "__file__", str(here))
    assert install_hint("lab", "tokenizers") == 'pip install "tokenizers>=0.20"'
    assert requirements("lab").items() <= requirements("lm").items()


@pytest.mark.usefixtures("not_installed")
def test_without_any_list_a_hint_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "__file__", "a/b/c/d/e.py")
    assert install_hint("lab", "tokenizers") == 'pip install "tokenizers"'


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "tokenizers")
    with pytest.raises(ImportError) as caught:
        package("tokenizers", "extend")
    said = "this needs the package 'tokenizers': pip install \"tokenizers>=0.20\""
    assert str(caught.value) == said


@pytest.mark.parametrize("missing", ["google", "google.protobuf"])
def test_the_package_that_is_really_missing_is_named(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As sentencepiece does, which does not install protobuf, but imports it."""
    (tmp_path / "needy.py").write_text("import google.protobuf\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    hide(monkeypatch, missing)
    hide(monkeypatch, "google.protobuf")  # another test may have imported it
    with pytest.raises(ImportError) as caught:
        package("needy", "export")
    said = "this needs the package 'protobuf', for needy: pip install \"protobuf>=4\""
    assert str(caught.value) == said


def test_a_broken_package_is_not_called_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.py").write_text("raise ImportError('bad ELF')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError) as caught:
        package("broken", "lab")
    assert "'broken' is installed but cannot be imported (bad ELF)" in str(caught.value)
    assert "--force-reinstall" in str(caught.value)


def test_require_names_all_that_is_missing_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    packages.require("lab", "tokenizers", "jinja2")
    hide(monkeypatch, "tokenizers", "jinja2")
    with pytest.raises(ImportError, match="'tokenizers', 'jinja2': pip install"):
        packages.require("lab", "tokenizers", "matplotlib", "jinja2")


def test_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_installed("numpy") and is_installed("protobuf")
    assert not is_installed("no-such-package") and not is_installed("no.such.package")
    hide(monkeypatch, "google.protobuf")
    assert not is_installed("protobuf")
