"""A saved model is the same model to `transformers`, and loads unchanged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

import supratok
from bases import byte_level, spaced
from supratok.formats.peer import Named, open_any
from supratok.lab.lm.coder import Coder
from supratok.lab.lm.generation import _continued, _Draw, sample
from supratok.lab.lm.model import Decoder, Shape, new_decoder
from supratok.lab.lm.saving import END, load_folder, save_folder

transformers = pytest.importorskip("transformers")

TEXTS = [f"The cat sat on the mat in New York, {number} times: 日本. " * 4 for number in range(60)]
KINDS = ("merges", "fewest", "bytes", "spaced", "has the token")


pytestmark = pytest.mark.usefixtures("one_thread")


def coder_of(kind: str, path: Path) -> Coder:
    if kind in ("merges", "fewest"):
        recipe = supratok.Recipe(vocab_size=500, screen=None, segmentation=kind)  # type: ignore[arg-type]
        supratok.train(TEXTS, recipe).save(path)
    else:
        tokenizer = spaced() if kind == "spaced" else byte_level()
        if kind == "has the token":
            tokenizer.add_special_tokens([END])
        path.write_text(tokenizer.to_str(), encoding="utf-8")
    return Coder(open_any(path))


@pytest.fixture(scope="module", params=KINDS)
def saved(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Decoder, Coder]:
    folder = tmp_path_factory.mktemp("model")
    coder = coder_of(request.param, folder / "tokenizer")
    model = new_decoder(Shape(coder.rows, layers=2, width=128, context=32), seed=3)
    with torch.no_grad():
        chance = torch.Generator().manual_seed(3)
        for weight in model.parameters():  # so that no weight is zero or one
            weight.mul_(3.0).add_(torch.randn(weight.shape, generator=chance) * 0.05)
    save_folder(folder / "saved", model, coder)
    return folder / "saved", model, coder


def opened(folder: Path) -> tuple[Any, Any]:
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def test_transformers_finds_the_same_logits(saved: tuple[Path, Decoder, Coder]) -> None:
    folder, model, coder = saved
    theirs, tokenizer = opened(folder)
    for text in (*TEXTS[:2], " New York", "日本 ▁ é", "x"):
        ids = [int(id) for id in coder.encode(text)]
        assert tokenizer.encode(text) == ids
        window = torch.tensor([[coder.end, *ids][:32]])
        with torch.no_grad():
            ours = model(window) @ model.table.T
            assert torch.allclose(theirs(window).logits, ours, atol=1e-4)
    assert theirs.num_parameters() == model.shape.parameters
    assert (
        tokenizer.eos_token_id == tokenizer.bos_token_id == coder.end == theirs.config.eos_token_id
    )
    assert tokenizer.encode(tokenizer.eos_token + "x")[0] == coder.end


def test_transformers_generates_the_same(saved: tuple[Path, Decoder, Coder]) -> None:
    """The likeliest tokens. Ours never draws the end of a document; `min_new_tokens` forbids it to
    theirs (`bad_words_ids` would not: `transformers` ignores it for the token that ends texts)."""
    folder, model, coder = saved
    theirs, _ = opened(folder)
    prompt = [coder.end, *coder.encode("The cat").tolist()]
    made = theirs.generate(
        torch.tensor([prompt]),
        attention_mask=torch.ones(1, len(prompt)),
        min_new_tokens=10,
        max_new_tokens=10,
        do_sample=False,
    )[0].tolist()
    likeliest = _Draw(coder, 1.0, 1, torch.Generator())
    (ours,) = _continued(model, [prompt], 10, likeliest, "cpu")
    assert made == prompt + ours
    known, whole = (coder.peer.decode(ids[1:]) for ids in (prompt, made))
    assert sample(model, coder, ["The cat"], 10, top_k=1) == [whole[len(known) :]]


def test_a_pipeline_opens_it(saved: tuple[Path, Decoder, Coder]) -> None:
    folder, _, coder = saved
    pipeline = transformers.pipeline("text-generation", model=str(folder))
    made = pipeline("The cat", max_new_tokens=5, do_sample=True)[0]["generated_text"]
    assert made.lstrip().startswith("The cat")
    assert pipeline.tokenizer.eos_token_id == coder.end


def test_rows_after_the_vocabulary_are_kept_and_never_generated(
    saved: tuple[Path, Decoder, Coder],
) -> None:
    folder, _, coder = saved
    config = json.loads((folder / "config.json").read_text())
    assert (config["vocab_size"], config["rows_in_use"]) == (coder.rows, coder.size)
    forbidden = json.loads((folder / "generation_config.json").read_text())["suppress_tokens"]
    assert forbidden == list(range(coder.size, coder.rows)) != []


def test_a_folder_loads_unchanged(saved: tuple[Path, Decoder, Coder], tmp_path: Path) -> None:
    folder, model, coder = saved
    again, coder_again = load_folder(folder)
    assert again.shape == model.shape and coder_again.end == coder.end
    assert coder_again.encode(TEXTS[0]).tolist() == coder.encode(TEXTS[0]).tolist()
    weights = dict(again.named_parameters())
    for name, weight in model.named_parameters():
        assert torch.equal(weights[name], weight), name
    save_folder(tmp_path / "again", again, Coder(Named("another name", coder_again.peer)))
    for file in folder.iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes(), file.name


def test_models_that_cannot_be_saved_are_refused(tmp_path: Path) -> None:
    coder = coder_of("merges", tmp_path / "tokenizer")
    model = new_decoder(Shape(coder.rows + 64, layers=1, width=32, context=8), seed=0)
    with pytest.raises(ValueError, match=f"needs {coder.rows}; pass the tokenizer"):
        save_folder(tmp_path / "saved", model, coder)
    with pytest.raises(ValueError, match=r"has no coder\.json"):
        load_folder(tmp_path)

    class Other:
        name, vocab_size = "other", coder.end

    model = new_decoder(Shape(coder.rows, layers=1, width=32, context=8), seed=0)
    with pytest.raises(ValueError, match="other: transformers cannot open"):
        save_folder(tmp_path / "saved", model, Coder(Other()))  # type: ignore[arg-type]


def test_ids_with_holes_are_refused(tmp_path: Path) -> None:
    document = json.loads(byte_level().to_str())
    vocabulary = document["model"]["vocab"]
    last = max(vocabulary, key=vocabulary.__getitem__)
    vocabulary[last] += 7
    (tmp_path / "tokenizer.json").write_text(json.dumps(document), encoding="utf-8")
    coder = Coder(open_any(tmp_path / "tokenizer.json"))
    model = new_decoder(Shape(coder.rows, layers=1, width=32, context=8), seed=0)
    with pytest.raises(ValueError, match="have holes"):
        save_folder(tmp_path / "saved", model, coder)
