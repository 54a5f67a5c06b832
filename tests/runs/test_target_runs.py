"""runs/target.py and runs/leaking.py: who decides, who measures, and that leaking says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import supratok
from run_scripts import SIZE, script
from supratok import Recipe, Token
from supratok.corpus.target import halves
from supratok.lab.report.tables import figure, read
from supratok.learn.merging import Learnt
from texts import prose, write_corpus


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like SUPRATOK_DATA, of made-up text; the target has words of its own."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("train", "test/wikitext103", "test/bbc"):
        (folder / name).mkdir(parents=True)
    write_corpus(folder / "train/en100k.jsonl.zst", prose(1, 400))
    write_corpus(folder / "test/bbc/bbc.jsonl.zst", prose(7, 80))
    texts = prose(8, 80)
    for file, part in (("valid", texts[:40]), ("test", texts[40:])):
        wiki = "".join(f" = Title {number} = \n\n {text} \n" for number, text in enumerate(part))
        (folder / f"test/wikitext103/wiki.{file}.raw").write_text(wiki, encoding="utf-8")
    return folder


def table_of(name: str, data: Path, out: Path, monkeypatch: Any, *given: object) -> Any:
    monkeypatch.setenv("SUPRATOK_DATA", str(data))
    script(name).main(["--out", str(out), *map(str, given)])
    return read(out)


def test_target(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("BBC news", "WikiText-103, validation to test")
    given = ("--sizes", SIZE, "--only", *names)
    table = table_of("target", data, tmp_path, monkeypatch, *given)
    assert [row[0] for row in table.lines] == list(names)
    assert "test text decides here" in table.notes[0]
    for row in table.lines:
        before, after = figure(row[4]), figure(row[5])
        assert before is not None and after is not None and after > before
        assert row[6].startswith("+")
    monkeypatch.setattr(script("target").Experiment, "__init__", kept_only)
    again = table_of("target", data, tmp_path, monkeypatch, *given)
    assert again.lines == table.lines


def test_target_share(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The source that is left out is in no training document."""
    records = [{"text": text, "source": "a"} for text in prose(1, 300)]
    records += [{"text": text, "source": "b"} for text in prose(9, 60)]
    path = tmp_path / "c.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    share = script("target_share")
    rest, target = share.divided(path, "b", 200, 4000)
    assert rest == prose(1, 300)[:200]
    assert set(target.deciding) | set(target.measuring) <= set(prose(9, 60))
    given = ("--corpus", path, "--sources", "b", "--sizes", SIZE, "--shares", 0.1, 0.5)
    table = table_of("target_share", data, tmp_path / "out", monkeypatch, *given)
    gains = [figure(line[5]) for line in table.lines]
    assert gains[0] is not None and gains[1] is not None and gains[0] < gains[1]


def kept_only(self: Any, args: Any, rows: Any) -> None:
    """An experiment that can learn nothing."""
    self._args, self._rows = args, rows
    self._whole = script("target").located(None, "train/en100k.jsonl.zst")

    class Nothing:
        recipe = Recipe.dense(SIZE)

        def __exit__(self, *_: object) -> None: ...

    self._taught = Nothing()


def test_what_is_taught_once_gives_the_tokens_of_train(data: Path) -> None:
    corpus, target = data / "train/en100k.jsonl.zst", halves(prose(7, 80))
    recipe = Recipe.dense(SIZE)
    with script("choosing").Taught(corpus, recipe, 1) as taught:
        for share in (0.3, 0.0):
            chosen = taught.tokenizer(target=target if share else None, target_share=share)
            expected = supratok.train(
                corpus, chosen.recipe, 1, False, target=target if share else None
            )
            assert chosen.vocabulary == expected.vocabulary


def test_leaking(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of("leaking", data, tmp_path, monkeypatch, "--sizes", SIZE)
    leaking = script("leaking")
    assert "LEAKING" in table.title and "LEAKING" in table.claim and "LEAKING" in table.notes[0]
    assert [row[2].startswith("LEAKING") for row in table.lines] == [
        False, True, False, True, False, True,
    ]  # fmt: skip
    for honest, leak in zip(table.lines[::2], table.lines[1::2], strict=True):
        before, after = figure(honest[3]), figure(leak[3])
        assert before is not None and after is not None and after >= before  # it decided by this
    assert figure(table.lines[1][3]) != figure(table.lines[0][3])
    assert leaking.PAPER[100_000][0] == 5.78


def test_seeds_first_takes_all_seeds() -> None:
    """By hand: five places. The seed " a b" is rarer than every merge, and is in nevertheless: the
    rarest merge goes."""
    tokens = [Token(char, 99, "alphabet") for char in (" ", "a", "b")]
    tokens += [Token(" a", 50, "traditional"), Token(" b", 40, "traditional")]
    tokens += [Token(" b a", 30, "multiword"), Token(" a a", 20, "multiword")]
    recipe = Recipe(vocab_size=256 + 7)
    found = script("leaking").seeds_first(Learnt(tokens, None), {" a b": 7}, recipe)  # type: ignore[arg-type]
    assert [token.text for token in found.tokens] == [" ", "a", "b", " a", " b", " b a", " a b"]
