"""`supratok tokenize` in a subprocess, as a user calls it."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from made import contents, documents, expected, flat, tokenizer, write_jsonl

from commands import COMMAND, good, refused, run

pytestmark = pytest.mark.usefixtures("no_waiting_for_the_disk")

TEXTS = documents(21, 200)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tokenizer, and a corpus of two files."""
    folder = tmp_path_factory.mktemp("made")
    tokenizer().save(folder / "t.json")
    write_jsonl(folder / "corpus" / "a.jsonl", TEXTS[:90])
    write_jsonl(folder / "corpus" / "b.jsonl", TEXTS[90:])
    return folder


def manifest(folder: Path) -> dict[str, object]:
    found = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def test_the_tokenizer_may_stand_anywhere(made: Path, tmp_path: Path) -> None:
    coder, files = made / "t.json", sorted((made / "corpus").iterdir())
    exported = tmp_path / "exported"
    tokenizer().export(exported, ["huggingface"])
    orders: list[list[object]] = [
        [coder, *files, "--out"],
        [*files, coder, "--out"],
        [*files, exported, "--out"],
        ["--tokenizer", coder, *files, "--out"],
        [coder, files[0], "--threads", "1", files[1], "--out"],
    ]
    for number, order in enumerate(orders):
        out = tmp_path / str(number)
        done = run("tokenize", *order, out)
        assert done.returncode == 0, done.stderr.decode()
        assert flat(manifest(out), out) == [list(itertools.chain(*expected(TEXTS)))]
        assert contents(out) == contents(tmp_path / "0")


def test_what_it_says(made: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ["tokenize", made / "t.json", made / "corpus", "--out", out, "--shard-tokens", "9000"]
    said = run(*command).stderr.decode().splitlines()
    tokens = manifest(out)["tokens"]
    assert f"documents 200, tokens {tokens:,}" in said[-2]
    assert said[-1].startswith(f"{out}: 3 shards, 200 documents, {tokens:,} tokens, ")
    again = run(*command).stderr.decode().splitlines()
    assert again[-1].startswith(f"{out}: already done: 3 shards, 200 documents")
    assert run(*command, "--quiet").stderr == b""
    events = [json.loads(line) for line in run(*command, "--restart", "--json").stderr.splitlines()]
    assert [event["event"] for event in events if event["event"] != "progress"] == [
        "start", "end", "done",
    ]  # fmt: skip
    assert events[-1]["tokens"] == tokens and events[-1]["shards"] == 3
    assert "the size of a shard is 100,000,000, and was 9,000" in refused(*command[:-2])


def test_a_check(made: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    good("tokenize", made / "t.json", made / "corpus", "--out", out)
    said = good("tokenize", "--check", out).decode()
    assert said.startswith(f"{out}: 1 shard, 200 documents, ") and "checksums agree" in said
    facts = json.loads(good("tokenize", "--check", out, "--json"))
    assert facts["documents"] == 200 and facts["good"] is True
    data = bytearray((out / "shard-00000.bin").read_bytes())
    data[5] ^= 1
    (out / "shard-00000.bin").write_bytes(data)
    done = run("tokenize", "--check", out, "--quiet")
    assert done.returncode == 1 and b"shard-00000.bin: damaged" in done.stderr


@pytest.mark.parametrize("form", ["numpy", "megatron", "parquet"])
def test_an_estimate(form: str, made: Path, tmp_path: Path) -> None:
    """Of a corpus that is smaller than its sample, it is exact; parquet has a frame besides."""
    pytest.importorskip("pyarrow")
    options = ["--output-format", form]
    command = ["tokenize", made / "t.json", made / "corpus", *options]
    facts = json.loads(good(*command, "--dry-run", "--json"))
    out = tmp_path / form
    good(*command, "--out", out)
    held = manifest(out)
    assert facts["documents"] == 200 and facts["tokens"] == held["tokens"]
    size = held["bytes"]
    assert isinstance(size, int) and facts["bytes"] == pytest.approx(size, rel=0.2)
    said = good(*command, "--dry-run", "--threads", "2").decode()
    assert said.startswith(f"about 200 documents, {held['tokens']:,} tokens, ")
    assert said.endswith("on 2 cores, within a factor of two\n")


def test_what_is_refused(made: Path, tmp_path: Path) -> None:
    coder, corpus, out = made / "t.json", made / "corpus", tmp_path / "out"
    assert "name the tokenizer and the files" in refused("tokenize", "--out", out)
    assert "name the tokenizer and the files" in refused("tokenize", coder, "--out", out)
    assert "not a supratok tokenizer" in refused(
        "tokenize", corpus / "a.jsonl", corpus / "b.jsonl", "--out", out
    )
    assert "no such special token" in refused(
        "tokenize", coder, corpus, "--out", out, "--eos", "</s>"
    )
    assert "no such file" in refused("tokenize", coder, tmp_path / "absent", "--out", out)
    assert "no folder of shards" in refused("tokenize", "--check", tmp_path / "absent")
    assert "have no size to estimate" in refused("tokenize", coder, "-", "--dry-run", stdin=b"a")
    assert not out.exists()
    done = run("tokenize", coder, corpus)
    assert done.returncode == 2 and b"--out" in done.stderr


def test_standard_input(made: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    lines = (made / "corpus" / "a.jsonl").read_bytes()
    good("tokenize", made / "t.json", "-", "--out", out, "--no-eos", stdin=lines)
    (ids,) = flat(manifest(out), out)
    assert ids == list(itertools.chain(*expected(TEXTS[:90], end=None)))


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_while_it_waits_for_input(
    number: signal.Signals, code: int, made: Path, tmp_path: Path
) -> None:
    """A slow source: the shards before stay, nothing is half-written, and the process ends."""
    out = tmp_path / "out"
    command = [*COMMAND, "tokenize", str(made / "t.json"), "-", "--out", str(out), "--json"]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell may have it ignored, for programs in the background.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdin and process.stderr
    process.stdin.write(b'{"text": "a"}\n')
    process.stdin.flush()
    assert b'"start"' in process.stderr.readline()
    os.kill(process.pid, number)
    said = process.communicate(timeout=30)[1]
    assert process.returncode == code
    assert number != signal.SIGINT or said.endswith(b"the same command goes on\n")
    assert list(contents(out)) == [".plan.json"]
