"""runs/harness.py, with the rule of lm-evaluation-harness instead of the program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

import supratok
from run_scripts import script
from supratok.formats.peer import open_any
from supratok.lab.lm.coder import Coder
from supratok.lab.lm.model import Shape, new_decoder
from supratok.lab.lm.saving import END, save_folder
from supratok.lab.lm.tasks import Item
from supratok.lab.report.tables import figure, read

transformers = pytest.importorskip("transformers")

TEXTS = [f"The cat sat on the mat in New York, {number} times. " * 4 for number in range(60)]
ITEMS = [
    {"activity_label": "Cats", "ctx": ctx, "endings": ["the mat.", "a dog.", "sat.", "!"],
     "label": 0}
    for ctx in ("The cat sat on", "The cat sat on the mat.", "It was 3")
]  # fmt: skip


def by_its_rule(folder: Path, items: list[Item], device: str) -> list[list[float]]:
    """Scores the joined text's tokens after as many as the context has, given the context."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)

    def nats(context: str, ending: str) -> float:
        known = tokenizer.encode(END + context)
        rest = tokenizer.encode(END + context + ending)[len(known) :]
        with torch.no_grad():
            found = model(torch.tensor([known + rest])).logits[0].log_softmax(dim=1)
        return sum(float(found[len(known) + place - 1, id]) for place, id in enumerate(rest))

    return [[nats(item.context, ending) for ending in item.endings] for item in items]


def test_scores_are_the_harness_s_where_no_token_spans_the_boundary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.set_num_threads(1)
    supratok.train(TEXTS, supratok.Recipe(vocab_size=500, screen=None)).save(tmp_path / "ours")
    coder = Coder(open_any(tmp_path / "ours"))
    save_folder(tmp_path / "m", new_decoder(Shape(coder.rows, 1, 32, 64), seed=0), coder)
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, ITEMS)), encoding="utf-8")
    harness = script("harness")
    monkeypatch.setattr(harness, "by_harness", by_its_rule)
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0")
    given = [str(tmp_path / "m"), "--test", str(tmp_path / "items.jsonl")]
    harness.main([*given, "--out", str(tmp_path / "out")])
    lines = {line[0]: line[1:] for line in read(tmp_path / "out").lines}
    assert lines["all"][0] == "3"
    assert int(lines["a token spans it"][0]) >= 1 and lines["a token spans it"][1] == "0.0%"
    plain = lines["no token spans the boundary"]
    assert int(plain[0]) >= 1 and plain[1] == "100.0%" and figure(plain[2]) is not None
    assert float(plain[2]) < 1e-3 and plain[3] == plain[4] == "100.0%"


def test_the_task_holds_our_texts(tmp_path: Path) -> None:
    item = Item("Cats: The cat", (" sat.", " ran."), 1)
    made = script("harness").task(tmp_path, [item], END)
    file = Path(made["dataset_kwargs"]["data_files"]["validation"])
    assert json.loads(file.read_text(encoding="utf-8")) == {
        "query": END + item.context, "choices": ["sat.", "ran."], "label": 1,
    }  # fmt: skip
    assert made["output_type"] == "multiple_choice"
