"""The names of `import supratok`, and calls as people write them."""

from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import supratok
from texts import prose

VERBS = ["curate", "extend", "mine", "prune", "refine", "tokenize", "train"]


@pytest.mark.parametrize("name", VERBS)
@pytest.mark.parametrize("before", ["", "import supratok.cli.extend, supratok.learn.prune;"])
def test_a_verb_is_a_function_whatever_was_imported(name: str, before: str) -> None:
    code = f"{before}import supratok; assert callable(supratok.{name})"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert isinstance(getattr(supratok, name), types.FunctionType)


def test_every_public_name_exists_and_is_documented() -> None:
    assert set(supratok.__all__) | {"__version__"} == set(dir(supratok))
    for name in supratok.__all__:
        assert getattr(supratok, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = supratok.nothing  # type: ignore[attr-defined]


def test_every_public_method_is_documented() -> None:
    for name in dir(supratok.Tokenizer):
        if not name.startswith("_"):
            assert getattr(supratok.Tokenizer, name).__doc__, name


def test_the_verbs_work_on_texts() -> None:
    texts = [f"{text} We met in New York as well as in Paris." for text in prose(4, 300)]
    kept = list(supratok.curate(texts))
    assert set(kept) < set(texts) and kept
    mined = supratok.mine(texts, supratok.Seeds(min_count=20), progress=False)
    assert any(" New York" in phrase.text for phrase in mined)
    tokenizer = supratok.train(texts, vocab_size=600, progress=False)
    smaller = supratok.prune(tokenizer, texts, 500, progress=False)
    assert smaller.vocab_size == 500
    assert supratok.refine(smaller, texts, 1, progress=False).vocab_size == 500


# --- A tokenizer, as users of other libraries call it


@pytest.fixture(scope="module")
def tokenizer() -> supratok.Tokenizer:
    recipe = supratok.Recipe(vocab_size=600, special_tokens=("</s>", "<pad>"))
    return supratok.train(prose(4, 300), recipe, progress=False)


def test_special_tokens_in_a_batch(tokenizer: supratok.Tokenizer) -> None:
    texts = ["a</s>", "", "</s><pad>b", "plain"]
    plain = tokenizer.encode_batch(texts)
    assert plain == [tokenizer.encode(text) for text in texts]
    special = tokenizer.encode_batch(texts, allow_special=True)
    assert special == [tokenizer.encode(text, allow_special=True) for text in texts]
    assert special[2][:2] == [0, 1] and not set(plain[2]) & {0, 1}
    arrays = tokenizer.encode_batch(texts, allow_special=True, numpy=True)
    assert [array.tolist() for array in arrays] == special


def test_decoding_without_special_tokens(tokenizer: supratok.Tokenizer) -> None:
    batch = tokenizer.encode_batch(["a</s>", "<pad>b"], allow_special=True)
    assert tokenizer.decode_batch(batch) == ["a</s>", "<pad>b"]
    assert tokenizer.decode_batch(batch, skip_special_tokens=True) == ["a", "b"]
    assert tokenizer.decode_bytes(batch[0], skip_special_tokens=True) == b"a"


def test_the_vocabulary(tokenizer: supratok.Tokenizer) -> None:
    vocab = tokenizer.get_vocab()
    assert len(tokenizer) == tokenizer.vocab_size == len(vocab)
    assert list(vocab.values()) == list(range(len(tokenizer)))
    for token, id in vocab.items():
        assert tokenizer.token_to_id(token) == id and tokenizer.id_to_token(id) == token
        assert token in tokenizer
    assert tokenizer.token_to_id("no such token") is None
    assert tokenizer.id_to_token(len(tokenizer)) is None
    assert "no such token" not in tokenizer and None not in tokenizer
    vocab.clear()
    assert "</s>" in tokenizer
    with pytest.raises(ValueError, match="no token has the id 1000000000"):
        tokenizer.birth(10**9)


def test_torch_takes_the_arrays(tokenizer: supratok.Tokenizer) -> None:
    torch = pytest.importorskip("torch")
    ids = torch.from_numpy(tokenizer.encode("some text", numpy=True))
    rows = torch.nn.Embedding(len(tokenizer), 4)(ids)
    logits = rows @ torch.nn.Embedding(len(tokenizer), 4).weight.T
    assert torch.nn.functional.cross_entropy(logits, ids) > 0
    assert tokenizer.decode(ids) == "some text"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (5, r"text must be a str, not int \(5\)"),
        (None, "text must be a str, not None"),
        (b"ab", r"text must be a str, not bytes \(b'ab'\); call \.decode\(\)"),
        (["a", "b"], r"not list .*; encode_batch takes several texts"),
    ],
)
def test_what_is_no_text_is_named(tokenizer: supratok.Tokenizer, text: Any, message: str) -> None:
    methods = (tokenizer.encode, tokenizer.count, tokenizer.encode_with_offsets, tokenizer.tokens)
    for method in methods:
        with pytest.raises(TypeError, match=message):
            method(text)


def test_what_is_no_batch_is_named(tokenizer: supratok.Tokenizer) -> None:
    methods: list[Any] = [tokenizer.encode_batch, tokenizer.usage]
    for method in methods:
        with pytest.raises(TypeError, match=r"item 1 of texts must be a str, not None"):
            method(["a", None])
        with pytest.raises(TypeError, match=r"takes a list of texts, not int \(5\)"):
            method(5)
        with pytest.raises(ValueError, match="lone surrogate"):
            method(["a", "\ud800"])
        with pytest.raises(TypeError, match="threads='2': must be a whole number"):
            method(["a"], threads="2")
    with pytest.raises(TypeError, match="item 0 of texts"):
        tokenizer.encode_batch([5], allow_special=True)  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1.5], r"ids must be whole numbers, not float \(1\.5\)"),
        (["12"], r"ids must be whole numbers, not str \('12'\)"),
        ([[1], [2]], r"not list \(\[1\]\); decode_batch takes several"),
        ("12", r"ids must be a sequence of whole numbers, not str \('12'\)"),
        (7, r"ids must be a sequence of whole numbers, not int \(7\)"),
    ],
)
def test_what_are_no_ids_is_named(tokenizer: supratok.Tokenizer, ids: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        tokenizer.decode(ids)


def test_arrays_of_floats_are_refused(tokenizer: supratok.Tokenizer) -> None:
    np = pytest.importorskip("numpy")
    with pytest.raises(TypeError, match="ids must be whole numbers, not float"):
        tokenizer.decode(np.array([1.5]))
    assert tokenizer.decode(np.array([], dtype=np.int64)) == ""


def test_a_tokenization_to_look_at(tokenizer: supratok.Tokenizer) -> None:
    shown = tokenizer.show("a b")
    assert str(shown) == "|".join(tokenizer.tokens("a b"))
    assert "<span" in shown._repr_html_()


def test_from_file_is_load(tokenizer: supratok.Tokenizer, tmp_path: Path) -> None:
    tokenizer.save(tmp_path / "t.json")
    assert supratok.Tokenizer.from_file(tmp_path / "t.json").get_vocab() == tokenizer.get_vocab()
