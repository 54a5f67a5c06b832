"""runs/encoders.py: every program with the same ids, or a word why not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from run_scripts import script
from supratok import Recipe, train
from supratok.lab.report.tables import read
from texts import prose


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder, and a tokenizer of each rule in it."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "test/wikitext103").mkdir(parents=True)
    for name in ("valid", "test"):
        path = folder / f"test/wikitext103/wiki.{name}.raw"
        path.write_text("\n".join(prose(3, 40)) + "\nnaïve 日本 😀", encoding="utf-8")
    train(prose(1, 200), Recipe(vocab_size=600), progress=False).save(folder / "merges.json")
    train(prose(1, 200), Recipe.dense(600), progress=False).save(folder / "fewest.json")
    return folder


def test_the_tables(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["supratok, arrays", "supratok", "tokenizers", "bpe-openai"]
    given = [str(files / "merges.json"), "--texts", "English", "--repeats", "1", "--only", *names]
    given += ["--test", str(files), "--out", str(tmp_path)]
    script("encoders").main(given)
    for form in ("text", "lines"):
        table = read(tmp_path / f"merges-{form}")
        assert table.head == ["program", "English"]
        assert [line[0] for line in table.lines] == names[:3]
        assert all(float(line[1].split(" ")[0]) > 0 for line in table.lines)
        assert not any("differs" in line[1] for line in table.lines)
        assert any(note.startswith("bpe-openai: ") for note in table.notes)
        assert any(note.startswith("tokenizers 0.") for note in table.notes)
    capsys.readouterr()
    script("encoders").main(given)
    assert capsys.readouterr().err == ""  # nothing is measured again


@pytest.mark.parametrize("program", ["tokenizers", "sentencepiece", "tiktoken", "supratok"])
@pytest.mark.parametrize("rule", ["merges", "fewest"])
def test_programs_give_our_ids(rule: str, program: str, files: Path, tmp_path: Path) -> None:
    pytest.importorskip(program)
    programs, encoders = script("programs"), script("encoders")
    vocabulary = encoders.vocabulary_of(files / f"{rule}.json", tmp_path)
    text = files / "test/wikitext103/wiki.test.raw"
    given = {"vocabulary": str(vocabulary), "text": str(text), "by_line": False}
    for name in ("supratok, arrays", program):
        found = programs.measure(name, out=str(tmp_path / name), **given)
        if (name, rule) == ("tiktoken", "fewest"):
            assert found == {"refused": "has the rule of merges only, over bytes"}
        else:
            assert found["seconds"] > 0
            assert encoders.differing(tmp_path / "supratok, arrays", tmp_path / name) == 0


def test_differing_ids_are_counted_and_programs_that_fail_are_named(tmp_path: Path) -> None:
    encoders = script("encoders")
    for name, ids in (("a", [1, 2, 3]), ("b", [1, 2, 9, 9]), ("c", [3, 2, 1])):
        np.array(ids, dtype=np.uint32).tofile(tmp_path / name)
    found = [encoders.differing(tmp_path / "a", tmp_path / name) for name in "abc"]
    assert found == [0, 1, 1]
    runs = {"one": [{"seconds": 0.5, "differ": 0}, {"seconds": 0.25, "differ": 7}],
            "two": [{"failed": "over 120 s"}, {"seconds": 1.0, "differ": 0}]}  # fmt: skip
    assert encoders.cells(runs, 1_000_000) == {
        "one": "3 (2-4) differs: 7",
        "two": "over 120 s",
    }
    theirs = tmp_path / "theirs.json"
    theirs.write_text(json.dumps({"model": {"type": "BPE"}}))
    assert encoders.vocabulary_of(theirs, tmp_path) == theirs
