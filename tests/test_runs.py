"""The scripts of runs/: each makes its table, keeps its rows, and says what data is missing."""

from __future__ import annotations

import importlib
import json
import math
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

import supratok
from supratok import Recipe
from texts import multilingual, prose

pytest.importorskip("tokenizers")  # what is compared with
RUNS = Path(__file__).parent.parent / "runs"
if not RUNS.exists():
    pytest.skip("a source archive has no runs/", allow_module_level=True)
sys.path.insert(0, str(RUNS))
SIZE = 600


def script(name: str) -> Any:
    return importlib.import_module(name)


def write_corpus(path: Path, texts: list[str]) -> Path:
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    path.write_bytes(zstandard.compress(lines.encode()))
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like that of SUPRATOK_DATA, of made-up text."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("train/ml", "test/wikitext103", "test/flores200"):
        (folder / name).mkdir(parents=True)
    write_corpus(folder / "train/en100k.jsonl.zst", prose(1, 400))
    test = "\n".join(prose(1, 430)[400:])
    (folder / "test/wikitext103/wiki.valid.raw").write_text(test, encoding="utf-8")
    for seed, code in enumerate(("zh", "tr")):
        pairs = zip(prose(seed, 230), multilingual(seed, 230), strict=True)
        texts = ["\n".join(pair) for pair in pairs]
        write_corpus(folder / f"train/ml/{code}.jsonl.zst", texts[:200])
        lines = "\n".join(text.replace("\n", " ") for text in texts[200:])
        (folder / f"test/flores200/{code}.devtest").write_text(lines + "\n", encoding="utf-8")
    return folder


Call = Callable[..., tuple[list[list[str]], str]]


@pytest.fixture
def call(
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Call:
    """Run a script; the cells of its table, and what it said on the way."""
    monkeypatch.setenv("SUPRATOK_DATA", str(data))

    def run(name: str, *arguments: object) -> tuple[list[list[str]], str]:
        script(name).main(["--out", str(tmp_path / "out"), *map(str, arguments)])
        said = capsys.readouterr()
        assert (tmp_path / "out/table.md").read_text(encoding="utf-8") == said.out
        lines = [line[2:-2].split(" | ") for line in said.out.splitlines() if line[0:1] == "|"]
        return lines, said.err

    return run


def check_kept(call: Call, monkeypatch: pytest.MonkeyPatch, name: str, *given: object) -> Any:
    """The table of a first call; a second gives the same and computes nothing."""
    lines, said = call(name, *given)
    assert " ...\n" in said
    monkeypatch.setattr(supratok, "train", None)
    again, said = call(name, *given)
    assert (again, said) == (lines, "")
    assert len({len(line) for line in lines}) == 1
    return lines


def test_sweep(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep, cache = script("sweep"), tmp_path / "cache"
    given = ("--sizes", SIZE, "--cache", cache, "--baselines-on", "training")
    lines = check_kept(call, monkeypatch, "sweep", *given)
    rows = {(line[0], line[1]): line for line in lines[2:]}
    assert list(rows) == [("600", name) for name in (*sweep.OURS, *sweep.BASELINES)]
    default, like = rows["600", "default"], rows["600", "SuperBPE-like"]
    assert default[6] == f"{float(default[2]) / float(like[2]) - 1:+.1%}"
    assert float(rows["600", "SuperBPE"][2]) > float(rows["600", "plain"][2])
    assert rows["600", "plain"][11] == rows["600", "BPE-Standard"][11] == "0.0%" != default[11]
    with pytest.raises(SystemExit, match="another --cache"):
        call("sweep", *given, "--documents", 50)


def test_exports(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    given = ("--sizes", SIZE, "--lines", 20)
    lines = check_kept(call, monkeypatch, "exports", *given)
    runtimes = ["supratok", "tokenizers", "transformers", "sentencepiece"]
    for place, rule in ((2, "merges"), (7, "fewest")):
        assert [line[2] for line in lines[place : place + 4]] == runtimes
        assert {line[0] for line in lines[place : place + 5]} == {rule}
    assert all(int(line[4].replace(",", "")) > 1000 for line in lines[2:])
    assert {(line[6], line[7]) for line in lines[2:]} == {("0", "0")}


def test_what_the_paper_has_beside_a_row() -> None:
    in_paper = script("sweep").in_paper
    assert in_paper("default", 100_000) == "5.78 +1.8% +17.5%"
    assert in_paper("SuperBPE", 300_000) == "6.20 +23.5%"
    assert in_paper("BPE-Standard", 50_000) == "4.52"
    assert in_paper("plain", 50_000) == in_paper("default", 32_000) == "-"


def test_superbpe_is_measured_on_whole_text(tmp_path: Path) -> None:
    """Its tokens cross the ends of lines: cutting the text there would cost it some."""
    baselines = script("baselines")
    texts = ["one two.\nthree four.\n" * 9] * 20
    tokenizer = baselines.superbpe(texts, 300, tmp_path)
    assert any("Ċ" in token.strip("Ċ") for token in tokenizer.get_vocab())
    by_line = sum(len(tokenizer.encode(line + "\n").ids) for line in texts[0].split("\n")[:-1])
    assert baselines.characters_per_token(tokenizer, texts[0]) > len(texts[0]) / by_line
    assert baselines.seconds_of(tmp_path, 300) >= 0.0
    assert baselines.seconds_of(tmp_path, 301) is None


def test_ablation(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    given = ("--sizes", SIZE, "--documents", 300, "--only", "default")
    lines = check_kept(call, monkeypatch, "ablation", *given)
    changes = [line[1].split(": ")[-1].removeprefix("without ") for line in lines[2:]]
    assert changes == ["-", *script("ablation").COMPONENTS]
    cross = next(line for line in lines if line[1] == "without cross-boundary")
    assert cross[3].startswith("-") and cross[6] == "-6.1%"


def test_a_component_is_taken_out_or_put_in_and_nothing_else_changes() -> None:
    base = Recipe(vocab_size=SIZE, curation=None, screen=None)
    found = {name: recipe for name, recipe, _ in script("ablation").variants(base)}
    paper = Recipe.paper(SIZE)
    assert found["without curriculum"] == replace(base, curriculum=False)
    assert found["put in: entropy filtering"] == replace(base, curation=paper.curation)
    assert found["put in: screen"] == replace(base, screen=paper.screen)


def test_languages(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    given = ("--sizes", SIZE, "--languages", "zh", "tr", "--only", "paper")
    lines = check_kept(call, monkeypatch, "languages", *given)
    assert [line[:2] for line in lines[2:]] == [["paper", code] for code in ("zh", "tr", "average")]
    assert lines[2][8:] == ["1.210", "1.360", "+12.4%"]
    assert lines[4][10] == "+11.6%"  # the mean of 12.4 and 10.8
    assert all(float(cell) > 0.2 for line in lines[2:] for cell in line[2:4] + line[5:7])


def test_wall_time(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = check_kept(call, monkeypatch, "wall_time", "--sizes", SIZE, "--repeats", 1)
    assert [line[:2] for line in lines[2:]] == [
        ["default", "wall time"],
        ["default", "peak memory"],
    ]
    assert script("wall_time").spread([3.0, 1.0, 2.0], ".1f") == "2.0 (1.0-3.0)"


def test_trade(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("default", "min_pmi 2", "whole_words on")
    lines = check_kept(call, monkeypatch, "trade", "--sizes", SIZE, "--only", *names)
    assert [line[0] for line in lines[2:]] == list(names)
    default, screened, _ = lines[2:]
    assert int(default[2]) >= int(screened[2]) > 0
    with pytest.raises(SystemExit):
        call("trade", "--only", "min_pmi 77")


def test_the_grid_changes_one_option_at_a_time() -> None:
    trade = script("trade")
    open_, screened = Recipe(vocab_size=SIZE, screen=None), Recipe.paper(SIZE, phrase_price=1.5)
    assert "phrase_price 1" not in trade.grid(replace(open_, phrase_price=1.0))
    assert "min_pmi off" not in trade.grid(open_)  # which is what it is
    assert len(trade.grid(open_)) == 10
    changed = trade.grid(screened)["min_pmi off"].screen
    assert changed == replace(screened.screen or trade.NO_SCREEN, min_pmi=trade.OFF)


def test_proxies_by_hand() -> None:
    trade = script("trade")
    four, once = np.array([2, 2, 2, 2]), np.array([1, 1, 0, 0])
    assert trade.renyi_efficiency(four) == pytest.approx(1.0)
    assert trade.renyi_efficiency(once) == pytest.approx(0.5)
    # Seen once and never among 1, with 4 added: 2/5 and 1/5.
    seen = np.array([1, 0, 0, 0])
    assert trade.unigram_bits(once, seen) == pytest.approx(math.log2(5 / 2) + math.log2(5))


def test_held_out_text_is_what_training_measures_on(data: Path) -> None:
    rows = script("rows")
    corpus = data / "train/en100k.jsonl.zst"
    tokenizer = supratok.train(corpus, Recipe(vocab_size=SIZE), progress=False)
    documents = rows.held_out(corpus)
    assert documents
    assert tokenizer.report["held_out"] == {
        "characters": sum(map(len, documents)),
        "tokens": int(tokenizer.usage(documents).sum()),
    }


def test_rows_go_on_where_they_were(tmp_path: Path) -> None:
    rows = script("rows")
    rows.Rows(tmp_path).get({"row": "a"}, lambda: {"x": 1})
    path = tmp_path / "rows.jsonl"
    path.write_text(path.read_text() + '{"asked": {"row"')  # stopped in the middle of a line
    kept = rows.Rows(tmp_path)
    assert kept.get({"row": "a"}, lambda: {"x": 2}) == {"x": 1}
    assert kept.get({"row": "b"}, lambda: {"x": 3}) == {"x": 3}
    assert rows.Rows(tmp_path, again=True).get({"row": "a"}, lambda: {"x": 4}) == {"x": 4}
    assert rows.Rows(tmp_path).get({"row": "a"}, lambda: {"x": 5}) == {"x": 4}
    assert kept.get({"row": "a", "code": "other"}, lambda: {"x": 6}) == {"x": 6}
    made = json.loads(path.read_text().splitlines()[0])["made"]
    assert made.keys() == {"commit", "machine", "date"} and "cores" in made["machine"]


@pytest.mark.parametrize("name", ["sweep", "ablation", "languages", "wall_time", "trade"])
def test_missing_data_is_said_in_a_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUPRATOK_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(SystemExit, match="not found; set SUPRATOK_DATA") as error:
        script(name).main(["--out", str(tmp_path / "out")])
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()
