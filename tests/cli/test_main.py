"""The command in a subprocess, as a user runs it: its output, its messages, its exit codes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from commands import COMMAND, ODD, documents, good, refused, run
from supratok import Boundaries, Recipe, Tokenizer, train
from supratok.cli.compare import sample_lines
from supratok.cli.main import VERBS, main
from supratok.corpus import open_corpus


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus, a tokenizer trained on it, and a file of odd text."""
    folder = tmp_path_factory.mktemp("cli")
    (folder / "corpus.txt").write_text("\n\n".join(documents()) + "\n", encoding="utf-8")
    recipe = Recipe(vocab_size=450, special_tokens=("<|end|>",))
    train(documents(), recipe, progress=False).save(folder / "t.json")
    (folder / "odd.txt").write_bytes(ODD.encode())
    return folder


# --- train


def test_train_writes_a_tokenizer_and_says_what_it_learnt(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    options = ("--segmentation", "fewest", "--boundaries", "careful", "--threads", 1)
    more = ("--character-coverage", 0.99, "--special-token", "<a>", "--special-token", "<b>")
    done = run("train", folder / "corpus.txt", "--vocab-size", 450, "--out", out, *options, *more)
    assert (done.returncode, done.stdout) == (0, b""), done.stderr.decode()
    said = done.stderr.decode()
    for part in (f"{out}: 450 tokens", "crossover", "phrases: ", "characters per token", "words"):
        assert part in said
    tokenizer = Tokenizer.load(out)
    assert tokenizer.vocab_size == 450
    assert tokenizer.recipe.segmentation == "fewest"
    assert tokenizer.recipe.boundaries.cross_sentence is False
    assert tokenizer.recipe.character_coverage == 0.99
    assert tokenizer.recipe.special_tokens == ("<a>", "<b>")


@pytest.mark.parametrize("name", ["open", "careful", "clauses"])
def test_train_with_boundaries_by_name(folder: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / "out.json"
    good("train", folder / "corpus.txt", "--vocab-size", 450, "--boundaries", name, "--out", out)
    assert Tokenizer.load(out).recipe.boundaries == getattr(Boundaries, name)()


def test_train_with_a_share_of_the_saving(folder: Path, tmp_path: Path) -> None:
    out, file = tmp_path / "out.json", folder / "corpus.txt"
    command = ("train", file, "--vocab-size", 450, "--preset", "balanced", "--out", out)
    said = run(*command, "--saving", 0.5).stderr.decode()
    assert "phrases save 50% of the tokens that they could (--saving)" in said
    assert Tokenizer.load(out).recipe == Recipe(vocab_size=450, saving=0.5)
    plain = run(*command)
    assert plain.returncode == 0 and b"that they could" not in plain.stderr  # it has a price
    assert "saving=2.0: a share" in refused(*command, "--saving", 2)


def test_a_vocabulary_that_falls_short_is_said_with_the_reason(tmp_path: Path) -> None:
    path, out = tmp_path / "c.txt", tmp_path / "t.json"
    path.write_text("one two three\n" * 9, encoding="utf-8")
    said = run("train", path, "--vocab-size", 5000, "--out", out).stderr.decode()
    found = Tokenizer.load(out).vocab_size
    assert found < 300
    line = next(line for line in said.splitlines() if line.startswith("warning: "))
    assert f"5,000 tokens were asked for and {found} found: no other pair" in line
    assert "train on more text" in line
    quiet = run("train", path, "--vocab-size", 5000, "--out", out, "--quiet").stderr.decode()
    assert quiet == f"{line}\n"
    said = run("train", path, "--vocab-size", 270, "--out", out).stderr.decode()
    assert "warning" not in said


def test_quiet_says_nothing_and_the_threads_change_nothing(folder: Path, tmp_path: Path) -> None:
    for threads in (1, 2):
        out = tmp_path / f"{threads}.json"
        command = ("train", folder / "corpus.txt", "--vocab-size", 450, "--out", out)
        done = run(*command, "--threads", threads, "--quiet")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes()


def test_json_events_end_with_done(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    command = ("train", folder / "corpus.txt", "--vocab-size", 450, "--out", out)
    done = run(*command, "--crossover", 0.2, "--json")
    assert done.returncode == 0
    events: list[dict[str, Any]] = [json.loads(line) for line in done.stderr.splitlines()]
    assert {event["event"] for event in events[:-1]} == {"start", "progress", "end"}
    phases = [event["phase"] for event in events if event["event"] == "start"]
    assert phases == [event["phase"] for event in events if event["event"] == "end"]
    assert events[-1]["event"] == "done"
    assert events[-1]["out"] == str(out)
    assert events[-1]["vocab_size"] == 450
    assert events[-1]["report"] == Tokenizer.load(out).report


def test_bad_records_are_refused_or_counted(tmp_path: Path) -> None:
    path, out = tmp_path / "c.jsonl", tmp_path / "out.json"
    records = [json.dumps({"body": text}) for text in documents()]
    path.write_text("\n".join([*records, "{broken", '{"other": 1}']), encoding="utf-8")
    command = ("train", path, "--vocab-size", 400, "--out", out, "--text-key", "body")
    said = run(*command).stderr.decode()
    assert f"{path}, line 301: malformed JSON" in said and "--skip-bad" in said
    assert not out.exists()
    said = run(*command, "--skip-bad").stderr.decode()
    assert "skipped records: 2 (malformed JSON 1, missing key 1)" in said


def test_whole_files_and_standard_input(folder: Path, tmp_path: Path) -> None:
    corpus, out = folder / "corpus.txt", tmp_path / "out.json"
    command = ("--vocab-size", 400, "--out", out, "--quiet")
    good("train", corpus, *command, "--whole-files")
    assert Tokenizer.load(out).report["documents"] == 1
    good("train", "-", *command, stdin=corpus.read_bytes())
    assert Tokenizer.load(out).report["documents"] == 300


def test_train_refuses_bad_options_before_it_reads(folder: Path, tmp_path: Path) -> None:
    """Before it reads the corpus: the one named here does not exist."""
    out = tmp_path / "out.json"
    absent = ("train", tmp_path / "absent.txt")
    assert "vocab_size=100" in refused(*absent, "--vocab-size", 100, "--out", out)
    assert "crossover=2.0" in refused(*absent, "--vocab-size", 400, "--crossover", 2, "--out", out)
    assert "threads=0" in refused(*absent, "--vocab-size", 400, "--threads", 0, "--out", out)
    for bad, why in ((tmp_path / "no" / "x", "cannot write in the folder"), (tmp_path, "a folder")):
        assert why in refused(*absent, "--vocab-size", 400, "--out", bad)
    assert "no such file" in refused(*absent, "--vocab-size", 400, "--out", out)
    empty = tmp_path / "empty.txt"
    empty.write_text("\n\n", encoding="utf-8")
    said = run("train", empty, "--vocab-size", 400, "--out", out, "--quiet").stderr.decode()
    assert said.startswith("supratok: error: the corpus is empty")
    assert list(tmp_path.iterdir()) == [empty]


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("fly",),
        ("train", "x.txt"),
        ("train", "x.txt", "--out", "x.json", "--vocab-size", "many"),
        ("train", "x.txt", "--out", "x.json", "--vocab-size", "400", "--quiet", "--json"),
        ("count", "x.json", "x.txt", "--no-such-option"),
        ("encode", "x.json", "--lines", "x.txt", "--no-such-option"),
        ("inspect", "x.json", "x.txt"),
    ],
)
def test_a_misspelt_command_exits_with_2(args: tuple[str, ...]) -> None:
    done = run(*args)
    assert done.returncode == 2
    assert b"usage: supratok" in done.stderr and b"Traceback" not in done.stderr


def test_version() -> None:
    assert good("--version").startswith(b"supratok ")


def test_help_names_the_verbs_and_the_exit_codes() -> None:
    codes = b"0 success, 1 error, 2 wrong usage, 130 interrupted (Ctrl-C), 141 broken pipe"
    for args in (("--help",), ("train", "--help"), ("import", "--help")):
        assert codes in b" ".join(good(*args).split())
    assert all(verb.encode() in good("--help") for verb in VERBS)
    assert b"default: all cores" in good("train", "--help")


def heed_interrupts() -> None:
    """A background job of a shell would ignore Ctrl-C, and so would its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Press Ctrl-C, and again if nothing happens: Python notices a signal that arrives just before
    it waits for input only after some input, and here none comes."""
    for _ in range(5):
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)
            return


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    """The corpus never ends, so training is surely under way when the signal comes."""
    command = [*COMMAND, "train", "-", "--vocab-size", "400", "--json"]
    command += ["--out", str(tmp_path / "out.json")]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        preexec_fn=heed_interrupts,
    ) as process:
        assert process.stdin is not None and process.stderr is not None
        process.stdin.write("\n".join(documents(count=2000)).encode())
        process.stdin.flush()
        for line in process.stderr:
            if json.loads(line)["event"] == "progress":
                break
        interrupt(process)
        rest = process.stderr.read().decode()
        assert process.wait(timeout=20) == 130
    assert rest.splitlines()[-1] == "interrupted, nothing was written"
    assert "Traceback" not in rest
    assert list(tmp_path.iterdir()) == []


# --- encode and decode


def test_a_file_comes_back_byte_for_byte(folder: Path) -> None:
    for name in ("odd.txt", "corpus.txt"):
        ids = good("encode", folder / "t.json", "--json", folder / name)
        assert ids.count(b"\n") == 1
        assert good("decode", folder / "t.json", stdin=ids) == (folder / name).read_bytes()
    assert good("decode", folder / "t.json", stdin=good("encode", folder / "t.json")) == b""


def test_lines_come_back_line_by_line(folder: Path) -> None:
    text = b"one of the most\n\nin New York\r\n"
    ids = good("encode", folder / "t.json", "--lines", stdin=text)
    assert ids.count(b"\n") == 3
    assert good("decode", folder / "t.json", "--lines", stdin=ids) == text


def test_tokens_and_json(folder: Path) -> None:
    tokenizer, text = Tokenizer.load(folder / "t.json"), b"as well as 'x' \"\n"
    tokens = tokenizer.tokens(text.decode())
    shown = good("encode", folder / "t.json", "--tokens", stdin=text).decode()
    assert shown == " ".join(json.dumps(token) for token in tokens) + "\n"
    assert json.loads(good("encode", folder / "t.json", "--tokens", "--json", stdin=text)) == tokens
    ids = good("encode", folder / "t.json", "--json", stdin=text)
    assert json.loads(ids) == tokenizer.encode(text.decode())
    assert good("decode", folder / "t.json", stdin=ids) == text


def test_special_tokens_only_when_asked(folder: Path) -> None:
    text = b"time<|end|>"
    plain = good("encode", folder / "t.json", stdin=text).split()
    special = good("encode", folder / "t.json", "--allow-special", stdin=text).split()
    assert b"0" not in plain and special[-1] == b"0"
    assert good("decode", folder / "t.json", stdin=b" ".join(special)) == text


def test_what_cannot_be_encoded_or_decoded_is_refused(folder: Path, tmp_path: Path) -> None:
    said = refused("encode", folder / "t.json", stdin=b"ab\n\xff")
    assert "standard input: invalid UTF-8 at byte offset 3" in said
    said = refused("encode", folder / "t.json", "--lines", stdin=b"\xc3")
    assert "invalid UTF-8 at byte offset 0" in said
    said = refused("decode", folder / "t.json", stdin=b"5 x")
    assert "standard input, line 1: 'x' is no id" in said
    assert "no token has the id 450" in refused("decode", folder / "t.json", stdin=b"450")
    assert "absent: No such file" in refused("encode", folder / "t.json", "absent")
    assert "absent.json: No such file" in refused("encode", "absent.json")
    assert "not a supratok tokenizer" in refused("encode", folder / "corpus.txt")


def test_nobody_reads_to_the_end(folder: Path) -> None:
    command = [*COMMAND, "encode", str(folder / "t.json"), "--tokens", str(folder / "corpus.txt")]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=20) == 141


# --- count, inspect, compare


def test_count(folder: Path, tmp_path: Path) -> None:
    tokenizer = Tokenizer.load(folder / "t.json")
    records = tmp_path / "two.jsonl"
    records.write_text('{"text": "in New York"}\n{"text": "time"}\n', encoding="utf-8")
    files = (folder / "corpus.txt", records)
    found = json.loads(good("count", folder / "t.json", *files, "--json"))
    whole = (folder / "corpus.txt").read_text(encoding="utf-8")  # its newlines count
    texts = list(open_corpus(folder / "corpus.txt"))  # as training reads them
    assert "".join(texts) == whole and len(texts) == 300
    assert found["files"][0]["tokens"] == sum(map(tokenizer.count, texts))
    assert found["files"][0]["characters"] == len(whole)
    assert found["files"][1]["tokens"] == tokenizer.count("in New York") + tokenizer.count("time")
    assert found["total"]["tokens"] == sum(file["tokens"] for file in found["files"])
    table = good("count", folder / "t.json", *files).decode()
    assert "total" in table and f"{found['total']['tokens']:,}" in table


def test_count_names_what_it_cannot_read(folder: Path, tmp_path: Path) -> None:
    records = tmp_path / "c.jsonl"
    records.write_text('{"text": "time"}\n{}\n', encoding="utf-8")
    assert "line 2" in refused("count", folder / "t.json", records)
    done = run("count", folder / "t.json", records, "--skip-bad")
    assert (done.returncode, done.stderr) == (
        0,
        f"{records}: left out: 1 record: missing key\n".encode(),
    )
    assert "no such file" in refused("count", folder / "t.json", tmp_path / "absent.txt")


def test_inspect(folder: Path) -> None:
    tokenizer = Tokenizer.load(folder / "t.json")
    found = json.loads(good("inspect", folder / "t.json", "--top", 3, "--json"))
    assert found["recipe"]["vocab_size"] == found["vocab_size"] == 450
    assert found["report"] == tokenizer.report
    assert sum(row["tokens"] for row in found["born"].values()) == 450
    assert found["born"]["special"]["tokens"] == 1 and found["born"]["byte"]["tokens"] == 256
    assert found["crossing"]["tokens"] == found["born"]["multiword"]["tokens"] > 0
    assert len(found["longest"]) == len(found["most_used"]["tokens"]) == 3
    assert found["most_used"]["by"] == "count at birth"


def test_inspect_on_a_corpus(folder: Path) -> None:
    options = ("inspect", folder / "t.json", "--top", 3, "--corpus", folder / "corpus.txt")
    found = json.loads(good(*options, "--json"))
    assert found["most_used"]["by"] == "use"
    assert sum(row["use"] for row in found["born"].values()) == pytest.approx(1.0)
    assert 0 < found["crossing"]["use"] < 1
    shown = good(*options).decode()
    for part in (
        "vocab_size",
        "multiword",
        "cross a word boundary",
        "longest",
        "most used, by use",
    ):
        assert part in shown
    assert found["longest"][0] in shown


def test_compare(folder: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.json"
    train(documents(), Recipe(vocab_size=450, crossover=1.0), progress=False).save(plain)
    command = ("compare", folder / "corpus.txt", folder / "t.json", plain)
    found = json.loads(good(*command, "--sample", 2, "--json"))
    ours, bpe = found["tokenizers"]
    assert ours["lossless"] and bpe["lossless"]
    assert ours["relative"] == 1.0
    assert bpe["relative"] == bpe["tokens"] / ours["tokens"] > 1.2
    assert ours["megabytes_per_second"] > 0
    lines = (folder / "corpus.txt").read_text(encoding="utf-8").split("\n\n")
    places = [lines.index(next(line for line in lines if line.startswith(split["text"])))
              for split in found["sample"]]  # fmt: skip
    assert 50 < places[0] < 100 < 200 < places[1] < 250  # in the middle of each half
    for split in found["sample"]:
        assert ["".join(tokens) for tokens in split["tokens"].values()] == [split["text"]] * 2
    shown = good(*command).decode()
    assert "characters/token" in shown and "|" in shown


def test_compare_on_a_narrow_terminal(folder: Path) -> None:
    """Rows under one another; no line is longer than the terminal."""
    reader, writer = os.openpty()
    command = [*COMMAND, "compare", str(folder / "odd.txt"), *[str(folder / "t.json")] * 2]
    name = str(folder / "t.json")
    with subprocess.Popen(
        [*command, "--sample", "0"], stdout=writer, env=os.environ | {"COLUMNS": "40"}
    ) as process:
        assert process.wait(timeout=60) == 0
    os.close(writer)
    shown = os.read(reader, 100_000).decode()
    os.close(reader)
    assert shown.count("  characters/token: ") == shown.count("  lossless: yes") == 2
    text = shown.replace(name, "")
    assert all(len(line) <= 60 for line in text.splitlines()) and "tokenizer" not in text


def test_the_sample_is_spread_over_the_text() -> None:
    texts = [f"{number}\n\n" for number in range(10_000)]
    for count in (1, 3, 10):
        found = [int(line) for line in sample_lines(texts, count)]
        assert len(found) == count
        ideal = [(2 * place + 1) * 10_000 // (2 * count) for place in range(count)]
        assert all(abs(a - b) < 400 for a, b in zip(found, ideal, strict=True))
    assert sample_lines(["a\nb", "c"], 5) == ["a", "b", "c"] and sample_lines(["a"], 0) == []


def test_compare_refuses_what_it_does_not_know(folder: Path, tmp_path: Path) -> None:
    ranks = tmp_path / "x.tiktoken"
    ranks.write_bytes(b"YQ== 0\n")
    said = refused("compare", folder / "corpus.txt", folder / "t.json", ranks)
    assert "the byte 0x00 has no rank" in said
    (tmp_path / "tokenizers.py").write_text("raise ImportError('not here')\n", encoding="utf-8")
    other = tmp_path / "tokenizer.json"
    other.write_text('{"model": {}}', encoding="utf-8")
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    said = refused("compare", folder / "corpus.txt", other, PYTHONPATH=paths)
    assert "'tokenizers' is installed but cannot be imported (not here)" in said
    assert 'pip install --force-reinstall "tokenizers>=0.20"' in said


def test_train_passes_the_language_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passed: dict[str, object] = {}

    def watched(*args: Any, **options: Any) -> Tokenizer:
        passed.update(options)
        return train(*args, **options)

    monkeypatch.setattr("supratok.cli.train.train", watched)
    path = tmp_path / "a.txt"
    path.write_text("kitap kitaplar\n" * 9, encoding="utf-8")
    command = ["train", str(path), "--vocab-size", "300", "--out", str(tmp_path / "t"), "--quiet"]
    assert main(command) == 0
    assert (passed["lang_key"], passed["lang"]) == ("lang", None)
    assert main([*command, "--lang-key", "code", "--lang", "tr"]) == 0
    assert (passed["lang_key"], passed["lang"]) == ("code", {"*": "tr"})


# --- Help and unknown commands


def test_a_misspelt_command_is_guessed() -> None:
    for word, meant in (("trian", "train"), ("tran", "train"), ("dokter", "doctor")):
        done = run(word, "x")
        assert (done.returncode, done.stdout) == (2, b"")
        assert f"there is no command {word!r}; did you mean {meant}?" in done.stderr.decode()
    assert "`supratok --help` lists the commands" in run("zzz").stderr.decode()


def test_alone_it_prints_its_help() -> None:
    done = run()
    assert (done.returncode, done.stdout) == (2, b"")
    for verb, what in VERBS.items():
        assert verb in done.stderr.decode() and what[:30] in done.stderr.decode()


def test_help_of_a_command_both_ways() -> None:
    assert good("help", "train") == good("train", "--help")
    assert good("help") == good("--help")


def test_too_little_memory_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("supratok.cli.doctor.found", fail)
    assert main(["doctor"]) == 1
    said = "supratok: error: not enough memory; use less text or fewer threads\n"
    assert capsys.readouterr().err == said
