"""What commands write: never over what they read, into links and pipes, to standard output."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from commands import COMMAND, documents, good, refused, run
from supratok import Recipe, Tokenizer, train


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus and a tokenizer, which the tests copy."""
    folder = tmp_path_factory.mktemp("outputs")
    lines = "".join(json.dumps({"text": text}) + "\n" for text in documents())
    (folder / "c.jsonl").write_text(lines, encoding="utf-8")
    train(documents(), Recipe(vocab_size=450), progress=False).save(folder / "t.json")
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    for file in made.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


Command: TypeAlias = Callable[[Path, Path], tuple[object, ...]]

COMMANDS: dict[str, Command] = {
    "train": lambda f, out: ("train", f / "c.jsonl", "--vocab-size", 400, "--out", out),
    "train a folder": lambda f, out: ("train", f, "--vocab-size", 400, "--out", out),
    "train a glob": lambda f, out: ("train", f"{f}/*.jsonl", "--vocab-size", 400, "--out", out),
    "curate": lambda f, out: ("curate", f / "c.jsonl", "--out", out),
    "mine": lambda f, out: ("mine", f / "c.jsonl", "--out", out),
    "prune": lambda f, out: (
        ("prune", f / "t.json", f / "c.jsonl", "--vocab-size", 400, "--out", out)
    ),
    "refine": lambda f, out: ("refine", f / "t.json", f / "c.jsonl", "--out", out),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_no_command_writes_over_its_corpus(folder: Path, command: Command) -> None:
    corpus = folder / "c.jsonl"
    before = corpus.read_bytes()
    (folder / "sub").mkdir()
    (folder / "sub" / "link.jsonl").symlink_to(corpus)
    (folder / "sub" / "hard.jsonl").hardlink_to(corpus)
    others = ("sub/link.jsonl", "sub/../c.jsonl", "sub/hard.jsonl")
    for out in (corpus, *(folder / name for name in others)):
        assert "this file is also read" in refused(*command(folder, out))
    assert corpus.read_bytes() == before


def test_no_command_writes_over_its_tokenizer(folder: Path) -> None:
    tokenizer = folder / "t.json"
    before = tokenizer.read_bytes()
    small = ("prune", tokenizer, folder / "c.jsonl", "--vocab-size", 400)
    assert "also read" in refused(*small, "--out", tokenizer)
    assert "also read" in refused("refine", tokenizer, folder / "c.jsonl", "--out", tokenizer)
    assert "also read" in refused("import", tokenizer, "--out", tokenizer)
    assert "also read" in refused("graft", "x.gguf", tokenizer, "--out", tokenizer)
    tokenizer.rename(folder / "supratok.json")
    (folder / "link").symlink_to(folder)
    for read in (folder / "supratok.json", folder):
        said = refused("export", read, folder / "link", "--format", "huggingface")
        assert "supratok.json: this file is also read" in said
    assert (folder / "supratok.json").read_bytes() == before


def test_lab_folders_with_an_input(folder: Path) -> None:
    for name in ("rows.jsonl", "table.json"):
        (folder / name).write_bytes((folder / "c.jsonl").read_bytes())
        if name == "table.json":
            said = refused("tune", folder / name, "--out", folder)
            assert f"{name}: this file is also read" in said
            said = refused("report", folder, "--out", folder / name)
            assert "this file is also read" in said
        said = refused("bench", folder / name, "--out", folder)
        assert f"{name}: this file is also read" in said
        assert (folder / name).read_bytes() == (folder / "c.jsonl").read_bytes()


def test_standard_output(folder: Path) -> None:
    """The result alone, the same as in a file; the summary goes to standard error."""
    before = names(folder)
    for name in ("train", "prune", "refine", "curate", "mine"):
        suffix = "jsonl" if name == "curate" else "json"
        out = folder / f"out.{suffix}"
        done = run(*COMMANDS[name](folder, Path("-")))
        assert done.returncode == 0 and done.stderr, done.stderr.decode()
        good(*COMMANDS[name](folder, out))
        assert done.stdout == out.read_bytes()
        out.unlink()
    said = refused("graft", "x.gguf", folder / "t.json", "--out", "-")
    assert "--out -" in said and "name a file" in said
    assert names(folder) == before and not Path("-").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_and_a_link(folder: Path) -> None:
    pipe, link = folder / "pipe", folder / "link.json"
    os.mkfifo(pipe)
    link.symlink_to(folder / "target.json")
    good(*COMMANDS["train"](folder, link))
    with subprocess.Popen([*COMMAND, *map(str, COMMANDS["train"](folder, pipe))]) as process:
        data = pipe.read_bytes()
        assert process.wait(timeout=60) == 0
    assert link.is_symlink() and (folder / "target.json").read_bytes() == data
    assert pipe.is_fifo()


def test_saving_into_a_missing_folder_names_the_path(folder: Path) -> None:
    tokenizer = Tokenizer.load(folder / "t.json")
    with pytest.raises(FileNotFoundError, match="create its folder") as caught:
        tokenizer.save(folder / "no" / "t.json")
    assert caught.value.filename == str(folder / "no" / "t.json")


def test_sigterm_leaves_nothing_behind(folder: Path) -> None:
    """Standard input never ends, so that the copy of it and the output are surely unfinished."""
    command = [*COMMAND, "curate", "-", "--out", str(folder / "out.jsonl")]
    before = names(folder)
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(folder)},
    ) as process:
        assert process.stdin is not None
        process.stdin.write((folder / "c.jsonl").read_bytes() * 100)
        process.stdin.flush()
        while names(folder) == before and process.poll() is None:
            time.sleep(0.01)
        for _ in range(50):  # a signal just before a blocking read shows only after some input
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=0.2)
                break
            except subprocess.TimeoutExpired:
                with contextlib.suppress(BrokenPipeError):  # it ended in between
                    process.stdin.write((folder / "c.jsonl").read_bytes())
                    process.stdin.flush()
        assert process.wait(timeout=20) == 143
        process.stdin.close()
    assert names(folder) == before
