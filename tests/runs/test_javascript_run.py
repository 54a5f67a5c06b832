"""runs/javascript.py: ids and texts of a reader in JavaScript are compared with ours."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from run_scripts import script
from supratok import Recipe, train
from supratok.lab.report.tables import read
from texts import multilingual, prose, write_corpus

# Gives each byte its id, and reads them back; so only texts without a token are right.
BYTES = """
export class Tokenizer {
  constructor(tokenizer) { this.first = tokenizer.model.vocab["<0x00>"]; }
  encode(text) { return { ids: [...Buffer.from(text)].map((byte) => this.first + byte) }; }
  decode(ids) { return Buffer.from(ids.map((id) => id - this.first)).toString(); }
}
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_the_table(tmp_path: Path) -> None:
    corpora, export, package = (tmp_path / name for name in ("ml", "export", "package"))
    corpora.mkdir()
    write_corpus(corpora / "xx.jsonl.zst", multilingual(1, 20))
    tokenizer = train(prose(1, 100), Recipe(vocab_size=500), progress=False)
    tokenizer.export(export, ["huggingface"])
    (package / "dist").mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"name": "bytes", "version": "1"}))
    (package / "dist/tokenizers.mjs").write_text(BYTES)
    out = tmp_path / "out"
    given = ["--corpus", corpora, "--package", package, "--lines", 30, "--out", out]
    script("javascript").main([str(export), *map(str, given)])
    (line,) = read(out).lines
    texts, wrong, known, lost = (int(line[place].replace(",", "")) for place in (3, 5, 6, 7))
    assert line[:3] == ["export", "merges", "bytes 1"] and texts > 1000
    assert 0 < known < wrong < texts  # "" and single unknown characters are right
    assert lost == 0
