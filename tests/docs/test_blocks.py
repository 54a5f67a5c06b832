"""Every command and every block of code of the documentation runs, or not_run.py says why not."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import importlib.util
import io
import json
import os
import re
import shlex
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from docs_pages import PAGES, ROOT, Block, blocks_of, spans_of
from not_run import COMMANDS, ELSEWHERE, PACKAGES
from stand_ins import BEFORE, place

from supratok.cli.main import VERBS, _parse, parser_of

HERE = Path(__file__).parent
SLOW = {"tutorial.md", "README.md", "boundaries-model.md", "exports.md", "extend.md", "models.md"}
NAMES = [page.name for page in PAGES]
RUN = [
    pytest.param(page, id=page.name, marks=[pytest.mark.slow] if page.name in SLOW else [])
    for page in PAGES
    if page.name not in ELSEWHERE and any(b.language != "text" for b in blocks_of(page))
]


def not_run(page: str, line: str) -> bool:
    return any(page == name and line.startswith(start) for name, start in COMMANDS)


def to_run(page: Path, block: Block) -> Block | None:
    """The block without what the tables name."""
    for (name, start), package in PACKAGES.items():
        if page.name == name and block.text.startswith(start):
            compile(block.text, page.name, "exec")
            with contextlib.suppress(ModuleNotFoundError):
                if importlib.util.find_spec(package):
                    return block
            return None
    if block.language != "sh":
        return block
    lines = [line for line in block.text.splitlines() if not not_run(page.name, line)]
    return block._replace(text="\n".join(lines) + "\n") if lines else None


def environment(folder: Path) -> dict[str, str]:
    """With `supratok` and `python` of this environment first, and no network."""
    tools = folder / "bin"
    tools.mkdir()
    for name, command in (("supratok", "-m supratok "), ("python", "")):
        (tools / name).write_text(f'#!/bin/sh\nexec {sys.executable} {command}"$@"\n')
        (tools / name).chmod(0o755)
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hf"), "OMP_NUM_THREADS": "1"}
    quiet = {"TRANSFORMERS_VERBOSITY": "error", "COLUMNS": "100", "PYTHONWARNINGS": "ignore"}
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    return os.environ | offline | quiet | {"PATH": path, "PYTHONUTF8": "1"}


@pytest.mark.parametrize("page", RUN)
def test_the_page_runs(page: Path, tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    blocks = [found for block in blocks_of(page) if (found := to_run(page, block))]
    if page.name in BEFORE:
        blocks.insert(0, Block(0, "python", BEFORE[page.name]))
    folder = tmp_path / "page"
    folder.mkdir()
    place(page, folder)
    (tmp_path / "blocks.json").write_text(json.dumps(blocks), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, HERE / "run_blocks.py", tmp_path / "blocks.json"],
        cwd=folder, env=environment(tmp_path), check=False, encoding="utf-8",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, f"{page.name}\n{done.stdout[-4000:]}"


def test_the_tables_hold_nothing_that_is_gone() -> None:
    lines = {
        (page.name, line)
        for page in PAGES
        for block in blocks_of(page)
        for line in block.text.splitlines()
    }
    for name, start in [*COMMANDS, *PACKAGES]:
        assert any(page == name and line.startswith(start) for page, line in lines), (name, start)
    assert NAMES and set(ELSEWHERE) | set(BEFORE) | SLOW <= set(NAMES)


@pytest.mark.parametrize(("page", "start"), COMMANDS, ids=" ".join)
def test_what_is_not_run_is_checked(page: str, start: str) -> None:
    path = next(path for path in PAGES if path.name == page)
    lines = [line for block in blocks_of(path) for line in block.text.splitlines()]
    for line in lines:
        if line.startswith(start):
            check(shlex.split(line.removeprefix("$ "), comments=True))


def check(words: list[str]) -> None:
    """As far as it goes without running it."""
    if words[0] == "supratok":
        parses(words[1:])
    elif words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    elif words[0] == "python" and words[1].startswith("runs/"):
        assert (ROOT / words[1]).is_file()
    elif words[:2] == ["python", "-m"]:
        assert importlib.util.find_spec(words[2])
    elif words[0] == "vllm":
        points = importlib.metadata.entry_points(group="vllm.general_plugins")
        assert words[-1] in {point.name for point in points}
    elif words[0] == "pip":
        assert (ROOT / "pyproject.toml").exists() and words[1] == "install"
    else:
        assert words[:2] == ["git", "clone"]


def parses(words: list[str]) -> None:
    """The real parser takes the command line."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            _parse(words, Namespace(interrupted=""))
    except SystemExit:
        pytest.fail(f"supratok {shlex.join(words)}: {said.getvalue()}")


# --- Commands inside lines: their options exist


@functools.cache
def options_of(verb: str) -> set[str]:
    choices: Any = parser_of([verb])._actions[-1].choices
    return set(choices[verb]._option_string_actions)


def option_names(words: list[str]) -> list[str]:
    return [word.split("=")[0] for word in words if re.match(r"--[a-z]", word)]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_in_lines_have_options_that_exist(page: Path) -> None:
    for span in spans_of(page):
        if found := re.match(r"supratok ([a-z]+)\b(.*)", span):
            verb, rest = found[1], found[2]
            assert verb in {*VERBS, "help"}, span
            if verb != "help":
                known = options_of(verb)
                words = shlex.split(rest.replace("...", ""), comments=True)
                assert [name for name in option_names(words) if name not in known] == [], span


SCRIPTS = re.compile(r"(?:SUPRATOK_DATA=\S+ )?python (runs|tools|benches)/(\w+)\.py\b(.*)")


def named_scripts() -> list[tuple[str, str, str]]:
    """Each script with the options that some page gives it."""
    found: dict[tuple[str, str], set[str]] = {}
    for page in PAGES:
        spans = [*spans_of(page), *(b.text for b in blocks_of(page) if b.language == "sh")]
        for folder, name, rest in SCRIPTS.findall("\n".join(spans)):
            options = re.findall(r"(?<!\S)--[a-z][\w-]*", rest)
            found.setdefault((folder, name), set()).update(options)
    return [(*place, " ".join(sorted(options))) for place, options in sorted(found.items())]


@pytest.mark.parametrize(("folder", "name", "options"), named_scripts())
def test_scripts_exist_and_take_their_options(folder: str, name: str, options: str) -> None:
    path = ROOT / folder / f"{name}.py"
    assert path.exists()
    sources = [path.read_text("utf-8")]
    for shared in ("rows", "english", "lm", "lm_jobs"):  # where scripts get their options from
        if re.search(rf"\b(?:from|import) .*\b{shared}\b", sources[0]):
            sources.append((ROOT / "runs" / f"{shared}.py").read_text("utf-8"))
    known = set(re.findall(r'"(--[a-z][\w-]*)"', "\n".join(sources)))
    assert set(options.split()) <= known, path
