"""`supratok doctor`: check the installation; the first thing to send with a question.

supratok doctor
supratok doctor --json
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from .. import Recipe, Tokenizer, train
from ..common.machine import memory
from ..common.packages import EXTRAS, install_hint, is_installed, requirements
from ..common.threads import usable_threads
from .common import print_line

_TEXTS = [
    "in New York as well as in order to see one of the most",
    "Naïve 日本語 😀\r\n\n\ttabs  and \ufeff spaces",
    "",
]
_BASE = ("numpy", "rich", "zstandard")


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print JSON (default: lines of text)")


def run(args: argparse.Namespace) -> None:
    """Raises ValueError, after all else, if the base does not work."""
    facts = found()
    if args.json:
        print_line(json.dumps(facts))
    else:
        for line in _lines(facts):
            print_line(line)
    if facts["problem"]:
        raise ValueError(f"{facts['problem']}; reinstall supratok")


def found() -> dict[str, Any]:
    """All that doctor prints."""
    space = memory()
    folder = tempfile.gettempdir()
    return {
        "supratok": _version("supratok"),
        "folder": str(Path(__file__).parents[1]),
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in _BASE},
        "cores": usable_threads(None),
        "cores_of_the_machine": os.cpu_count(),
        "memory": space.total,
        "memory_available": space.available,
        "temporary_folder": folder,
        "disk_free": shutil.disk_usage(folder).free,
        "extras": {extra: _extra(extra) for extra in EXTRAS},
        "problem": self_test(),
    }


def _extra(extra: str) -> dict[str, Any]:
    versions = {name: _version(name) for name in requirements(extra)}
    absent = [name for name in versions if not is_installed(name)]
    return {
        "gives": EXTRAS[extra],
        "packages": versions,
        "missing": absent,
        "install": install_hint(extra, *absent) if absent else None,
    }


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def self_test() -> str:
    """Train a tiny tokenizer in memory, and encode and decode. Returns what went wrong, or "".

    Whatever it raises is a finding here, so it catches every error."""
    try:
        tokenizer = train(_TEXTS * 20, Recipe(vocab_size=300), progress=False)
        return _round_trip(tokenizer)
    except Exception as error:
        return f"training failed: {type(error).__name__}: {error}"


def _round_trip(tokenizer: Tokenizer) -> str:
    for text in _TEXTS:
        if tokenizer.decode(tokenizer.encode(text)) != text:
            return f"{text!r} is another text once it is encoded and decoded"
    return ""


# --- For people --------------------------------------------------------------------------------


def _lines(facts: dict[str, Any]) -> list[str]:
    packages = ", ".join(f"{name} {version}" for name, version in facts["packages"].items())
    cores = f"{facts['cores']} usable of {facts['cores_of_the_machine'] or 'an unknown number'}"
    lines = [
        f"supratok {facts['supratok'] or '(not installed)'} in {facts['folder']}",
        f"Python {facts['python']} ({facts['executable']})",
        f"platform: {facts['platform']}",
        f"packages: {packages}",
        f"cores: {cores}",
        f"memory: {_size(facts['memory'])}, {_size(facts['memory_available'])} available",
        f"temporary folder: {facts['temporary_folder']}, {_size(facts['disk_free'])} free",
        "",
        "Extras, the packages that some commands need:",
        *(line for name, extra in facts["extras"].items() for line in _extra_lines(name, extra)),
        "",
    ]
    works = "training, encoding and decoding work"
    return [*lines, f"self-test: {facts['problem'] or works}"]


def _extra_lines(name: str, extra: dict[str, Any]) -> list[str]:
    lines = [f"{name}: {'missing' if extra['missing'] else 'installed'}; for {extra['gives']}"]
    if extra["missing"]:
        lines += [f"  missing: {', '.join(extra['missing'])}", f"  {extra['install']}"]
    return lines


def _size(size: int | None) -> str:
    return "unknown" if size is None else f"{size / 1e9:,.1f} GB"
