"""Before long work: one line on the corpus, the time and the memory; and what is missing."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from commands import COMMAND, documents, good, run
from supratok.cli import estimate
from supratok.cli.estimate import rough_size, rough_time
from supratok.cli.main import main
from supratok.common.machine import Memory


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("estimate") / "corpus.txt"
    path.write_text("\n\n".join(documents()) + "\n", encoding="utf-8")
    return path


def train(corpus: Path | str, out: Path, *more: str) -> list[str]:
    return ["train", str(corpus), "--vocab-size", "400", "--out", str(out), *more]


# --- train


def test_train_says_what_it_will_take(corpus: Path, tmp_path: Path) -> None:
    said = run(*train(corpus, tmp_path / "t.json", "--threads", "2")).stderr.decode()
    size = corpus.stat().st_size
    assert said.startswith(
        f"corpus: {size / 1e3:.1f} kB on disk; training takes about 1 s and 0.2 GB of memory on"
        " 2 cores, within a factor of two\n"
    )


def test_no_estimate_for_programs_or_if_quiet(corpus: Path, tmp_path: Path) -> None:
    assert run(*train(corpus, tmp_path / "t", "--quiet")).stderr == b""
    for line in run(*train(corpus, tmp_path / "t", "--json")).stderr.splitlines():
        assert json.loads(line)["event"] in ("start", "progress", "end", "done")


def test_the_size_of_standard_input_is_not_known(corpus: Path, tmp_path: Path) -> None:
    done = run(*train("-", tmp_path / "t"), stdin=corpus.read_bytes())
    assert done.returncode == 0 and b"corpus:" not in done.stderr


def test_too_little_memory_is_a_warning(
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(estimate, "memory", lambda: Memory(10**9, 10**8))
    assert main(train(corpus, tmp_path / "t")) == 0
    assert "warning: about 0.2 GB of memory are needed and 0.1 GB are" in capsys.readouterr().err
    monkeypatch.setattr(estimate, "memory", lambda: Memory(None, None))
    assert main(train(corpus, tmp_path / "t")) == 0
    assert "warning" not in capsys.readouterr().err


def test_rough_figures() -> None:
    assert [rough_time(s) for s in (0.2, 90, 240, 9000, 9e5)] == [
        "1 s",
        "90 s",
        "4 min",
        "2.5 h",
        "10.4 days",
    ]
    assert [rough_size(n) for n in (500, 3.1e6, 2.1e9)] == ["0.5 kB", "3.1 MB", "2.1 GB"]


# --- What is missing


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("tokenizers", ["bench", "FILE", "--out", "OUT"]),
        ("jinja2", ["bench", "FILE", "--tokenizers", "default", "--out", "OUT"]),
        ("matplotlib", ["bench", "FILE", "--sizes", "400", "500", "--out", "OUT"]),
        ("sentencepiece", ["bench", "FILE", "--tokenizers", "SentencePiece-BPE", "--out", "OUT"]),
        ("optuna", ["tune", "FILE", "--out", "OUT"]),
        ("torch", ["tune", "FILE", "--out", "OUT"]),
        ("jinja2", ["report", "FILE", "--out", "OUT"]),
        ("jinja2", ["tune", "FILE", "--out", "OUT"]),
        ("jinja2", ["inspect", "FILE", "--html", "OUT"]),
        ("tokenizers", ["extend", "FILE", "--base", "FILE", "--add", "5", "--out", "OUT"]),
        ("gguf", ["graft", "FILE", "FILE", "--out", "OUT"]),
        ("gguf", ["export", "FILE", "OUT", "--format", "gguf"]),
        ("google.protobuf", ["export", "FILE", "OUT", "--format", "sentencepiece"]),
        ("matplotlib", ["curate", "FILE", "--picture", "OUT.png"]),
        ("pyarrow", ["train", "FILE.parquet", "--vocab-size", "400", "--out", "OUT"]),
    ],
)
def test_a_missing_package_is_named_before_any_work(
    module: str,
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The file holds no corpus: reading it would be another error."""
    for name in ("FILE", "FILE.parquet"):
        (tmp_path / name).write_bytes(b"\xff")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    assert main(command) == 1
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    name = "protobuf" if module == "google.protobuf" else module
    assert f'pip install "{name}>=' in said.err
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("OUT")]


def test_an_estimate_of_bench_needs_no_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.txt"
    path.write_text("\n\n".join(documents()), encoding="utf-8")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    command = ["bench", str(path), "--sizes", "400", "--out", str(tmp_path / "out"), "--estimate"]
    assert main(command) == 0
    assert "4 rows to compute, 0 finished; about " in capsys.readouterr().err


# --- Narrow terminals


def on_a_terminal(columns: int, *args: object) -> str:
    """The output of a command whose standard output is a terminal so wide."""
    here, there = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *map(str, args)],
        stdout=there,
        stderr=subprocess.PIPE,
        env=os.environ | {"COLUMNS": str(columns), "LINES": "50", "TERM": "xterm", "NO_COLOR": "1"},
    )
    os.close(there)
    parts = []
    while True:
        try:
            data = os.read(here, 65536)
        except OSError:  # Linux: the other end is closed
            break
        if not data:
            break
        parts.append(data)
    os.close(here)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said.decode()
    return b"".join(parts).decode().replace("\r\n", "\n")


def plain_lines(text: str) -> list[str]:
    return [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in text.splitlines()]


def test_bench_fits_a_terminal_of_80_columns(corpus: Path, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    out = tmp_path / "out"
    command = ("bench", corpus, "--tokenizers", "default", "dense", "--sizes", 400, "--out", out)
    good(*command)
    for columns in (80, 40):
        lines = plain_lines(on_a_terminal(columns, *command))
        long = [line for line in lines if len(line) > columns and str(out) not in line]
        assert long == []
        assert any("default 400" in line for line in lines)
        assert any("chars/token" in line for line in lines)
    assert good(*command).decode() == (out / "table.md").read_text(encoding="utf-8")


def test_inspect_at_30_columns(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.json"
    assert main(train(corpus, out, "--quiet")) == 0
    lines = plain_lines(on_a_terminal(30, "inspect", out, "--top", 3))
    start = lines.index("byte")
    assert lines[start + 1 : start + 3] == ["  tokens: 256", "  share: 64.0%"]


@pytest.mark.parametrize("verb", ["count", "mine"])
def test_other_tables_at_40_columns(verb: str, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.json"
    assert main(train(corpus, out, "--quiet")) == 0
    command = ("count", out, corpus) if verb == "count" else ("mine", corpus, "--top", 3)
    lines = plain_lines(on_a_terminal(40, *command))
    first = "tokens" if verb == "count" else "count"
    assert any(re.fullmatch(rf"  {first}: [\d,]+", line) for line in lines)


# --- train --dry-run


def dry_run(corpus: Path | str, folder: Path, *more: str) -> str:
    done = run(*train(corpus, folder / "t.json", "--dry-run", "--threads", "2", *more))
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == b"" and list(folder.iterdir()) == []  # nothing is written
    return done.stderr.decode()


def test_a_dry_run_estimates_from_a_sample(corpus: Path, tmp_path: Path) -> None:
    said = dry_run(corpus, tmp_path)
    size = f"{corpus.stat().st_size / 1e3:.1f} kB"
    assert re.fullmatch(
        rf"corpus: {size} on disk, by a sample of {size}\n"
        r"time: about 1 s on 2 cores, within a factor of two\nmemory: about 0\.2 GB\n"
        r"disk: none, but for the tokenizer\n",
        said,
    )


def test_a_dry_run_knows_where_documents_are_kept(corpus: Path, tmp_path: Path) -> None:
    kept = dry_run(corpus, tmp_path, "--work", str(tmp_path / "work"))
    assert re.search(r"disk: about \d+\.\d kB\n", kept)
    assert "disk: none" in dry_run(corpus, tmp_path, "--reread", "--memory", "1GB")


def test_a_dry_run_of_a_sample_takes_less(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    for number in range(3):
        lines = [json.dumps({"text": text}) for text in documents(number, 4000)]
        path = tmp_path / "corpus" / f"{number}.jsonl"
        path.write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "out").mkdir()

    def disk(*more: str) -> float:
        said = dry_run(tmp_path / "corpus", tmp_path / "out", "--work", "w", *more)
        found = re.search(r"disk: about ([\d.]+) (kB|MB)", said)
        assert found is not None
        return float(found[1]) * (1 if found[2] == "kB" else 1000)

    whole = disk()
    assert whole / 4 < disk("--max-documents", "4000") < whole / 2
    assert disk("--max-bytes", "100kB") == 35


def test_a_dry_run_needs_text(corpus: Path, tmp_path: Path) -> None:
    def said(*arguments: object) -> str:
        done = run("train", *arguments, "--dry-run", "--out", tmp_path / "t.json", stdin=b"a\n")
        assert done.returncode == 1
        return done.stderr.decode()

    assert "no size to estimate from" in said("-")
    assert "--dry-run estimates from text" in said("--counts", corpus)
    (tmp_path / "bad.jsonl").write_text('{"text": 5}\n')
    assert "bad.jsonl, line 1" in said(tmp_path / "bad.jsonl")
    (tmp_path / "bad.jsonl").write_text("")
    assert "the corpus is empty" in said(tmp_path / "bad.jsonl")
