"""benches/: rows beside their bars, and the workers behind the rows that encode."""

from __future__ import annotations

import importlib
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from supratok import Recipe, train
from texts import prose, write_corpus

pytest.importorskip("tokenizers")
if not Path(__file__).parent.parent.joinpath("benches").exists():
    pytest.skip("a source archive has no benches/", allow_module_level=True)


def module(name: str) -> Any:
    return importlib.import_module(name)


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Small texts and tokenizers."""
    folder = tmp_path_factory.mktemp("bench")
    corpus, test = folder / "corpus.jsonl.zst", folder / "test.txt"
    write_corpus(corpus, prose(1, 200))
    test.write_text("\n".join(prose(2, 30)), encoding="utf-8")
    for rule in ("merges", "fewest"):
        recipe = Recipe(vocab_size=600, segmentation=rule)
        train(corpus, recipe, progress=False).save(folder / f"{rule}.json")
    return module("bench").Setting(str(corpus), str(test), 600, 1, folder, 1)


def test_rows_of_encoding(setting: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, workers = module("bench"), module("workers")
    monkeypatch.setattr(bench, "QUICK", 1)

    def here(worker: str, *, one_thread: bool = False, **given: Any) -> Any:
        return workers.WORKERS[worker](**given)

    monkeypatch.setattr(bench, "work", here)
    rows = {
        row.what: row
        for name in ("encoding", "batch", "latency", "loading")
        for row in bench.ROWS[name](setting)
    }
    bars = {what: row.bar for what, row in rows.items() if row.bar}
    assert bars["encode one text, cold, merges"] == (">=", 100.0)
    assert bars["encode by line, cold, merges"] == (">=", 15.0)
    assert bars["encode one text, cold, fewest"] == (">=", 20.0)
    assert bars["encode by line, cold, fewest"] == (">=", 8.0)
    assert bars["encode_batch, 2 threads, lists, merges"] == (">=", 1.8)
    assert all(min(row.values) > 0 for what, row in rows.items() if "memory" not in what)
    assert {"20 characters, p99, to tokenizers", "time to load, fewest"} <= rows.keys()
    assert " µs to " in rows["20 characters, p50, to tokenizers"].details


def test_a_bar_is_for_the_median() -> None:
    row = module("bench").Row
    assert row("x", [1.0, 3.0, 9.0], "", (">=", 3.0)).verdict == "pass"
    assert row("x", [1.0, 2.9, 9.0], "", (">=", 3.0)).verdict == "FAIL"
    assert row("x", [1.0], "").verdict == ""
    assert "3.000 (1.000 to 9.000); it" in row("x", [1.0, 3.0, 9.0], "it").line()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
def test_a_stream_beside_encode(setting: Any, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(setting.folder / f"{rule}.json") for rule in ("merges", "fewest")]
    given = ["--corpus", setting.corpus, "--lines", "50", "--turns", "1"]
    core = str(Path(__file__).parent.parent / "core")
    module("stream").main([*files, *given, "--before", core])
    head, *lines = capsys.readouterr().out.splitlines()
    assert int(re.findall(r"(\d+) lines", head)[0]) >= 50
    assert [line.split(": ")[0] for line in lines] == [
        f"{file}, {name} core" for file in files for name in ("this", "before")
    ]
    ratios = [float(ratio) for line in lines for ratio in re.findall(r"([\d.]+) times", line)]
    assert len(ratios) == 4 and min(ratios) > 0
