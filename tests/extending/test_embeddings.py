"""An extended tokenizer in `transformers`: AutoTokenizer opens it, and a model gets rows for it."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from bases import BASES, documents
from supratok.extending import Extension, extend, start_embeddings

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


@pytest.fixture(scope="module", params=["gpt2", "llama2"])
def folders(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`base` and `out`: the folder of a base, as it comes from a hub, and its extension."""
    folder = tmp_path_factory.mktemp("extend")
    name, base = str(request.param), folder / "base"
    base.mkdir()
    (base / "tokenizer.json").write_text(json.dumps(BASES[name]()), encoding="utf-8")
    kind = {"gpt2": "GPT2Tokenizer", "llama2": "LlamaTokenizer"}
    config = {
        "tokenizer_class": kind.get(name, "PreTrainedTokenizerFast"),
        "bos_token": "<|end|>", "eos_token": "<|end|>", "model_max_length": 64,
        "added_tokens_decoder": {"0": {"content": "<|end|>", "special": True}},
        "chat_template": "{% for m in messages %}{{ m['content'] }}{{ eos_token }}{% endfor %}",
    }  # fmt: skip
    (base / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    extend(base, documents(), 60, folder / "out", min_count=5, progress=False)
    return folder


def opened(folder: Path) -> Any:
    return transformers.AutoTokenizer.from_pretrained(folder)


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What `transformers` logs."""
    monkeypatch.setattr(logging.getLogger("transformers"), "propagate", True)
    logging.getLogger("transformers.tests").warning("heard")
    assert caplog.records
    caplog.clear()
    return caplog.records


def test_auto_tokenizer_opens_it(folders: Path, warnings: list[Any]) -> None:
    tokenizer, extension = opened(folders / "out"), Extension.load(folders / "out")
    assert not warnings
    base = transformers.PreTrainedTokenizerFast.from_pretrained(folders / "base")
    assert len(tokenizer) == extension.vocab_size
    for text in documents(seed=9, number=40):
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        assert extension.expand(ids) == base(text, add_special_tokens=False)["input_ids"]
        assert tokenizer.decode(ids) == base.decode(extension.expand(ids))
        assert any(id >= extension.first_new_id for id in ids)
    assert (tokenizer.eos_token, tokenizer.eos_token_id) == ("<|end|>", 0)
    said = [{"role": "user", "content": "one of the most"}]
    assert tokenizer.apply_chat_template(said, tokenize=False) == "one of the most<|end|>"


def test_it_opens_beside_a_model_and_after_saving(folders: Path, tmp_path: Path) -> None:
    """A config.json names a kind of model, and with it a class of tokenizer that is not meant."""
    tokenizer = opened(folders / "out")
    tokenizer.save_pretrained(tmp_path)
    tiny_gpt2(len(tokenizer)).save_pretrained(tmp_path)
    again = opened(tmp_path)
    for text in documents(seed=9, number=10):
        assert again(text)["input_ids"] == tokenizer(text)["input_ids"]


def test_a_bare_file_opens_without_a_word(tmp_path: Path, warnings: list[Any]) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(BASES["metaspace"]()), encoding="utf-8")
    extension = extend(file, documents(), 20, tmp_path / "out", progress=False)
    tokenizer = opened(tmp_path / "out")
    assert not warnings and len(tokenizer) == extension.vocab_size


# --- Models ----------------------------------------------------------------------------------


def tiny_gpt2(size: int, **changes: Any) -> Any:
    torch.manual_seed(0)
    values = {"vocab_size": size, "n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 256}
    config = transformers.GPT2Config(**values, bos_token_id=0, eos_token_id=0, **changes)
    return transformers.GPT2LMHeadModel(config)


def tiny_llama(size: int, **changes: Any) -> Any:
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=size, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, bos_token_id=0, eos_token_id=0, tie_word_embeddings=False, **changes,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config)


def with_bias(size: int) -> Any:
    """Phi has a bias a token in its output."""
    torch.manual_seed(0)
    config = transformers.PhiConfig(
        vocab_size=size, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    model = transformers.PhiForCausalLM(config)
    torch.nn.init.normal_(model.lm_head.bias)
    return model


def tables(model: Any) -> list[Any]:
    output = model.get_output_embeddings()
    found = [model.get_input_embeddings().weight, output.weight, getattr(output, "bias", None)]
    return [table.detach().clone() for table in found if table is not None]


@pytest.mark.parametrize("make", [tiny_gpt2, tiny_llama, with_bias])
@pytest.mark.parametrize("padding", [0, 7, 1000])
def test_new_rows_are_means_and_old_ones_stay(
    make: Any, padding: int, folders: Path, tmp_path: Path
) -> None:
    extension = Extension.load(folders / "out")
    model = make(extension.base_vocab_size + padding)
    before = tables(model)
    start_embeddings(model, folders / "out")
    after = tables(model)
    rows = max(extension.vocab_size, extension.base_vocab_size + padding)
    assert model.config.vocab_size == rows
    for old, new in zip(before, after, strict=True):
        assert len(new) == rows
        assert torch.equal(new[: extension.base_vocab_size], old[: extension.base_vocab_size])
        for token in extension.tokens:
            assert torch.allclose(new[token.id], old[token.parts].mean(0), atol=1e-6)
    tied = model.get_input_embeddings().weight is model.get_output_embeddings().weight
    assert tied == (make is tiny_gpt2)

    ids = opened(folders / "out")(documents(seed=9)[0], return_tensors="pt")["input_ids"]
    assert (ids >= extension.first_new_id).any()
    logits = model.eval()(ids).logits
    assert logits.shape[-1] == rows and torch.isfinite(logits).all()
    model.save_pretrained(tmp_path)
    again = type(model).from_pretrained(tmp_path).eval()
    assert torch.allclose(again(ids).logits, logits, atol=1e-5)


def test_half_precision_and_the_wrong_model(folders: Path) -> None:
    extension = Extension.load(folders / "out")
    model = tiny_llama(extension.base_vocab_size).bfloat16()
    start_embeddings(model, extension)
    token, weight = extension.tokens[0], model.get_input_embeddings().weight
    assert weight.dtype == torch.bfloat16
    assert torch.equal(weight[token.id], weight[token.parts].float().mean(0).bfloat16())
    with pytest.raises(ValueError, match="the model has 100 embeddings, and the base tokenizer"):
        start_embeddings(tiny_gpt2(100), extension)
