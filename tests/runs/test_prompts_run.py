"""runs/prompts.py, on a tiny model."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch

import supratok
from run_scripts import script
from supratok.formats.peer import open_any
from supratok.lab.lm.coder import Coder
from supratok.lab.lm.model import Shape, new_decoder
from supratok.lab.lm.saving import save_folder
from supratok.lab.report.tables import read
from supratok.runtimes.chances import Prompt
from texts import small_tokenizer
from tiny_models import gpt2
from vocabularies import made

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.usefixtures("one_thread")
TEXTS = [f"The cat sat on the mat in New York, {number} times. " * 4 for number in range(60)]
ITEMS: list[dict[str, Any]] = [
    {"activity_label": "Cats", "ctx": ctx, "endings": ["the mat.", "a dog.", "sat.", "!"],
     "label": 0}
    for ctx in ("The cat sat on", "The cat sat on", "The cat sat on the mat.", "It was 3")
]  # fmt: skip
PASSAGES = [{"context": "The cat sat on the", "continuation": "mat"}] * 3


def test_the_tables(tmp_path: Path) -> None:
    supratok.train(TEXTS, supratok.Recipe(vocab_size=500, screen=None)).save(tmp_path / "ours")
    coder = Coder(open_any(tmp_path / "ours"))
    save_folder(tmp_path / "m", new_decoder(Shape(coder.rows, 1, 32, 64), seed=0), coder)
    vocab = {letter: id for id, letter in enumerate(["a", "b", "ab", "Ġ", "Ġab", "abĠab", "ÿ"])}
    files: dict[str, Any] = {
        "items": "\n".join(map(json.dumps, ITEMS)),
        "lambada": "\n".join(map(json.dumps, PASSAGES)),
        "superbpe": json.dumps({"model": {"vocab": vocab}}),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    given = [str(tmp_path / "m"), "--test", str(tmp_path / "items"), "--timed", "2"]
    given += ["--lambada", str(tmp_path / "lambada"), "--superbpe", str(tmp_path / "superbpe")]
    script("prompts").main([*given, "--out", str(tmp_path / "out")])
    lines = read(tmp_path / "out" / "accuracy").lines
    ways = ["exact", "one token back", "cut by count", "nothing"]
    tokenizer = supratok.Tokenizer.load(tmp_path / "m")
    pairs = [(one["ctx"], " the mat.") for one in ITEMS] + [("The cat sat on the", " mat")]
    apart = [tokenizer.encode(one) + tokenizer.encode(two) for one, two in pairs]
    crosses = [
        tokenizer.encode(one + two) != ids for (one, two), ids in zip(pairs, apart, strict=True)
    ]
    assert crosses == [True, True, False, False, False]
    sizes = [4, 2, 2, 3, 3]  # no token crosses a border of LAMBADA
    assert [line[1] for line in lines] == ways * 5
    assert [line[2] for line in lines] == [str(size) for size in sizes for _ in ways]
    assert [line[0].partition(": ")[2] for line in lines[::4]] == [
        "", "a token crosses", "no token crosses", "", "no token crosses",
    ]  # fmt: skip
    assert [line[3] == "-" for line in lines] == [False] * 12 + [False, False, True, False] * 2
    assert [line[8] == "-" for line in lines] == [False, True, False, False] * 5
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "m")
    found = supratok.logprob(model, tokenizer, "The cat sat on the", " mat")
    assert float(lines[12][8]) == pytest.approx(-found / math.log(2), abs=1e-3)
    lines = read(tmp_path / "out" / "cost").lines
    assert [line[0] for line in lines] == ["ours", "ours", "SuperBPE, 80k", "SuperBPE, 80k"]
    assert all(float(line[7]) > 0 and float(line[8]) > 0 for line in lines)


def test_more_positions() -> None:
    """`abc` goes on behind `ab|c`, or with `bcd` behind `a`: three ids where the prompt has two."""
    run, tokenizer = script("prompts"), made(["ab", "bcd", "cc"], "fewest", "abcd")
    prompt = Prompt(tokenizer, "abc", False)
    tails = [tokenizer.decode(prompt.tail(cover)) for cover in prompt.covers]
    assert tails == ["abc", "ab", "a"] and run.more_positions(prompt) == 1
    assert run.more_positions(Prompt(tokenizer, "", False)) == 0


def test_given_ids() -> None:
    """Against a plain reading of each pair."""
    tokenizer = small_tokenizer("merges", special_tokens=("</s>",))
    ways = script("prompts").Ways(gpt2(tokenizer), tokenizer, 2)
    cuts = [(tokenizer.encode(one), tokenizer.encode(two))
            for one, two in [("in New", " York"), ("as well", " as in"), ("", "cats")]]  # fmt: skip
    for (before, ids), value in zip(cuts, ways._given(cuts), strict=True):
        row = torch.tensor([[0, *before, *ids]])
        with torch.no_grad():
            steps = ways.model(row, attention_mask=torch.ones_like(row)).logits[0].log_softmax(1)
        places = range(len(before), len(before) + len(ids))
        expected = sum(float(steps[place, id]) for place, id in zip(places, ids, strict=True))
        assert value == pytest.approx(expected, abs=1e-4)


def test_the_bonus_of_healing() -> None:
    run = script("prompts")
    tokenizer = small_tokenizer("merges")
    found = run._Begins(tokenizer).with_text(b" N")
    assert {tokenizer.token_text(id) for id in found} == {
        text for text in tokenizer.texts if text.startswith(" N")
    } and found
    once = run._Once([[0, 2, 2], []])
    assert once(None, torch.zeros((2, 3))).tolist() == [[10, 0, 11], [0, 0, 0]]
    assert once(None, torch.zeros((2, 3))).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_healing_as_transformers_does_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own `heal_tokens` chooses the same first token."""
    ours = small_tokenizer("merges", special_tokens=("</s>",))
    ours.export(tmp_path, ["huggingface"], bos="</s>", eos="</s>", pad="</s>")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    model = gpt2(ours)
    ways, texts = script("prompts").Ways(model, ours, 3), ["in New", "as well", "The cat", "in th"]
    ways.start = []  # theirs masks the start of the text
    monkeypatch.setattr(script("prompts"), "WORD", 1)
    found = ways._healed(texts)
    for text, more in zip(texts, found, strict=True):
        ids = torch.tensor([ours.encode(text)])
        healed = model.heal_tokens(ids, theirs)[0].tolist()
        assert ours.decode(healed) == text + more
