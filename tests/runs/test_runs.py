"""The scripts of runs/ make their tables, keep their rows, and name missing data."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supratok
from run_scripts import SIZE, script
from supratok import Recipe
from supratok.cli import main as cli
from supratok.corpus import open_corpus
from supratok.lab.bench import Entry, Row
from supratok.lab.measure.counts import Counts
from supratok.lab.measure.figures import figures
from supratok.lab.report.tables import figure as leading_figure
from supratok.lab.report.tables import read
from texts import multilingual, prose, write_corpus


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like SUPRATOK_DATA, of made-up text."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("train/ml", "test/wikitext103", "test/flores200"):
        (folder / name).mkdir(parents=True)
    write_corpus(folder / "train/en100k.jsonl.zst", prose(1, 400))
    for file, texts in (("valid", prose(1, 430)[400:]), ("test", prose(1, 460)[430:])):
        wiki = "".join(f" = Title {number} = \n\n {text} \n" for number, text in enumerate(texts))
        (folder / f"test/wikitext103/wiki.{file}.raw").write_text(wiki, encoding="utf-8")
    for seed, code in enumerate(("zh", "tr")):
        pairs = zip(prose(seed, 230), multilingual(seed, 230), strict=True)
        texts = ["\n".join(pair) for pair in pairs]
        write_corpus(folder / f"train/ml/{code}.jsonl.zst", texts[:200])
        lines = "\n".join(text.replace("\n", " ") for text in texts[200:])
        (folder / f"test/flores200/{code}.devtest").write_text(lines + "\n", encoding="utf-8")
    return folder


def figure(cell: str) -> float:
    """The number that a cell begins with."""
    found = leading_figure(cell)
    assert found is not None, cell
    return found


Call = Callable[..., tuple[list[list[str]], str]]


@pytest.fixture
def call(
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Call:
    """Runs a script; gives the cells of its table, and its messages."""
    monkeypatch.setenv("SUPRATOK_DATA", str(data))

    def run(name: str, *arguments: object) -> tuple[list[list[str]], str]:
        script(name).main(["--out", str(tmp_path / "out"), *map(str, arguments)])
        said = capsys.readouterr()
        tables = sorted((tmp_path / "out").rglob("table.md"))  # one, or one for each panel
        assert "".join(path.read_text(encoding="utf-8") for path in tables) == said.out
        lines = [line[2:-2].split(" | ") for line in said.out.splitlines() if line[0:1] == "|"]
        return lines, said.err

    return run


def check_kept(call: Call, monkeypatch: pytest.MonkeyPatch, name: str, *given: object) -> Any:
    """The table of a first call; a second call gives the same and computes nothing."""
    lines, said = call(name, *given)
    assert " ...\n" in said
    monkeypatch.setattr(supratok, "train", None)
    again, said = call(name, *given)
    assert (again, said) == (lines, "")
    assert len({len(line) for line in lines}) == 1
    return lines


@pytest.mark.slow
def test_sweep(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("balanced", "plain", "SuperBPE", "BPE-Standard")
    given = ("--sizes", SIZE, "--cache", tmp_path / "cache", "--only", *names)
    lines = check_kept(call, monkeypatch, "sweep", *given)
    rows = {line[1]: line for line in lines[2:]}
    assert [line[:2] for line in lines[2:]] == [["600", name] for name in names]
    balanced, theirs = rows["balanced"], rows["SuperBPE"]
    for column in (2, 5):  # validation and test
        ratio = figure(balanced[column]) / figure(theirs[column]) - 1
        assert figure(balanced[column + 1]) == pytest.approx(100 * ratio, abs=0.1)
        assert theirs[column + 1] == rows["BPE-Standard"][column + 2] == "-"
    assert balanced[2] != balanced[5]
    assert figure(theirs[2]) > figure(rows["plain"][2])
    assert rows["plain"][10] == rows["BPE-Standard"][10] == "0.0%" != balanced[10]
    assert [rows[name][9][:3] for name in ("balanced", "BPE-Standard")] == ["yes", "no:"]
    table = read(tmp_path / "out")
    assert table.pictures == ["sweep.svg", "sweep-test.svg"] and table.aside == [3]
    assert table.notes[0].startswith("balanced ")
    assert "every lossless baseline (SuperBPE)" in table.notes[0]


def test_who_leads_is_said_and_where_not(tmp_path: Path) -> None:
    sweep = script("sweep")
    row = functools.partial(made_row, tmp_path)
    ours, theirs, lossy = row("dense", 10), row("SuperBPE", 11), row("BPE-Standard", 9, "blanks")
    assert sweep.standings([ours, lossy]) == [
        "no lossless baseline among the rows: no statement on who leads"
    ]
    (said,) = sweep.standings([ours, theirs, lossy])
    assert said.startswith("dense leads every lossless baseline (SuperBPE)") and "; " not in said
    (said,) = sweep.standings([ours, theirs, row("BPE-Bytes-GPT4o", 9)])
    assert said.startswith("dense does NOT lead") and "GPT4o 600 on test: -10.0%" in said
    assert "SuperBPE 600" not in said


def made_row(folder: Path, name: str, tokens: int, lossy: str = "") -> Row:
    """A made-up row: each of three documents has `tokens` tokens."""
    each = np.full(3, tokens)
    same = np.full(3, 50)
    counts = Counts(name, SIZE, same, same, same, each, None, each, None)
    tests = script("english").FILES
    return Row(Entry(name, SIZE), SIZE, {test: figures(counts) for test in tests},
               dict.fromkeys(tests, counts), 1.0, 1, lossy, None, folder)  # fmt: skip


@pytest.mark.slow
def test_compression(call: Call, tmp_path: Path) -> None:
    crossing = "SP-BPE-CrossBoundary"
    names = ("balanced", crossing, "BPE-Standard")
    given = (
        "--first",
        f"{crossing}=100",
        "--sizes",
        SIZE,
        "--cache",
        tmp_path / "cache",
        "--only",
        *names,
    )
    assert " ...\n" in call("compression", *given)[1]
    panels = [read(tmp_path / "out" / name) for name in ("panel-a", "panel-b")]
    assert call("compression", *given)[1] == ""  # nothing is computed again
    assert [read(tmp_path / "out" / name) for name in ("panel-a", "panel-b")] == panels
    first, second = panels
    assert [line[0] for line in first.lines] == list(names)
    assert first.lines[0][9:] == ["5.78", "+17.5%", "376", "1"] and first.lines[0][7] == "1.00"
    assert first.lines[1][9:] == ["5.62", "+14.4%", "3,466", "9.2"]
    assert first.lines[2][2] == first.lines[2][4] == "-" and first.aside == [1, 2]
    assert any(f"{crossing} learnt from the first 100 of 400" in note for note in first.notes)
    assert [line[0] for line in second.lines] == list(names[:2])
    assert [line[9] for line in second.lines] == ["+3.63%", "-0.05%"]
    assert second.lines[0][1] == first.lines[0][1] != second.lines[0][2]


def test_what_filtering_keeps_is_what_the_command_keeps(data: Path, tmp_path: Path) -> None:
    corpus, other = data / "train/en100k.jsonl.zst", tmp_path / "kept.jsonl"
    kept = script("compression").kept_documents(corpus, tmp_path)
    assert cli.main(["curate", str(corpus), "--out", str(other)]) == 0
    texts = list(open_corpus(kept))
    assert texts == list(open_corpus(other)) and 0 < len(texts) < 400


@pytest.mark.slow
def test_latency(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = ("--sizes", SIZE, "--cache", tmp_path / "cache", "--only", "default", "SuperBPE")
    lines = check_kept(call, monkeypatch, "latency", *given)
    assert [line[0] for line in lines[2:]] == ["default", "SuperBPE", "BPE-Standard"]
    default, _, standard = lines[2:]
    tokens = [int(line[2].replace(",", "")) for line in (default, standard)]
    assert default[4] == f"{tokens[1] / tokens[0]:.2f}" and standard[4] == "1.00"
    assert default[3] == f"{tokens[0] * 0.05:,.0f}" and standard[9] == "1.00"
    low, _, high = default[8].split()
    assert 0 < float(low) <= float(default[7]) <= float(high)
    assert default[10:] == ["5.48", "9,130", "1.18"]
    with pytest.raises(SystemExit):
        call("latency", "--test", tmp_path)


def test_a_part_of_the_corpus_is_asked_for_by_baseline(capsys: pytest.CaptureFixture[str]) -> None:
    parser = script("english").bench_options("", "x", [SIZE], [])
    assert parser.parse_args(["--first", "SuperBPE=20"]).first == [("SuperBPE", 20)]
    for wrong in ("SuperBPE", "SuperBPE=0", "default=20"):
        with pytest.raises(SystemExit):
            parser.parse_args(["--first", wrong])
        assert f"{wrong!r}: such as" in capsys.readouterr().err


@pytest.mark.slow
def test_exports(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    given = ("--sizes", SIZE, "--lines", 20)
    lines = check_kept(call, monkeypatch, "exports", *given)
    runtimes = ["supratok", "tokenizers", "transformers", "sentencepiece"]
    for place, rule in ((2, "merges"), (7, "fewest")):
        assert [line[2] for line in lines[place : place + 4]] == runtimes
        assert {line[0] for line in lines[place : place + 5]} == {rule}
    assert all(int(line[4].replace(",", "")) > 1000 for line in lines[2:])
    assert {(line[6], line[7]) for line in lines[2:]} == {("0", "0")}


@pytest.mark.slow
def test_patched(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers")
    lines = check_kept(call, monkeypatch, "patched", "--sizes", SIZE, "--lines", 60)
    assert [line[0] for line in lines[2:]] == ["merges", "fewest"]
    assert all(line[2] == "120" and set(line[3:11]) == {"0"} for line in lines[2:])
    assert all(figure(cell) > 0 for line in lines[2:] for cell in line[11:])


def test_what_the_paper_has_beside_a_row() -> None:
    in_paper = script("sweep").in_paper
    assert in_paper("default", 100_000) == "5.78 +1.8% +17.5%"
    assert in_paper("SuperBPE", 300_000) == "6.20 +23.5%"
    assert in_paper("BPE-Standard", 50_000) == "4.52"
    assert in_paper("plain", 50_000) == in_paper("default", 32_000) == "-"


@pytest.mark.slow
def test_ablation(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    given = ("--sizes", SIZE, "--documents", 300, "--only", "balanced")
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_trade(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("balanced", "min_pmi 2", "whole_words on")
    lines = check_kept(call, monkeypatch, "trade", "--sizes", SIZE, "--only", *names)
    assert [line[0] for line in lines[2:]] == list(names)
    balanced, screened, _ = lines[2:]
    assert int(balanced[2]) >= int(screened[2]) > 0
    with pytest.raises(SystemExit):
        call("trade", "--only", "min_pmi 77")


def test_the_grid_changes_one_option_at_a_time() -> None:
    trade = script("trade")
    open_, screened = Recipe.balanced(SIZE, screen=None), Recipe.paper(SIZE, phrase_price=1.5)
    assert "phrase_price 1" not in trade.grid(replace(open_, phrase_price=1.0))
    assert "min_pmi off" not in trade.grid(open_)  # which is what it is
    assert len(trade.grid(open_)) == 10
    changed = trade.grid(screened)["min_pmi off"].screen
    assert changed == replace(screened.screen or trade.NO_SCREEN, min_pmi=trade.OFF)


def test_proxies_by_hand() -> None:
    trade = script("trade")
    four, once = np.array([2, 2, 2, 2]), np.array([1, 1, 0, 0])
    assert trade.renyi_efficiency(four, 4) == pytest.approx(1.0)
    assert trade.renyi_efficiency(once, 4) == pytest.approx(0.5)
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


@pytest.mark.parametrize(
    "name", ["sweep", "compression", "latency", "ablation", "languages", "wall_time", "trade"]
)
def test_missing_data_is_said_in_a_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUPRATOK_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(SystemExit, match="not found; set SUPRATOK_DATA") as error:
        script(name).main(["--out", str(tmp_path / "out")])
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()
