"""The bound beside tokenizers that were trained on the same sample; tokens that are hardly used."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from run_scripts import SIZE, script
from supratok import Recipe, train
from supratok.formats.peer import open_any
from supratok.lab.baselines import trained
from supratok.lab.report.tables import figure, read
from supratok.tokenizer import BYTES
from texts import prose, write_corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "en.jsonl.zst"
    write_corpus(path, [*prose(1, 300), "naïve: not of ASCII"])
    return path


def test_no_tokenizer_is_below_its_bound(corpus: Path, tmp_path: Path) -> None:
    given = ["--corpus", str(corpus), "--out", str(tmp_path), "--samples", "20000"]
    given += ["--every", "200", "--rounds", "150", "--whole", "50"]
    script("bound").main(given)
    table = read(tmp_path)
    assert [line[3] for line in table.lines[:-1]] == list(script("bound").KINDS)
    whole = table.lines.pop()
    assert whole[3] == "BPE inside our words" and (figure(whole[7]) or -1) >= 0
    for line in table.lines:
        more = figure(line[7])
        assert more is not None and more >= 0, line
        own, any_string = figure(line[6]), figure(line[8])
        assert own is not None and any_string is not None and own <= 1.02 * any_string
    kept = (tmp_path / "rows.jsonl").read_bytes()
    script("bound").main(given)
    assert (tmp_path / "rows.jsonl").read_bytes() == kept  # nothing is computed twice


def test_the_sample_is_ascii_and_leaves_out_what_training_holds_out(
    corpus: Path, tmp_path: Path
) -> None:
    sample = script("bound").Sample(corpus, 10**9, tmp_path)
    assert all(text.isascii() for text in sample.documents)
    assert len(sample.documents) == 300 > len(sample.learnt) > 200
    tokenizer = train(
        sample.file, script("bound").recipe_of("balanced", sample, 100), progress=False
    )
    assert tokenizer.vocab_size == BYTES + sample.alphabet + 100
    assert tokenizer.report["trained_on"] == len(sample.learnt)
    for kind in ("any string", "the rules of dense", "inside our words", "inside pieces"):
        assert sample.text(kind).size == sample.size


def test_residues(corpus: Path, tmp_path: Path) -> None:
    given = ["--corpus", str(corpus), "--out", str(tmp_path), "--sizes", str(SIZE)]
    script("residues").main([*given, "--only", "default", "dense", "BPE-Bytes-GPT4o"])
    default, dense, bpe = read(tmp_path).lines
    for line in (default, dense, bpe):
        rare = [figure(cell) for cell in line[2:5]]
        assert rare == sorted(rare, key=lambda value: value or 0)
    assert dense[5] == "0"  # under fewest no token needs another
    assert bpe[9:] == ["-", "-", "-"] and all(figure(cell) for cell in default[8:11])
    phrases = [int(number.replace(",", "")) for number in default[11].split(", ")]
    assert len(phrases) == 3 and min(phrases) > 0 and max(phrases) < SIZE - BYTES
    learnt = SIZE - BYTES
    assert figure(bpe[1]) == learnt


def test_learnt_tokens_and_parts_by_hand(tmp_path: Path, corpus: Path) -> None:
    learnt_by = script("residues").learnt_by
    tokenizer = train(["ab abc ab abc abd"] * 40, Recipe(vocab_size=270), progress=False)
    tokenizer.save(tmp_path / "ours.json")
    found = learnt_by(open_any(tmp_path / "ours.json"), tmp_path / "ours.json")
    texts = {tokenizer.token_text(int(id)): bool(part)
             for id, part in zip(found.ids, found.parts, strict=True)}  # fmt: skip
    assert all(len(text) > 1 for text in texts)
    for text, is_part in texts.items():
        assert is_part <= any(text != other and text in other for other in texts)
    peer = trained("BPE-Bytes-GPT4o", corpus, SIZE, tmp_path / "baselines")
    merges = json.loads(peer.path.read_text("utf-8"))["model"]["merges"]
    other = learnt_by(peer.peer, peer.path)
    assert len(other.ids) == len(merges) == len(np.unique(other.ids))
