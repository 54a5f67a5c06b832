"""Folders and globs: each file once, and what is left out is said, by reason."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from commands import run
from corpora import as_json, message, skips, twice, write
from supratok.corpus import open_corpus


def left_out(source: object, **options: object) -> dict[str, list[str]]:
    """The names of what is left out, without their folders."""
    with open_corpus(source, **options) as corpus:  # type: ignore[arg-type]
        return {why: [Path(name).name for name in names] for why, names in corpus.left_out.items()}


def test_what_a_folder_leaves_out(tmp_path: Path) -> None:
    for name in ("a.txt", "sub/b.py", ".hidden.txt", ".git/c.txt", ".ipynb_checkpoints/x.json"):
        write(tmp_path / name, name.encode())
    for name in ("a.bin", "sub/b.xyz", "README"):
        write(tmp_path / name, b"\0")
    os.mkfifo(tmp_path / "pipe.txt")
    assert twice(tmp_path) == ["a.txt", "sub/b.py"]
    expected = {
        "hidden": [".git", ".hidden.txt", ".ipynb_checkpoints"],
        "of unknown format": ["README", "a.bin", "b.xyz"],
        "no regular file": ["pipe.txt"],
    }
    assert {why: sorted(names) for why, names in left_out(tmp_path).items()} == expected
    with open_corpus(tmp_path) as corpus:
        assert corpus.describe_left_out() == (
            "left out: 3 hidden, 1 no regular file (pipe.txt),"
            " 3 of unknown format (README, a.bin, b.xyz)"
        )
    assert twice(tmp_path / ".hidden.txt") == [".hidden.txt"]  # what is named is read
    assert twice(tmp_path / ".git") == [".git/c.txt"]
    found = message(write(tmp_path / "other" / "x.bin", b"").parent)
    assert "left out: 1 of unknown format (x.bin)" in found and "--format" in found


def test_a_format_for_a_whole_folder(tmp_path: Path) -> None:
    for name, data in (("a.txt", b"one\n"), ("b", b"two\n"), ("c.jsonl", as_json(["three"]))):
        write(tmp_path / name, data)
    write(tmp_path / "d", b"\0")
    assert twice(tmp_path, format="lines") == ["one", "two"]
    expected = {"of another format": ["c.jsonl"], "of unknown format": ["d"]}
    assert left_out(tmp_path, format="lines") == expected
    assert "not one of auto, text" in message(tmp_path, format="words")


def test_each_real_folder_and_file_once(tmp_path: Path) -> None:
    """Links are followed, and loops of them end."""
    write(tmp_path / "data/x/a.txt", b"a")
    write(tmp_path / "data/z.txt", b"z")
    write(tmp_path / "far/b.txt", b"b")
    (tmp_path / "data/loop").symlink_to(tmp_path / "data")
    (tmp_path / "data/x/other").symlink_to(tmp_path / "data")
    (tmp_path / "data/far").symlink_to(tmp_path / "far")
    (tmp_path / "data/again.txt").symlink_to(tmp_path / "data/z.txt")
    for source in (tmp_path / "data", f"{tmp_path}/data/**", f"{tmp_path}/data/**/*.txt"):
        assert twice(source) == ["b", "a", "z"]
    linked = left_out(tmp_path / "data")["read already through a link"]
    assert sorted(linked) == ["again.txt", "loop", "other"]
    assert twice(f"{tmp_path}/**/**/x/*.txt") == ["a"]


def test_globs_do_not_match_hidden_files(tmp_path: Path) -> None:
    for name in ("a.txt", ".b.txt", ".c/d.txt", "e/f.txt"):
        write(tmp_path / name, name.encode())
    assert twice(f"{tmp_path}/**/*.txt") == ["a.txt", "e/f.txt"]
    assert twice(f"{tmp_path}/.*.txt") == [".b.txt"]
    write(tmp_path / "x.bin", b"\0")
    assert left_out(f"{tmp_path}/*") == {"of unknown format": ["x.bin"]}


def test_a_list_of_documents_walks_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "scandir", lambda *_: pytest.fail("walks the disk"))
    for texts in (["/usr/**/zzz* is a pattern", "b"], ["/**/zzz*", "a text"], ["/**/*", "x" * 999]):
        assert twice(texts) == texts


def test_all_records_skipped(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", as_json(["a"] * 500, key="body"))
    assert skips(path)[1] == {"missing key": 500}
    out = tmp_path / "out.json"
    done = run("train", path, "--vocab-size", 400, "--out", out, "--skip-bad", "--quiet")
    said = done.stderr.decode()
    assert done.returncode == 1 and "500 records: missing key" in said and "empty" not in said


def test_quiet_commands_say_what_they_leave_out(tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out.json"
    write(folder / "a.jsonl", as_json(["some words to learn"] * 50) + as_json(["x"] * 3, "body"))
    write(folder / "b.bin", b"\0")
    write(folder / ".c.txt", b"hidden")
    line = "left out: 1 hidden, 1 of unknown format (b.bin), 3 records: missing key\n"
    command = ("train", folder, "--vocab-size", 280, "--out", out, "--skip-bad", "--quiet")
    assert run(*command).stderr.decode() == line
    for verb in (("count", out, folder), ("inspect", out, "--corpus", folder)):
        assert run(*verb, "--skip-bad").stderr.decode().endswith(f": {line}")
    done = run(*command[:-1], "--json").stderr.splitlines()[-1]
    assert json.loads(done)["left_out"] == {"hidden": 1, "of unknown format": 1}
    small = ("prune", out, folder, "--vocab-size", 270, "--out", tmp_path / "small.json")
    assert run(*small, "--skip-bad", "--quiet").stderr.decode() == line
