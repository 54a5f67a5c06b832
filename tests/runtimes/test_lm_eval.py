"""The model `supratok` of lm-evaluation-harness. The harness brings forty packages, so it is not
among those of `make test`; `.ci/run` installs it and runs these tests."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import supratok
from run_scripts import script
from supratok import Tokenizer
from supratok.lab.lm.tasks import Item
from texts import small_tokenizer
from tiny_models import gpt2, torch, transformers

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("lm_eval.models.huggingface", reason="pip install lm-eval[hf]")
    from supratok.runtimes import harness

pytestmark = pytest.mark.usefixtures("one_thread")
PAIRS = [
    ("in New", " York"),
    ("as well", " as in"),
    ("the cats", "."),
    ("", "New York"),
    ("in New York</s>in", " New"),
    ("🙂 as", " well as"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    ours = small_tokenizer("merges", special_tokens=("</s>",))
    ours.export(folder, ["huggingface"], eos="</s>")
    gpt2(ours).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def lm(folder: Path) -> Any:
    from lm_eval.api.registry import get_model

    return get_model("supratok")(str(folder), device="cpu", batch_size=4)


def requests(kind: str, arguments: list[Any]) -> list[Any]:
    from lm_eval.api.instance import Instance

    return [Instance(kind, {}, one, number) for number, one in enumerate(arguments)]


def test_pairs_have_our_scores(lm: Any, folder: Path) -> None:
    tokenizer = Tokenizer.load(folder)
    found = lm.loglikelihood(requests("loglikelihood", PAIRS))
    alone = [
        supratok.logprob(lm.model, tokenizer, *pair, bos=[0], allow_special=True) for pair in PAIRS
    ]
    assert [value for value, _ in found] == pytest.approx(alone, abs=1e-4)
    begun = [("</s>in New", " York")]  # tasks may write the start of the text themselves
    assert lm.loglikelihood(requests("loglikelihood", begun))[0] == pytest.approx(
        found[0], abs=1e-4
    )


def test_greedy_is_what_it_generates(lm: Any) -> None:
    contexts = [context for context, _ in PAIRS]
    asked = [(context, {"max_gen_toks": 4, "until": ["\n\n"]}) for context in contexts]
    texts = lm.generate_until(requests("generate_until", asked))
    whole = [(context, text[:6]) for context, text in zip(contexts, texts, strict=True)]
    found = lm.loglikelihood(requests("loglikelihood", whole))
    assert all(greedy for (_, greedy), (_, text) in zip(found, whole, strict=True)
               if "\ufffd" not in text)  # fmt: skip
    wrong = [(context, "zz") for context in contexts]
    assert not any(greedy for _, greedy in lm.loglikelihood(requests("loglikelihood", wrong)))


def test_texts_end_where_they_are_told(lm: Any) -> None:
    asked: list[Any] = [("in New", {"max_gen_toks": 20, "until": []})]
    (text,) = lm.generate_until(requests("generate_until", asked))
    end = text[len(text) // 2 :][:2]
    asked = [("in New", {"max_gen_toks": 20, "until": [end]})] * 2
    assert lm.generate_until(requests("generate_until", asked)) == [text.split(end)[0]] * 2


def test_documents_are_scored_by_the_harness(lm: Any, folder: Path) -> None:
    tokenizer, text = Tokenizer.load(folder), "as well as in New York."
    (found,) = lm.loglikelihood_rolling(requests("loglikelihood_rolling", [(text,)]))
    ids = torch.tensor([[0, *tokenizer.encode(text)]])
    with torch.inference_mode():
        steps = lm.model(ids, attention_mask=torch.ones_like(ids)).logits[0].log_softmax(1)
    expected = sum(float(steps[place, id]) for place, id in enumerate(ids[0, 1:].tolist()))
    assert found == pytest.approx(expected, abs=1e-3)


def test_a_tokenizer_that_is_not_here_is_named() -> None:
    with pytest.raises(ValueError, match="tokenizer='nobody/nothing': pass the folder"):
        harness.open_tokenizer("nobody/nothing")


@pytest.mark.slow
def test_the_harness_runs_a_task(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its own program: a task of one file, as in runs/harness.py."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    items = [Item("in New", (" York.", " Jersey"), 0), Item("as well", (" as", " in"), 1)]
    made = script("harness").task(tmp_path, items, "</s>")
    code = (
        "import json, sys, supratok.runtimes.harness\n"
        "from lm_eval.evaluator import simple_evaluate\n"
        "task, folder = json.loads(sys.argv[1]), sys.argv[2]\n"
        "found = simple_evaluate(model='supratok', model_args={'pretrained': folder}, tasks=[task],"
        " device='cpu', batch_size=4, bootstrap_iters=0)\n"
        "rows = sorted(found['samples'][task['task']], key=lambda row: row['doc_id'])\n"
        "print(json.dumps([[pair[0] for pair in row['filtered_resps']] for row in rows]))\n"
    )
    command = [sys.executable, "-c", code, json.dumps(made), str(folder)]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr[-3000:]
    found = [float(value) for row in json.loads(said.stdout.splitlines()[-1]) for value in row]
    tokenizer = Tokenizer.load(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    pairs = [(item.context, ending) for item in items for ending in item.endings]
    assert found == pytest.approx(supratok.logprobs(model, tokenizer, pairs, bos=[0]), abs=1e-4)


@pytest.mark.slow
def test_the_command_knows_the_model() -> None:
    command = [sys.executable, "-m", "supratok.runtimes", "lm_eval", "run", "--model", "supratok",
               "--model_args", "pretrained=nobody/nothing", "--tasks", "no_such_task"]  # fmt: skip
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode and "no_such_task" in said.stdout + said.stderr
