"""`supratok bench`: every tokenizer on a corpus, each row once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from supratok import Recipe, Tokenizer
from supratok.cli.main import main
from supratok.lab.bench import (
    HELD_OUT,
    Bench,
    Entry,
    Row,
    compared,
    entries,
    held_out,
)
from supratok.lab.report.tables import read
from texts import prose

pytest.importorskip("tokenizers")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    texts = [" ".join(prose(seed, 4)) for seed in range(400)]
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path


@pytest.mark.slow
def test_the_command(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    names = ["BPE-Bytes-GPT4o", "BPE-Standard", "default"]
    command = ["bench", str(corpus), "--sizes", "500", "700", "--out", str(out), "--tokenizers"]
    assert main([*command, *names, "--estimate"]) == 0
    said = capsys.readouterr()
    assert said.out == "" and "6 rows to compute, 0 finished" in said.err
    assert main([*command, *names]) == 0
    said = capsys.readouterr()
    table = read(out)
    assert [line[:2] for line in table.lines] == [
        [size, name] for size in ("500", "700") for name in names
    ]
    assert said.out == table.markdown() and table.pictures == ["sweep.svg"]
    assert table.aside == [1, 4]  # it loses text
    assert [line[12][:3] for line in table.lines[:3]] == ["yes", "no:", "yes"]
    assert table.lines[0][4] == "-" and table.lines[2][4].endswith("%")
    report = (out / "report.html").read_text(encoding="utf-8")
    assert "data:image/svg+xml" in report
    for letter, name in zip("FEB", names, strict=True):
        assert f">{letter}</span>&nbsp;<bdi>{name}</bdi>" in report
    best = max((line for line in table.lines[3:] if line[1] != names[1]), key=lambda line: line[2])
    assert (
        table.claim.startswith(f"At 700 tokens, {best[1]} ") and f" {best[2]} char" in table.claim
    )
    assert main([*command, *names]) == 0  # nothing is trained again
    said = capsys.readouterr()
    assert "0 rows to compute, 6 finished" in said.err and "..." not in said.err


def test_a_finished_tokenizer_is_a_row(corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    bench = Bench([corpus], tmp_path / "out", recipes={"plain": plain})
    plain_row = bench.row(Entry("plain", 500))
    Tokenizer.load(plain_row.path).save(file)
    (mine,) = entries([str(file)], [])
    row = bench.row(mine)
    assert row.seconds is None and row.vocab_size == plain_row.vocab_size
    assert row.measured == plain_row.measured
    found = compared(row, plain_row, HELD_OUT)
    assert found is not None and found.value == 0 and found.low == found.high == 0
    assert compared(row, row, HELD_OUT) is None
    assert plain_row.seconds is not None and plain_row.peak_bytes is not None
    assert 0 < plain_row.peak_bytes < 1e9


def plain(size: int) -> Recipe:
    return Recipe(vocab_size=size, crossover=1.0)


def test_no_one_learns_from_held_out_documents(corpus: Path, tmp_path: Path) -> None:
    bench = Bench([corpus], tmp_path / "out")
    texts = [json.loads(line)["text"] for line in corpus.read_text().splitlines()]
    kept = bench.tests[HELD_OUT]
    assert kept == held_out([corpus]) and set(kept) < set(texts)
    assert bench.learnt_from["documents"] <= len(texts) - len(kept)
    given = Bench([corpus], tmp_path / "out", tests={"these": texts[:5]})
    assert given.learnt_from["documents"] == len(texts)


def test_what_is_asked_wrongly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match=r"'nothing\.json': neither a file nor a known tokenizer"):
        entries(["default", "nothing.json"], [500])
    (tmp_path / "c.txt").write_text("one line\n")
    command = ["bench", str(tmp_path / "c.txt"), "--out", str(tmp_path / "out")]
    assert main([*command, "--first", "SuperBPE"]) == 1
    assert "give a baseline and a number" in capsys.readouterr().err
    assert main(command) == 1
    assert "too few documents to hold any out" in capsys.readouterr().err


def test_a_folder_may_hold_rows_of_several_corpora(corpus: Path, tmp_path: Path) -> None:
    part, out, tests = tmp_path / "part.jsonl", tmp_path / "out", {"these": prose(7, 9)}
    part.write_text("".join(corpus.read_text().splitlines(keepends=True)[:100]))
    entry = Entry("plain", 500)

    def row(source: Path) -> Row:
        return Bench([source], out, tests=tests, recipes={"plain": plain}).row(entry)

    first, other, again = row(corpus), row(part), row(corpus)
    assert first.path == again.path != other.path
    assert (first.counts["these"].tokens == again.counts["these"].tokens).all()
    assert first.counts["these"].tokens.sum() == first.measured["these"]["tokens"]
    assert other.measured["these"]["tokens"] != first.measured["these"]["tokens"]
    for path in out.glob("counts/*"):
        path.unlink()
    with pytest.raises(ValueError, match="plain 500 are missing; run with --again"):
        row(corpus)


def test_folders_may_share_trained_baselines(corpus: Path, tmp_path: Path) -> None:
    rows = [
        Bench([corpus], tmp_path / name, cache=tmp_path / "cache").row(Entry("BPE-Standard", 300))
        for name in ("one", "two")
    ]
    assert rows[0].path == rows[1].path and rows[0].seconds == rows[1].seconds
