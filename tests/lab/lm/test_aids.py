"""Training aids for models of `transformers`: shared embeddings in training, then plain models."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import supratok
from supratok.formats.peer import open_any
from supratok.lab.lm.aids import fold_embeddings, is_composing, share_embeddings
from supratok.lab.lm.coder import Coder
from supratok.lab.lm.parts import Parts, Sharing, phrase_parts

transformers = pytest.importorskip("transformers")

TEXTS = [f"The cat sat on the mat in New York as well as in Paris, {n}. " * 4 for n in range(60)]
DOCS = Path(__file__).parents[3] / "docs"


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("aids") / "supratok.json"
    supratok.train(TEXTS, supratok.Recipe(vocab_size=400, screen=None)).save(path)
    return path


@pytest.fixture(scope="module")
def parts(file: Path) -> Parts:
    return phrase_parts(Coder(open_any(file)))


def config(kind: str, rows: int, tied: bool = True) -> Any:
    if kind == "gpt2":
        return transformers.GPT2Config(
            vocab_size=rows, n_positions=64, n_embd=16, n_layer=1, n_head=2,
            resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, tie_word_embeddings=tied,
            bos_token_id=0, eos_token_id=0,
        )  # fmt: skip
    return transformers.LlamaConfig(
        vocab_size=rows, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, tie_word_embeddings=tied,
    )  # fmt: skip


def model_of(kind: str, rows: int, tied: bool = True) -> Any:
    torch.manual_seed(0)
    return transformers.AutoModelForCausalLM.from_config(config(kind, rows, tied))


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_a_shared_model_folds_into_the_same_plain_one(
    parts: Parts, tmp_path: Path, kind: str, tied: bool
) -> None:
    model = model_of(kind, len(parts.counts), tied)
    names = {name for name, _ in model.named_parameters()}
    share_embeddings(model, parts)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    ids = torch.randint(0, 400, (4, 16), generator=torch.Generator().manual_seed(1))
    losses = []
    for _ in range(5):
        loss = model(ids, labels=ids).loss
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    model.eval()
    before = model(ids).logits
    matrices = {name: weight for name, weight in model.named_parameters() if is_composing(name)}
    assert len(matrices) == (3 if tied else 6)
    assert any(not torch.equal(one, torch.eye(16)) for one in matrices.values())
    fold_embeddings(model)
    assert torch.allclose(model(ids).logits, before, atol=1e-5)
    assert {name for name, _ in model.named_parameters()} == names
    is_one = model.get_input_embeddings().weight is model.get_output_embeddings().weight
    assert is_one == tied
    model.save_pretrained(tmp_path)
    again = transformers.AutoModelForCausalLM.from_pretrained(tmp_path).eval()
    assert torch.allclose(again(ids).logits, before, atol=1e-5)


def test_input_embeddings_are_those_of_sharing(parts: Parts) -> None:
    model = model_of("gpt2", len(parts.counts))
    table = model.get_input_embeddings().weight.detach().clone()
    share_embeddings(model, parts, composed=False)
    sharing = Sharing(parts, 16)
    sharing.start(table, own=True)
    ids = torch.arange(len(parts.counts))
    assert torch.allclose(model.get_input_embeddings()(ids), sharing.full(table), atol=1e-6)


def test_impossible_calls_are_refused(parts: Parts) -> None:
    model = model_of("gpt2", len(parts.counts))
    with pytest.raises(ValueError, match="call share_embeddings first"):
        fold_embeddings(model)
    share_embeddings(model, parts)
    with pytest.raises(ValueError, match="fold them first"):
        share_embeddings(model, parts)
    with pytest.raises(ValueError, match=r"the model has 300 embeddings.*resize_token_embeddings"):
        share_embeddings(model_of("gpt2", 300), parts)


def test_the_loop_of_the_documentation(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page's code runs, unchanged."""
    monkeypatch.chdir(tmp_path)
    supratok.Tokenizer.load(file).export("my-model", eos="</s>")
    (block,) = re.findall(
        r"```python\n(.*?)```", (DOCS / "models.md").read_text(encoding="utf-8"), re.DOTALL
    )
    coder = Coder(open_any("my-model"))
    rows, end = coder.rows, transformers.AutoTokenizer.from_pretrained("my-model").eos_token_id
    assert coder.end == end  # so that generation stops where documents ended
    given = {
        "texts": TEXTS, "config": config("gpt2", rows), "budget": 8_192, "batch": 8, "context": 32,
    }  # fmt: skip
    exec(compile(block, "models.md", "exec"), given)
    loss: Any = given["loss"]
    assert loss.item() < 5.5  # 6.1 before
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "my-model")
    assert model.get_input_embeddings().weight.shape == (rows, 16)


def test_the_recipe_of_the_documentation(tmp_path: Path) -> None:
    (block,) = re.findall(
        r"```toml\n(.*?)```", (DOCS / "models.md").read_text(encoding="utf-8"), re.DOTALL
    )
    (tmp_path / "my.toml").write_text(block, encoding="utf-8")
    plain = supratok.Recipe.balanced(32_000)
    assert plain.screen is not None
    screen = replace(plain.screen, min_boundary_entropy=5.0)
    recipe = supratok.Recipe.from_toml(tmp_path / "my.toml", vocab_size=32_000)
    assert recipe == replace(plain, screen=screen)
