"""How the rows of new tokens start: each way against a computation by hand, in tiny models."""

from __future__ import annotations

from typing import Any

import pytest

from supratok.extending import Extension, start_embeddings
from supratok.extending.extension import NewToken
from supratok.extending.starts import NEAREST, STARTS, by_place

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

BASE = 40  # ids of the base
EXTENSION = Extension(
    "a base", BASE,
    [NewToken(40, "a b", [3, 7], 20), NewToken(41, "a b c", [3, 7, 9], 10),
     NewToken(42, "d e", [11, 12], 5)],
)  # fmt: skip
NEW = [token.id for token in EXTENSION.tokens]
SAMPLE = [[1, 2, 40, 5, 41, 8, 3, 9], [6, 42, 7, 40, 2, 1, 30, 31, 32, 33]]


def tied(size: int = BASE) -> Any:
    torch.manual_seed(1)
    config = transformers.GPT2Config(
        vocab_size=size, n_embd=16, n_layer=1, n_head=2, n_positions=8, bos_token_id=0,
        eos_token_id=0, initializer_range=0.5,
    )  # fmt: skip
    return transformers.GPT2LMHeadModel(config)


def untied(size: int = BASE) -> Any:
    torch.manual_seed(1)
    config = transformers.LlamaConfig(
        vocab_size=size, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, bos_token_id=0, eos_token_id=0, tie_word_embeddings=False,
        initializer_range=0.5,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config)


def with_bias(size: int = BASE) -> Any:
    """Phi has a bias a token in its output."""
    torch.manual_seed(1)
    config = transformers.PhiConfig(
        vocab_size=size, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, bos_token_id=0, eos_token_id=0, initializer_range=0.5,
    )  # fmt: skip
    model = transformers.PhiForCausalLM(config)
    torch.nn.init.normal_(model.lm_head.bias)
    return model


MODELS = [tied, untied, with_bias]


def tables(model: Any) -> dict[str, Any]:
    """Input, output and bias, as copies."""
    output = model.get_output_embeddings()
    found = {"input": model.get_input_embeddings().weight, "output": output.weight}
    if getattr(output, "bias", None) is not None:
        found["bias"] = output.bias
    return {name: table.detach().clone() for name, table in found.items()}


def started(make: Any, start: Any, size: int = BASE, **more: Any) -> tuple[Any, Any]:
    """The tables of a model before and after."""
    model = make(size)
    before = tables(model)
    start_embeddings(model, EXTENSION, start, **more)
    return before, tables(model)


# --- By hand


@pytest.mark.parametrize("make", MODELS)
def test_the_mean_is_the_same_to_the_byte(make: Any) -> None:
    before, after = started(make, "mean")
    default = make()
    start_embeddings(default, EXTENSION)
    for name, table in tables(default).items():
        assert torch.equal(table, after[name])
        for token in EXTENSION.tokens:
            assert torch.equal(table[token.id], before[name][token.parts].float().mean(0))


@pytest.mark.parametrize("make", [untied, with_bias])
def test_parts_rise_in_the_input_and_fall_in_the_output(make: Any) -> None:
    before, after = started(make, "parts")
    for name, old in before.items():
        first, last = (1, 2) if name == "input" else (2, 1)
        by_hand = (first * old[3] + last * old[7]) / 3
        assert torch.allclose(after[name][40], by_hand, atol=1e-6)
        by_hand = (first**2 * old[3] + 2 * old[7] + last**2 * old[9]) / 7
        assert torch.allclose(after[name][41], by_hand, atol=1e-6)


def test_parts_of_a_tied_table_are_the_mean_of_both() -> None:
    before, after = started(tied, "parts")
    old = before["input"]
    assert torch.allclose(after["input"][40], (old[3] + old[7]) / 2, atol=1e-6)
    by_hand = (5 * old[3] + 4 * old[7] + 5 * old[9]) / 14
    assert torch.allclose(after["input"][41], by_hand, atol=1e-6)


def nearest_by_hand(table: Any, parts: list[int], weights: Any) -> Any:
    """The mean of the five most alike rows, weighted by their likeness."""
    rows = table[:BASE] - table[:BASE].mean(0)
    wanted = (rows[parts] * weights[: len(parts), None]).sum(0)
    alike = {
        id: float(torch.nn.functional.cosine_similarity(wanted, rows[id], dim=0))
        for id in range(BASE)
        if id not in parts
    }
    best = sorted(alike, key=lambda id: -alike[id])[:NEAREST]
    total = sum(max(1e-6, alike[id]) for id in best)
    return best, torch.tensor([max(1e-6, alike[id]) / total for id in best])


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("padding", [0, 2, 30])
def test_nearest_and_both(make: Any, padding: int) -> None:
    """Rows after the base's are padding, which is near to nothing."""
    before, near = started(make, "nearest", BASE + padding)
    _, parts = started(make, "parts", BASE + padding)
    _, both = started(make, "both", BASE + padding)
    is_tied = make is tied
    for name, old in before.items():
        up, likeness = name == "input", old if old.dim() == 2 else before["output"]
        _, weights = by_place(EXTENSION, rising=up or is_tied, falling=not up or is_tied)
        for row, token in enumerate(EXTENSION.tokens):
            best, shares = nearest_by_hand(likeness, token.parts, weights[row])
            by_hand = sum(share * old[id] for share, id in zip(shares, best, strict=True))
            assert torch.allclose(near[name][token.id], by_hand, atol=1e-5)
            mixed = 0.7 * parts[name][token.id] + 0.3 * by_hand
            assert torch.allclose(both[name][token.id], mixed, atol=1e-5)


# --- Levels


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("start", STARTS)
def test_with_a_sample_new_tokens_are_as_probable_as_frequent(make: Any, start: Any) -> None:
    model, plain = make(), make()
    start_embeddings(model, EXTENSION, start, sample=SAMPLE)
    start_embeddings(plain, EXTENSION, start)
    assert model.training == plain.training
    wanted = torch.tensor([20.0, 10.0, 5.0]) / 35 * (4 / 18)
    far, near = (error(one, wanted) for one in (plain, model))
    assert near < 0.2 * far and near < 0.2
    for name, table in tables(model).items():
        assert torch.equal(table[:BASE], tables(plain)[name][:BASE])
        if make is not tied and name == "input":
            assert torch.equal(table, tables(plain)[name])


def error(model: Any, wanted: Any) -> float:
    """How far the mean probabilities of the new tokens are from those wanted, in nats."""
    windows = [ids[start : start + 8] for ids in SAMPLE for start in range(0, len(ids), 8)]
    model.eval()
    with torch.no_grad():
        seen = [model(torch.tensor([ids])).logits[0].softmax(-1)[:, NEW] for ids in windows]
    return float((torch.cat(seen).mean(0).log() - wanted.log()).abs().mean())


def test_a_sample_that_tells_nothing_is_refused_before_any_change() -> None:
    model = tied()
    with pytest.raises(ValueError, match="the sample holds no new token; pass texts as ids of the"):
        start_embeddings(model, EXTENSION, sample=[[1, 2, 3], []])
    with pytest.raises(ValueError, match="the model predicts no tokens, so a sample has nothing"):
        start_embeddings(model.transformer, EXTENSION, sample=SAMPLE)
    assert len(model.get_input_embeddings().weight) == BASE


# --- All ways


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("sample", [None, SAMPLE])
def test_the_old_rows_and_the_type_stay_and_twice_is_the_same(
    make: Any, start: Any, sample: Any
) -> None:
    one, other = make(BASE + 9).bfloat16(), make(BASE + 9).bfloat16()
    before = tables(one)
    for model in (one, other):
        start_embeddings(model, EXTENSION, start, sample=sample)
    after = tables(one)
    for name, table in tables(other).items():
        assert torch.equal(table, after[name]) and table.dtype == torch.bfloat16
        assert len(table) == BASE + 9 and torch.isfinite(table.float()).all()
        assert torch.equal(table[:BASE], before[name][:BASE])
        assert torch.equal(table[BASE + 3 :], before[name][BASE + 3 :])  # padding
        assert not torch.equal(table[NEW], before[name][NEW])
    assert (one.get_input_embeddings().weight is one.get_output_embeddings().weight) == (
        make is tied
    )


def test_an_unknown_start_names_the_choices() -> None:
    with pytest.raises(ValueError, match="start='median': choose one of mean, parts, nearest, bo"):
        start_embeddings(tied(), EXTENSION, "median")  # type: ignore[arg-type]
