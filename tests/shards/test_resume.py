"""A run that dies is continued; what has changed, and what is not ours, is refused."""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from made import contents, documents, expected, flat, tokenizer, write_jsonl

import supratok
from commands import run
from supratok import Tokenizer
from supratok.shards import encoding, folder, group
from supratok.shards.check import check
from supratok.shards.formats import FORMATS

pytestmark = pytest.mark.usefixtures("no_waiting_for_the_disk")

MOST = 400


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Three files, one of them empty."""
    texts = documents(7, 300, longest=30)
    write_jsonl(tmp_path / "corpus" / "a.jsonl", texts[:120])
    write_jsonl(tmp_path / "corpus" / "b.jsonl", [])
    write_jsonl(tmp_path / "corpus" / "c.jsonl", texts[120:])
    return tmp_path / "corpus"


def tokenize(source: Any, out: Path, with_: Tokenizer | None = None, **more: Any) -> dict[str, Any]:
    options = {"shard_tokens": MOST, "progress": False, "threads": 1} | more
    return supratok.tokenize(source, with_ or tokenizer(), out, **options)


class Died(Exception):
    pass


def dying(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """The process dies when it has written so many shards and before it has noted the last."""
    real, left = folder.Folder.write_state, [after]

    def write_state(self: folder.Folder, group: str, state: dict[str, Any]) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Died
        real(self, group, state)

    monkeypatch.setattr(folder.Folder, "write_state", write_state)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("by_file", [False, True])
def test_the_same_call_goes_on(
    form: str, by_file: bool, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(encoding, "_BATCH", 700)
    options: dict[str, Any] = {"output_format": form, "by_file": by_file}
    tokenize(corpus, tmp_path / "whole", **options)
    whole = contents(tmp_path / "whole")
    for after in (1, 2, 7, 20):
        out = tmp_path / f"out-{after}"
        with monkeypatch.context() as patch:
            dying(patch, after)
            with pytest.raises(Died):
                tokenize(corpus, out, **options)
        assert not (out / "manifest.json").exists()
        tokenize(corpus, out, **options)
        assert contents(out) == whole


def test_finished_shards_are_not_written_again(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, made = tmp_path / "out", []
    with monkeypatch.context() as patch:
        dying(patch, 6)
        with pytest.raises(Died):
            tokenize(corpus, out)
    real = group._write_shard

    def write_shard(group: Any, number: int, *rest: Any) -> dict[str, Any]:
        made.append(number)
        return real(group, number, *rest)

    monkeypatch.setattr("supratok.shards.group._write_shard", write_shard)
    manifest = tokenize(corpus, out)
    assert made == list(range(5, len(manifest["shards"])))
    assert tokenize(corpus, out) == manifest  # done already
    assert made[-1] == len(manifest["shards"]) - 1 and len(made) == len(set(made))


def test_a_shard_that_is_gone_is_made_again(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenize(corpus, tmp_path / "whole")
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        dying(patch, 9)
        with pytest.raises(Died):
            tokenize(corpus, out)
    (out / "shard-00003.bin").write_bytes(b"half")
    tokenize(corpus, out)
    assert contents(out) == contents(tmp_path / "whole")


def test_skipped_records_are_counted_once(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in sorted(corpus.iterdir()):
        lines = path.read_text("utf-8").splitlines()
        mixed = itertools.chain.from_iterable((line, "nonsense") for line in lines)
        path.write_text("\n".join(mixed), "utf-8")
    whole = tokenize(corpus, tmp_path / "whole", skip_bad=True)
    assert sum(whole["skipped"].values()) == 300
    out = tmp_path / "out"
    for after in (3, 5, 9, 14):
        with monkeypatch.context() as patch, contextlib.suppress(Died):
            dying(patch, after)
            tokenize(corpus, out, skip_bad=True)
    tokenize(corpus, out, skip_bad=True)
    assert contents(out) == contents(tmp_path / "whole")


SLOW = """
import os, sys, time
os.fsync = lambda handle: time.sleep(0.004)
from supratok.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_killed_at_random_moments(corpus: Path, tmp_path: Path) -> None:
    """kill -9 of the command, again and again, some files later each time."""
    tokenizer().save(tmp_path / "t.json")
    out, chance, killed = tmp_path / "out", random.Random(5), 0
    command = ["tokenize", str(tmp_path / "t.json"), str(corpus), "--quiet"]
    command += ["--shard-tokens", "300", "--output-format", "megatron", "--out"]
    for _ in range(12):
        enough = len(list(out.glob("*"))) + chance.randint(1, 12)
        process = subprocess.Popen([sys.executable, "-c", SLOW, *command, str(out)])
        while process.poll() is None and len(list(out.glob("*"))) < enough:
            time.sleep(chance.uniform(0, 0.004))
        process.kill()
        killed += process.wait() == -9
        if (out / "manifest.json").exists():
            break
    assert killed >= 4
    for place in (out, tmp_path / "whole"):
        assert run(*command, place).returncode == 0
    assert contents(out) == contents(tmp_path / "whole")


def test_a_full_disk(corpus: Path, tmp_path: Path) -> None:
    """Files may not grow beyond a limit, which is an error like that of a full disk."""
    pytest.importorskip("resource")
    tokenizer().save(tmp_path / "t.json")
    code = (
        "import resource, sys; from supratok.cli.main import main;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500)); sys.exit(main(sys.argv[1:]))"
    )
    command = ["tokenize", str(tmp_path / "t.json"), str(corpus), "--quiet", "--shard-tokens"]
    for tokens in ("2000", "600"):  # a shard is too large; the state of the group is
        out = tmp_path / tokens
        full = [sys.executable, "-c", code, *command, tokens, "--out", str(out)]
        done = subprocess.run(full, capture_output=True, check=False)
        said = done.stderr.decode()
        assert done.returncode == 1 and said.count("\n") == 1 and "cannot be written" in said
        assert not list(out.glob("*.part")) and not (out / "manifest.json").exists()
        assert run(*command, tokens, "--out", out).returncode == 0
        assert run(*command, tokens, "--out", tmp_path / f"whole-{tokens}").returncode == 0
        assert contents(out) == contents(tmp_path / f"whole-{tokens}")


def test_two_processes(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    held = folder.Folder(out)
    with held.locked(), pytest.raises(ValueError, match="another process works in this folder"):
        tokenize(corpus, out)
    tokenize(corpus, out)
    assert ".lock" not in contents(out)


# --- What has changed


def change_tokenizer(corpus: Path) -> dict[str, Any]:
    return {"with_": tokenizer("<|endoftext|>", "<other>")}


def change_size(corpus: Path) -> dict[str, Any]:
    with (corpus / "c.jsonl").open("a") as file:
        file.write('{"text": "more"}\n')
    return {}


def change_time(corpus: Path) -> dict[str, Any]:
    os.utime(corpus / "a.jsonl", ns=(1, 1))
    return {}


def add_file(corpus: Path) -> dict[str, Any]:
    write_jsonl(corpus / "d.jsonl", ["a"])
    return {}


def rename_file(corpus: Path) -> dict[str, Any]:
    (corpus / "a.jsonl").rename(corpus / "A.jsonl")
    return {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_tokenizer, r"the tokenizer has other tokens \(SHA-256 "),
        (change_size, r"c\.jsonl has [\d,]+ bytes, and had [\d,]+"),
        (change_time, r"a\.jsonl was changed since"),
        (add_file, r"the corpus has 4 files, and had 3"),
        (rename_file, r"file 1 is A\.jsonl, and was a\.jsonl"),
        (lambda _: {"shard_tokens": 1401}, r"the size of a shard is 1,401, and was 400"),
        (lambda _: {"output_format": "megatron"}, r"the format is 'megatron', and was 'numpy'"),
        (lambda _: {"eos": False}, r"ends documents is None, and was '<\|endoftext\|>'"),
        (lambda _: {"by_file": True}, r"whether files are kept apart is True, and was False"),
        (lambda _: {"skip_bad": True}, r"the option skip_bad is True, and was False"),
    ],
)
@pytest.mark.parametrize("finished", [True, False])
def test_what_has_changed_is_said(
    change: Any,
    message: str,
    finished: bool,
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "out"
    with monkeypatch.context() as patch, contextlib.suppress(Died):
        if not finished:
            dying(patch, 4)
        tokenize(corpus, out)
    before = contents(out)
    options = change(corpus)
    with pytest.raises(ValueError, match=message) as caught:
        tokenize(corpus, out, **options)
    assert "another folder, or pass --restart" in str(caught.value)
    assert contents(out) == before
    tokenize(corpus, out, **options, restart=True)
    tokenize(corpus, tmp_path / "new", **options)
    assert contents(out) == contents(tmp_path / "new")


def test_the_path_to_the_corpus_may_change(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = tokenize(corpus, tmp_path / "out")
    monkeypatch.chdir(tmp_path)
    assert tokenize("corpus/*.jsonl", tmp_path / "out") == manifest


def test_texts_are_not_continued(tmp_path: Path) -> None:
    texts = documents(8, 20)
    tokenize(texts, tmp_path / "out")
    with pytest.raises(ValueError, match="the corpus is not all files"):
        tokenize(texts, tmp_path / "out")
    manifest = tokenize(texts, tmp_path / "out", restart=True)
    found = list(itertools.chain(*flat(manifest, tmp_path / "out")))
    assert found == list(itertools.chain(*expected(texts)))


# --- Whose folder it is


def test_a_folder_of_others(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.tex").write_text("years of work", "utf-8")
    for restart in (False, True):
        with pytest.raises(ValueError, match=r"holds other files \(thesis\.tex\)"):
            tokenize(corpus, out, restart=restart)
    assert list(contents(out)) == ["thesis.tex"]
    (out / "thesis.tex").unlink()
    tokenize(corpus, out)
    (out / "notes.txt").write_text("mine", "utf-8")
    (out / "shard-of-mine.bin").write_text("mine", "utf-8")
    tokenize(corpus, out)
    tokenize(corpus, out, restart=True, shard_tokens=10**6)
    assert sorted(contents(out)) == [
        "manifest.json", "notes.txt", "shard-00000.bin", "shard-of-mine.bin",
    ]  # fmt: skip


def test_no_folder(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="a file, and shards are written to a folder"):
        tokenize(corpus, tmp_path / "file")
    with pytest.raises(ValueError, match="cannot write in the folder"):
        tokenize(corpus, tmp_path / "file" / "below")


def test_a_folder_that_cannot_be_written(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("tempfile.TemporaryFile", refused)
    with pytest.raises(ValueError, match=r"cannot write in the folder .*Read-only file system"):
        tokenize(corpus, tmp_path / "out")


def test_killed_while_the_plan_is_written(corpus: Path, tmp_path: Path) -> None:
    tokenize(corpus, tmp_path / "whole")
    out = tmp_path / "out"
    out.mkdir()
    (out / "..plan.json.0123456789abcdef.part").write_text("{", "utf-8")
    tokenize(corpus, out)
    assert contents(out) == contents(tmp_path / "whole")


def test_killed_while_a_run_begins_again(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, left = tmp_path / "out", [5]
    tokenize(corpus, out)
    real = Path.unlink

    def unlink(path: Path, missing_ok: bool = False) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Died
        real(path, missing_ok)

    for _ in range(3):
        left[0] = 5
        with monkeypatch.context() as patch:
            patch.setattr(Path, "unlink", unlink)
            with pytest.raises(Died):
                tokenize(corpus, out, restart=True, shard_tokens=500)
    tokenize(corpus, out, restart=True, shard_tokens=500)
    tokenize(corpus, tmp_path / "whole", shard_tokens=500)
    assert contents(out) == contents(tmp_path / "whole")


# --- Damage


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"format": "supratok-shards", "version": 1}', "\x00" * 50, '{"a": 1}'],
)
@pytest.mark.parametrize("name", ["manifest.json", ".plan.json"])
def test_a_damaged_manifest(text: str, name: str, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / name).write_text(text, "utf-8")
    for restart in (False, True):
        with pytest.raises(ValueError, match=rf"{name}: not written by supratok tokenize, or dam"):
            tokenize(corpus, out, restart=restart)
    with pytest.raises(ValueError, match="damaged"):
        check(out, progress=False)


def test_a_later_version(corpus: Path, tmp_path: Path) -> None:
    manifest = tokenize(corpus, tmp_path / "out")
    text = json.dumps(manifest | {"version": 2})
    (tmp_path / "out" / "manifest.json").write_text(text, "utf-8")
    with pytest.raises(ValueError, match="version 2, and this supratok reads 1; install"):
        tokenize(corpus, tmp_path / "out")


def test_damaged_shards(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    tokenize(corpus, out)
    shard = out / "shard-00002.bin"
    data = shard.read_bytes()
    shard.write_bytes(data[:-2] + b"xx")
    with pytest.raises(ValueError, match=r"shard-00002\.bin: damaged"):
        check(out, progress=False)
    shard.write_bytes(data[:-2])
    with pytest.raises(ValueError, match=r"shard-00002\.bin: has [\d,]+ bytes, where the"):
        check(out, progress=False)
    with pytest.raises(ValueError, match=r"shard-00002\.bin: has [\d,]+ bytes, where the"):
        tokenize(corpus, out)
    shard.unlink()
    with pytest.raises(ValueError, match=r"shard-00002\.bin: is missing"):
        check(out, progress=False)
    shard.write_bytes(data)
    check(out, progress=False)
    shutil.rmtree(out)
    with pytest.raises(ValueError, match=r"no folder of shards, since it has no manifest\.json"):
        check(out, progress=False)
