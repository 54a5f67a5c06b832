"""runs/extend_model.py, on made-up text and a tiny model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from run_scripts import SIZE, script
from supratok.lab.lm.stream import Stream
from supratok.lab.lm.training import Plan
from supratok.lab.report.tables import read
from texts import prose, write_corpus

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.usefixtures("one_thread")
ONLY = ["mean", "both + sample"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("extend")
    write_corpus(folder / "corpus.jsonl.zst", prose(1, 600))
    return folder


def call(folder: Path, *more: str) -> Any:
    values = {
        "--corpus": "corpus.jsonl.zst", "--cache": "cache", "--out": "out",
    }  # fmt: skip
    given = [one for name, file in values.items() for one in (name, str(folder / file))]
    given += ["--size", str(SIZE), "--add", "30", "--documents", "600", "--batch", "4"]
    given += ["--budgets", "500", "1500", "--measured", "3000", "--sample", "400", "--only", *ONLY]
    script("extend_model").main([*given, *more])
    return read(folder / "out")


def test_the_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--shape", "1", "32", "32", "--tokens", "4000", "--seeds", "0", "1"]
    table = call(folder, *small)
    control, *others = table.lines
    assert control[0] == "not extended" and [line[0] for line in others] == ONLY
    before = int(control[1].replace(",", ""))
    for line in others:
        tokens = int(line[1].split()[0].replace(",", ""))
        assert tokens < before and f"{tokens / before - 1:+.1%}" in line[1]
        assert line[5] == f"{float(line[2]) / float(control[2]) - 1:+.1%}"
    assert (folder / "out" / "extend.svg").exists()
    rows = (folder / "out" / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 6
    at = json.loads(rows[0])["figures"]["at"]  # the control: equal tokens and equal text
    assert len(at) == 5 and {"0", "500", "1500"} <= set(at) and max(map(int, at)) > 1500
    capsys.readouterr()
    assert call(folder, *small).lines == table.lines and not capsys.readouterr().err

    base = next((folder / "out").glob("base-*"))
    assert call(folder, "--model", str(base)).lines[0][2] == control[2]


def test_bits_by_hand_and_training_learns() -> None:
    """A text longer than the context: each token has at least half a context before it."""
    lm, model = script("extend_lm"), transformers.GPT2LMHeadModel(
        transformers.GPT2Config(vocab_size=12, n_embd=16, n_layer=1, n_head=1, n_positions=8,
                                bos_token_id=0, eos_token_id=0)
    )  # fmt: skip
    ids = np.array([1, 2, 3] * 6, dtype=np.int32)
    found = lm.nats_of(lambda batch: lm.losses(model.eval(), batch), [ids], 0, 8, "cpu")[0]
    with torch.no_grad():
        logits = model(torch.tensor([[0, *ids[:7].tolist()]])).logits[0].log_softmax(-1)
    by_hand = [-float(logits[place, id]) for place, id in enumerate(ids[:8].tolist())]
    assert found[:8].tolist() == pytest.approx(by_hand, abs=0.05)  # bfloat16
    reached: list[str] = []
    rungs = {2: lambda: reached.append("two"), 9: lambda: reached.append("never")}
    plan = Plan(tokens=6 * 4 * 8, batch=4, rate=0.01)
    lm.teach(model, plan, Stream([ids] * 9, 0), 8, "cpu", rungs)
    after = lm.nats_of(lambda batch: lm.losses(model.eval(), batch), [ids], 0, 8, "cpu")[0]
    assert reached == ["two"] and after.mean() < found.mean()
