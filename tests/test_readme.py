"""What the README shows runs, and what it names is there."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import pytest

import supratok
from supratok import Recipe, Token, Tokenizer
from supratok.cli.main import EXIT_CODES

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON_BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_there_is_python_to_run() -> None:
    assert PYTHON_BLOCKS


@pytest.mark.parametrize("block", PYTHON_BLOCKS)
def test_python_blocks_run(block: str) -> None:
    exec(compile(block, "README.md", "exec"), {})


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_links_lead_somewhere(link: str) -> None:
    assert (ROOT / link).exists()


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SOURCE = re.compile(
    r"\b(?:core|cli|common|corpus|extending|formats|lab|learn|reference|runs|tests|tokenizer)"
    r"/[\w/]+\.(?:py|hpp|cpp)\b"
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_name_files_that_exist(page: Path) -> None:
    named = set(SOURCE.findall(page.read_text(encoding="utf-8")))
    folders = (ROOT, ROOT / "src" / "supratok")
    assert [name for name in named if not any((f / name).exists() for f in folders)] == []


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 130


def test_the_worked_example() -> None:
    texts = json.loads(next(line for line in re.findall(r"`(\[.*?\])`", README)))
    tokens = [Token(text, 1, "alphabet" if len(text) == 1 else "multiword") for text in texts]
    tokenizer = Tokenizer(tokens, Recipe(vocab_size=256 + len(tokens)))
    assert [(piece.text, piece.parts) for piece in tokenizer.explain("ab ab")] == [
        ("ab ab", ("ab", " ab"))
    ]
    assert tokenizer.tokens("ab  ab") == ["ab", " ", " ab"]


def test_commands_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_the_recipe_is_one(tmp_path: Path) -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    (tmp_path / "r.toml").write_text(block, encoding="utf-8")
    recipe = Recipe.from_toml(tmp_path / "r.toml")
    assert recipe.curation is None and recipe.seeds is not None and recipe.seeds.min_count == 50


LIBRARY = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")


def test_the_page_of_the_library_runs() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", LIBRARY, re.DOTALL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(block, "library.md", "exec"), {})


def test_the_page_of_the_library_names_everything() -> None:
    names = [*supratok.__all__, *(name for name in dir(Tokenizer) if not name.startswith("_"))]
    assert [name for name in names if not re.search(rf"\b{name}\b", LIBRARY)] == []


def test_the_page_of_the_command_has_the_exit_codes() -> None:
    page = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
    codes = re.findall(r"\b(\d+) ", EXIT_CODES)
    assert codes == ["0", "1", "2", "130", "141", "143"]
    assert all(re.search(rf"\b{code}:", page) for code in codes)
