"""What the README shows runs, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from supratok import Recipe

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


def test_the_tree_names_every_source_file() -> None:
    tree = README.split("## The tree")[1].split("```")[1]
    for path in [*ROOT.glob("src/supratok/*.py"), *ROOT.glob("core/*.?pp")]:
        if not path.name.startswith("_"):
            assert re.search(rf"\b{path.stem}\b", tree), f"{path.name} is not in the tree"


def test_commands_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_the_recipe_is_one(tmp_path: Path) -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    (tmp_path / "r.toml").write_text(block, encoding="utf-8")
    recipe = Recipe.from_toml(tmp_path / "r.toml")
    assert recipe.curation is None and recipe.seeds is not None and recipe.seeds.min_count == 50
