"""runs/prompt_ends.py measures every figure of a tokenizer."""

from __future__ import annotations

import json
from pathlib import Path

import zstandard

from run_scripts import script
from supratok.lab.report.tables import read
from texts import corpus, small_tokenizer, write_corpus


def test_the_table(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({"ctx": text}) for text in ["in New", "as well as in Paris. The"])
    (tmp_path / "prompts.jsonl.zst").write_bytes(zstandard.compress(lines.encode()))
    small_tokenizer("merges").save(tmp_path / "mine.json")
    write_corpus(tmp_path / "corpus.jsonl.zst", corpus(1, 9))
    given = ["--test", "prompts.jsonl.zst", "--corpus", "corpus.jsonl.zst"]
    given += ["--out", "out", "mine.json"]
    paths = [str(tmp_path / name) if not name.startswith("--") else name for name in given]
    script("prompt_ends").main(paths)
    table = read(tmp_path / "out")
    assert table.head == ["", "mine.json"] and len(table.lines) == 16
    assert all(line[1] for line in table.lines)
    assert table.lines[0][1].endswith(", 0") and not table.lines[0][1].startswith("0")
