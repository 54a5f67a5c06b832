"""What docs/tokenize.md shows runs."""

from __future__ import annotations

import re
import shlex
import warnings
from pathlib import Path

import pytest
from made import documents, tokenizer, write_jsonl

from supratok.cli.main import main

pytestmark = pytest.mark.usefixtures("no_waiting_for_the_disk")

PAGE = (Path(__file__).parents[2] / "docs" / "tokenize.md").read_text("utf-8")


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tokenizer().save(tmp_path / "my.json")
    write_jsonl(tmp_path / "corpus" / "a.jsonl", documents(31, 50))
    (commands,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for line in commands.replace(".jsonl.zst", ".jsonl").splitlines():
        name, *rest = shlex.split(line, comments=True)
        assert name == "supratok" and main(rest) == 0
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other programs
            for form in ("megatron", "parquet"):
                if f"shards-{form}" in block:
                    pytest.importorskip({"megatron": "megatron.core", "parquet": "datasets"}[form])
                    command = ["tokenize", "my.json", "corpus", "--output-format", form, "--out"]
                    assert main([*command, f"shards-{form}"]) == 0
            if "import load_dataset" in block:
                monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
            exec(compile(block, "tokenize.md", "exec"), names)
