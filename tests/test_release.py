"""What a release promises: one version, pages that the script made, a wheel that works anywhere."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import first_minutes
import supratok

ROOT = Path(__file__).parent.parent
TRANSCRIPT = (ROOT / "docs" / "first-minutes.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def commands(page: str) -> list[str]:
    return re.findall(r"^\$ (.*)$", page, re.MULTILINE)


def test_there_is_one_version() -> None:
    version = PROJECT["project"]["version"]
    assert supratok.__version__ == version
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {version}\n" in citation
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert changelog.startswith(f"# Changelog\n\n## {version} ")
    elsewhere = [
        path
        for path in [*(ROOT / "src").rglob("*.py"), ROOT / "CMakeLists.txt"]
        if f'"{version}"' in path.read_text(encoding="utf-8")
    ]
    assert elsewhere == []


def test_the_transcript_is_the_scripts() -> None:
    """Its commands; the rest differs from machine to machine."""
    wanted = [step.command for step in first_minutes.STEPS]
    found = [re.sub(r"supratok-\S+\.whl", "{wheel}", command) for command in commands(TRANSCRIPT)]
    assert found == wanted
    assert first_minutes.MODEL in TRANSCRIPT
    assert "stopped at '</s>'" in TRANSCRIPT


def test_the_readme_shows_commands_of_the_transcript() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.split("## From your text to a model")[1]
    block = section.split("```")[1].strip().splitlines()
    assert block and set(block) <= set(commands(TRANSCRIPT))


def test_contributing_names_what_exists() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:cli|corpus|formats|tools|tests|docs|learn|lab)/[\w./-]+)`", page):
        places = (ROOT / name, ROOT / "src" / "supratok" / name)
        assert any(place.exists() for place in places), name
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`?make ([\w-]+)", page):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_least_that_a_wheel_must_do() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "smoke.py"], capture_output=True, check=True, text=True
    )
    assert done.stdout.endswith("works\n") and not done.stderr


@pytest.mark.slow
def test_from_an_empty_folder_to_a_model_that_stops() -> None:
    """The wheel of this checkout in an environment of its own, without a compiler."""
    script = [sys.executable, str(ROOT / "tools" / "first_minutes.py"), "--borrow"]
    done = subprocess.run(script, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "stopped at '</s>'" in done.stdout
