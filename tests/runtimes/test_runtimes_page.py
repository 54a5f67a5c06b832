"""What docs/runtimes.md shows runs."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import supratok
from texts import small_tokenizer

PAGE = (Path(__file__).parents[2] / "docs" / "runtimes.md").read_text("utf-8")
PROGRAM = """
import sys
from transformers import AutoTokenizer
assert __name__ == "__main__" and sys.argv[1:] == ["--model", "my-model"]
tokenizer = AutoTokenizer.from_pretrained("my-model")
assert "_supratok" in tokenizer._tokenizer.__dict__
"""


def test_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("transformers")
    monkeypatch.chdir(tmp_path)
    small_tokenizer("merges").export("my-model", ["huggingface"], eos="</s>", pad="<pad>")
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        try:
            exec(compile(block, "runtimes.md", "exec"), {})
        finally:
            supratok.unpatch_transformers()
    assert capsys.readouterr().out == "in New York 🝮\n"


def test_the_command_runs(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    small_tokenizer("merges").export(tmp_path / "my-model", ["huggingface"])
    (tmp_path / "my_program.py").write_text(PROGRAM)
    (command,) = re.findall(r"```sh\n(python .*?)```", PAGE, re.DOTALL)
    name, *rest = shlex.split(command, comments=True)
    assert name == "python"
    subprocess.run([sys.executable, *rest], check=True, cwd=tmp_path)
    bare = [sys.executable, "-m", "supratok.runtimes"]
    said = subprocess.run(bare, capture_output=True, text=True, cwd=tmp_path)
    assert said.returncode == 1 and said.stderr.startswith("usage: ")
