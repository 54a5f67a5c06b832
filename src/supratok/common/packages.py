"""Optional dependencies: import one, or say which package is missing and how to install it.

The extras and the versions of their packages stand in pyproject.toml alone: what is installed of
supratok knows them. Hints name the packages themselves, since `pip install supratok[lab]` means a
package index, which knows nothing of a checkout or of a wheel in a folder.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
import tomllib
from pathlib import Path
from typing import Any

# What each extra gives; "dev" and "docs" are for the developers of supratok.
EXTRAS = {
    "parquet": "corpora in .parquet files",
    "remote": "corpora at addresses (s3://, gs://, hf://, https://)",
    "ray": "train and tokenize on the machines of a Ray cluster",
    "compare": "compare and count with tokenizer.json, SentencePiece and tiktoken files",
    "export": "export to SentencePiece and to llama.cpp (GGUF), graft, import of .model files",
    "verify": "verify with the programs that read an export: transformers, llama.cpp and others",
    "extend": "extend: new tokens for a Hugging Face tokenizer",
    "play": "the playground, and pages to send around (show --html, inspect --html)",
    "lab": "bench and report: baselines, tables and pictures; curate --picture",
    "lm": "tune, and training language models (supratok.lab.lm)",
}
_MODULES = {"protobuf": "google.protobuf", "llama-cpp-python": "llama_cpp"}  # if not named alike


def package(name: str, extra: str) -> Any:
    """package("tokenizers", "extend") -> the module, or an ImportError with the pip command."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        asked, missing = _distribution(name), _distribution(error.name or "")
        if isinstance(error, ModuleNotFoundError) and missing and not is_installed(missing):
            why = "" if missing == asked else f", for {asked}"
            raise _missing(extra, [missing], why) from error
        raise ImportError(
            f"the package {asked!r} is installed but cannot be imported ({error}):"
            f" {install_hint(extra, asked).replace('install', 'install --force-reinstall', 1)}"
        ) from error


def require(extra: str, *names: str) -> None:
    """Refuse to begin if any of these packages of an extra is missing, without importing them."""
    if absent := [name for name in names if not is_installed(name)]:
        raise _missing(extra, absent)


def install_hint(extra: str, *names: str) -> str:
    """The command that installs these packages of an extra; without names, the missing ones."""
    known = requirements(extra)
    names = names or tuple(name for name in known if not is_installed(name)) or tuple(known)
    # Double quotes, since the shells of Linux, macOS and Windows all know them.
    return " ".join(["pip install", *(f'"{known.get(name, name)}"' for name in names)])


def is_installed(name: str) -> bool:
    """Whether a package is there, by the name that pip knows: "protobuf"."""
    try:
        return importlib.util.find_spec(_MODULES.get(name, name)) is not None
    except (ImportError, ValueError):  # the package around it is missing; a module of a test's own
        return False


@functools.cache
def requirements(extra: str) -> dict[str, str]:
    """The packages of an extra, as pip writes them: {"tokenizers": "tokenizers>=0.20"}."""
    found: dict[str, str] = {}
    for line in _listed().get(extra, []):
        requirement = line.partition(";")[0].strip()  # without the machines that need it
        if others := re.fullmatch(r"supratok\[(.*)\]", requirement):
            for other in others[1].split(","):
                found |= requirements(other.strip())
        elif name := re.match(r"[\w.-]+", requirement):
            found[name[0]] = requirement
    return found


def _listed() -> dict[str, list[str]]:
    """By extra: its requirements, as supratok's installation lists them or, in a checkout that was
    never installed, its pyproject.toml."""
    from importlib.metadata import PackageNotFoundError, requires  # slow: for hints alone

    found: dict[str, list[str]] = {}
    try:
        lines = requires("supratok") or []
    except PackageNotFoundError:
        return _in_checkout()
    for line in lines:
        if extra := re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", line):
            found.setdefault(extra[1], []).append(line)
    return found


def _in_checkout() -> dict[str, list[str]]:
    try:
        text = (Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8")
    except OSError:
        return {}
    found: dict[str, list[str]] = tomllib.loads(text)["project"]["optional-dependencies"]
    return found


def _distribution(module: str) -> str:
    """The package, by the name that pip knows, of a module: "protobuf" of google.protobuf."""
    for name, its in _MODULES.items():
        if its == module or its.startswith(f"{module}.") or module.startswith(f"{its}."):
            return name
    return module.split(".")[0]


def _missing(extra: str, names: list[str], why: str = "") -> ImportError:
    these = "the package" if len(names) == 1 else "the packages"
    listed = ", ".join(map(repr, names))
    return ImportError(f"this needs {these} {listed}{why}: {install_hint(extra, *names)}")
