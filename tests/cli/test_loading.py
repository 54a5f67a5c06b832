"""`import supratok` and each verb load what they need and no more."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from supratok import Recipe, train

HEAVY = ("matplotlib", "tokenizers", "torch", "transformers", "sentencepiece", "jinja2", "optuna")
NEEDLESS = (*HEAVY, "rich", "supratok.lab", "supratok.formats", "supratok.extending", "http")
LIST = "; import sys, json; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"


def loaded(code: str) -> list[str]:
    """The modules that a fresh Python holds after some code."""
    done = subprocess.run(
        [sys.executable, "-c", code + LIST], capture_output=True, timeout=60, check=True
    )
    modules = json.loads(done.stderr.splitlines()[-1])
    assert isinstance(modules, list)
    return modules


def among(modules: list[str], names: tuple[str, ...]) -> list[str]:
    return [name for name in modules if any(f"{name}.".startswith(f"{n}.") for n in names)]


def test_importing_the_library_loads_nothing_that_draws_or_measures() -> None:
    modules = loaded("import supratok")
    assert "supratok.common._core" in modules
    slow = ("supratok.cli", "supratok.learn", "numpy", "urllib.request", "importlib.metadata")
    assert among(modules, (*NEEDLESS, *slow)) == []


def test_the_version_is_looked_up_on_demand() -> None:
    assert "importlib.metadata" in loaded("import supratok; assert supratok.__version__")


def test_help_names_every_verb_and_imports_none() -> None:
    code = "from supratok.cli.main import VERBS, main\ntry: main(['--help'])\nexcept SystemExit: 0"
    modules = loaded(f"exec({code!r})")
    assert among(modules, NEEDLESS) == []
    assert among(modules, ("supratok.cli",)) == ["supratok.cli", "supratok.cli.main"]


def test_encode_and_decode_load_neither_lab_nor_rich(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    train(["in New York"] * 9, Recipe(vocab_size=270), progress=False).save(path)
    (tmp_path / "a.txt").write_text("in New York", encoding="utf-8")
    (tmp_path / "ids.txt").write_text("5 6", encoding="utf-8")
    for verb, file in (("encode", "a.txt"), ("decode", "ids.txt")):
        command = [verb, str(path), str(tmp_path / file)]
        modules = loaded(f"from supratok.cli.main import main; assert main({command!r}) == 0")
        assert among(modules, NEEDLESS) == []


@pytest.mark.parametrize("verb", ["train", "count", "prune", "refine", "export", "inspect"])
def test_no_verb_that_does_not_measure_loads_lab(verb: str) -> None:
    code = (
        f"from supratok.cli.main import main\ntry: main([{verb!r}, '--help'])\nexcept SystemExit: 0"
    )
    assert among(loaded(f"exec({code!r})"), ("supratok.lab", *HEAVY)) == []


def test_lists_need_no_numpy(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    train(["in New York"] * 9, Recipe(vocab_size=270), progress=False).save(path)
    code = (
        f"import supratok; t = supratok.Tokenizer.load({str(path)!r});"
        "t.decode_batch(t.encode_batch(['in', 'New'])); t.decode(t.encode('in')); t.count('in')"
    )
    assert among(loaded(code), ("numpy",)) == []
