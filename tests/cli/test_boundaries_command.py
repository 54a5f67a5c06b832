"""`supratok boundaries`: the report, its advice, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import documents, good, refused, run
from peers import make_hugging_face, make_tiktoken
from supratok import Recipe, train
from supratok.cli.boundaries import advice
from supratok.cli.main import main
from supratok.lab.measure.boundaries import KINDS, AtCuts, Row, Spread


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus and two tokenizers: with phrases, and of words alone."""
    folder = tmp_path_factory.mktemp("boundaries")
    texts = [f"{text} And\nthen." for text in documents()]
    lines = "".join(json.dumps({"ctx": text}) + "\n" for text in texts)
    (folder / "c.jsonl").write_text(lines, encoding="utf-8")
    train(documents(), Recipe(vocab_size=450), progress=False).save(folder / "t.json")
    words = Recipe(vocab_size=450, crossover=1.0)
    train(documents(), words, progress=False).save(folder / "words.json")
    return folder


def command(folder: Path, *more: object) -> tuple[object, ...]:
    return ("boundaries", folder / "c.jsonl", *more, "--text-key", "ctx")


def test_the_report_for_programs(folder: Path) -> None:
    ask = command(folder, folder / "t.json", folder / "words.json", "--json", "--cuts", 200)
    said = good(*ask)
    found = json.loads(said)
    assert good(*ask) == said != good(*ask, "--seed", 1)
    assert found["documents"] == 300 and found["all_cuts"].keys() == KINDS.keys()
    assert found["all_cuts"]["line ends"] == 300 and found["missing"] == {}
    ours, words = (one["at"] for one in found["tokenizers"])
    assert {at["cuts"] for at in (*ours.values(), *words.values())} == {200}
    assert ours["word ends"]["inside"] > 0.3 and words["word ends"]["inside"] == 0
    assert ours["line ends"]["inside"] == 0 < ours["any character"]["inside"]
    covers, back = ours["word ends"]["covers"], ours["word ends"]["bytes_back"]
    assert 1 < covers["mean"] <= covers["max"] and covers["p95"] <= covers["max"]
    assert words["word ends"]["bytes_back"]["mean"] < back["mean"]
    assert found["advice"][0].startswith(str(folder / "t.json"))


def test_the_report_for_people(folder: Path) -> None:
    one = run(*command(folder, folder / "t.json"))
    shown = one.stdout.decode()
    assert one.returncode == 0 and b"cuts" in one.stderr  # progress
    for kind in KINDS:
        assert sum(line.startswith(f" {kind} ") for line in shown.splitlines()) == 1
    assert "supratok.generate" in shown and "tokenizer.stable" in shown
    assert "choose sentence ends or line ends; the line break belongs to what follows" in shown
    two = run(*command(folder, folder / "t.json", folder / "words.json", "--quiet"))
    words = sum(len(text.split()) + 2 for text in documents())
    assert two.stderr == b"" and f"word ends: {words:,} in the texts" in two.stdout.decode()


def test_what_is_not_known_is_a_dash_with_its_reason(folder: Path, tmp_path: Path) -> None:
    other, ranks = tmp_path / "tokenizer.json", tmp_path / "x.tiktoken"
    make_hugging_face(other)
    make_tiktoken(ranks)
    ask = command(folder, folder / "t.json", other, ranks, "--cuts", 50)
    found = json.loads(good(*ask, "--json"))
    ours, *others = (one["at"]["any character"] for one in found["tokenizers"])
    assert ours.keys() - others[0].keys() == {"covers", "bytes_back"}
    assert others[0]["inside"] > 0 and others[0].keys() == others[1].keys()
    shown = good(*ask).decode()
    assert shown.count(" - ") >= 2 * 2 * len(KINDS)
    assert f"No covers for {other}: it cuts text by a pattern" in shown
    assert "imports no files of this format" in shown


@pytest.mark.slow
def test_an_imported_tokenizer_has_covers(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    good("export", folder / "t.json", tmp_path / "out", "--format", "huggingface")
    other = tmp_path / "out" / "tokenizer.json"
    found = json.loads(good(*command(folder, folder / "t.json", other, "--json")))
    ours, theirs = found["tokenizers"]
    assert ours["at"] == theirs["at"] and found["missing"] == {}


@pytest.mark.parametrize("text", ["x", "\n"])
def test_texts_too_short_to_cut(text: str, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "short.jsonl"
    path.write_text(json.dumps({"text": text}) + "\n", encoding="utf-8")
    shown = good("boundaries", path, folder / "t.json").decode()
    assert "nothing to cut" in shown and shown.count(" 0 ") == len(KINDS)


def test_what_it_refuses(folder: Path, tmp_path: Path) -> None:
    assert "--cuts 0: must be at least 1" in refused(*command(folder, "no.json", "--cuts", 0))
    assert "no.json" in refused(*command(folder, "no.json"))
    said = refused("boundaries", folder / "t.json", folder / "c.jsonl")
    assert "t.json: a tokenizer, where the texts belong; pass the texts first" in said
    (tmp_path / "empty.jsonl").write_text("")
    said = refused("boundaries", tmp_path / "empty.jsonl", folder / "t.json", "--quiet")
    assert "the corpus is empty" in said
    said = refused("boundaries", folder / "c.jsonl", folder / "t.json", "--quiet")
    assert '"text"' in said or "--text-key" in said


def test_standard_input(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (folder / "c.jsonl").read_bytes()
    read = ("-", folder / "t.json", "--format", "jsonl", "--text-key", "ctx", "--json")
    piped = json.loads(good("boundaries", *read, stdin=text))
    assert main([*map(str, command(folder, folder / "t.json")), "--json"]) == 0
    assert piped["tokenizers"] == json.loads(capsys.readouterr().out)["tokenizers"]


# --- Advice


def row(inside: list[float | None], missed: float = 0.0, exact: bool = True) -> Row:
    spread = Spread(2.5, 4, 6) if exact else None
    found = [
        AtCuts(0, None, None, None, None)
        if share is None
        else AtCuts(10, share, missed, spread, spread)
        for share in inside
    ]
    return Row("t", dict(zip(KINDS, found, strict=True)))


def test_advice() -> None:
    said = " ".join(advice(row([0.2, 0.1, None, 0.8], missed=0.3)))
    assert "20.0% (word ends), 10.0% (sentence ends), 80.0% (any character)." in said
    assert "choose sentence ends." in said and "fails for up to 30.0%" in said
    assert "2.5 on average and at most 6" in said
    assert "Hardly any sentence ends inside a token" in said and "--boundaries clauses" in said
    said = " ".join(advice(row([0.0, 0.0, 0.0, 0.8])))
    assert "choose word ends or sentence ends or line ends; the line break" in said
    assert "one token back" not in said and "clauses" not in said
    said = " ".join(advice(row([None, None, None, 0.8], exact=False)))
    assert "choose" not in said and "cannot be exact with this tokenizer" in said
    said = " ".join(advice(row([0.0] * 4)))
    assert said.endswith("those that a model learns before what follows.")
