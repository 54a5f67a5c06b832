"""The promises of a tokenizer: nothing lost, files and pickles exact, threads safe."""

from __future__ import annotations

import json
import pickle
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import supratok
from supratok import Piece, Recipe, Tokenizer, reference
from supratok.recipe import Segmentation
from texts import HOSTILE, any_text, corpus, prose

SPECIAL = ("<s>", "<|endoftext|>", "<|end")


@pytest.fixture(scope="module", params=["merges", "fewest"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    segmentation: Segmentation = request.param
    recipe = Recipe(vocab_size=1500, segmentation=segmentation, special_tokens=SPECIAL)
    return supratok.train(prose(8, 500) + corpus(8, 200), recipe, progress=False)


@settings(max_examples=300)
@given(text=any_text)
def test_text_comes_back_unchanged(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert tokenizer.decode_bytes(ids) == text.encode()
    assert tokenizer.count(text) == len(ids)
    assert all(len(SPECIAL) <= id < tokenizer.vocab_size for id in ids)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_comes_back_unchanged(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == text
    expected = reference.encode(text, tokenizer.vocabulary, tokenizer.recipe)
    assert tokenizer.encode(text) == expected


@settings(max_examples=200)
@given(text=any_text)
def test_offsets_say_where_each_token_stands(tokenizer: Tokenizer, text: str) -> None:
    ids, offsets = tokenizer.encode_with_offsets(text)
    assert ids == tokenizer.encode(text)
    place = 0
    for id, (start, end) in zip(ids, offsets, strict=True):
        if id < len(SPECIAL) + 256:  # a byte: the character it is part of
            assert end - start == 1
            assert tokenizer.decode_bytes([id]) in text[start:end].encode()
        else:
            assert text[start:end] == tokenizer.token_text(id)
        assert start in (place, place - 1)
        place = end
    assert place == len(text)


def test_encode_batch_is_encode_for_each(tokenizer: Tokenizer) -> None:
    texts = corpus(9, 300) + HOSTILE
    expected = [tokenizer.encode(text) for text in texts]
    for threads in (None, 1, 2, 7):
        assert tokenizer.encode_batch(texts, threads) == expected
        arrays = tokenizer.encode_batch(texts, threads, numpy=True)
        assert [array.tolist() for array in arrays] == expected
        assert all(array.dtype == np.int64 for array in arrays)
    assert tokenizer.encode_batch([]) == []
    assert tokenizer.encode_batch(iter(["a"])) == [tokenizer.encode("a")]


def test_numpy_where_asked(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("the cat <s>", numpy=True)
    assert ids.dtype == np.int64
    assert ids.tolist() == tokenizer.encode("the cat <s>")
    assert tokenizer.decode(ids) == "the cat <s>"
    special = tokenizer.encode("<s>", numpy=True, allow_special=True)
    assert special.tolist() == [0]


def test_special_tokens_only_where_asked(tokenizer: Tokenizer) -> None:
    text = "a<|endoftext|>b <s><|end"
    ordinary = tokenizer.encode(text)
    assert min(ordinary) >= len(SPECIAL)
    asked = tokenizer.encode(text, allow_special=True)
    a, b = tokenizer.encode("a"), tokenizer.encode("b ")
    assert asked == [*a, 1, *b, 0, 2]  # the longest special token wins
    assert tokenizer.decode(ordinary) == tokenizer.decode(asked) == text
    assert tokenizer.special_tokens == {"<s>": 0, "<|endoftext|>": 1, "<|end": 2}


def test_lone_surrogates_get_a_clear_error(tokenizer: Tokenizer) -> None:
    for call in (
        tokenizer.encode, tokenizer.count, tokenizer.encode_with_offsets, tokenizer.tokens,
        lambda text: tokenizer.encode_batch(["fine", text]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"lone surrogate .* at character 2.*repair") as caught:
            call("ab\ud800c")
        assert not isinstance(caught.value, UnicodeError)


def test_decoding_what_was_never_encoded(tokenizer: Tokenizer) -> None:
    half = tokenizer.encode("\U0001f9ff")[:2]
    assert tokenizer.decode(half) == "\ufffd"
    assert tokenizer.decode_bytes(half) == "\U0001f9ff".encode()[:2]
    for wrong in (tokenizer.vocab_size, -1, 10**12):
        with pytest.raises(ValueError, match=f"no token has the id {wrong}"):
            tokenizer.decode([5, wrong])
        with pytest.raises(ValueError, match="no token has the id"):
            tokenizer.token_text(wrong)
    assert tokenizer.decode([]) == ""


def test_tokens_and_explain(tokenizer: Tokenizer) -> None:
    text = "New York as well as\U0001f9ff"
    assert "".join(t for t in tokenizer.tokens(text) if not t.startswith("<0x")) == text[:-1]
    pieces = tokenizer.explain(text)
    assert [piece.id for piece in pieces] == tokenizer.encode(text)
    assert [piece.text for piece in pieces] == tokenizer.tokens(text)
    assert pieces[-1].born == "byte"
    assert pieces[-1].text == "<0xBF>"
    for piece in pieces:
        assert isinstance(piece, Piece)
        if piece.parts:
            assert "".join(piece.parts) == piece.text
    phrases = [piece for piece in pieces if piece.born == "multiword"]
    assert phrases


def test_save_and_load(tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    loaded = Tokenizer.load(path)
    assert loaded.vocabulary == tokenizer.vocabulary
    assert loaded.recipe == tokenizer.recipe
    assert loaded.report == tokenizer.report
    for text in corpus(10, 50):
        assert loaded.encode(text) == tokenizer.encode(text)
    again = tmp_path / "again.json"
    loaded.save(again)
    assert again.read_bytes() == path.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.json", "tokenizer.json"]


def test_damaged_files_are_refused(tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    good = path.read_text(encoding="utf-8")
    document = json.loads(good)

    def rejects(text: str, message: str) -> None:
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=message) as caught:
            Tokenizer.load(path)
        assert str(path) in str(caught.value)

    rejects(good.replace('"the"', '"teh"', 1), "checksum")
    rejects(json.dumps({**document, "sha256": "0"}), "checksum")
    rejects(json.dumps({**document, "version": 99}), "format version 99")
    rejects(json.dumps({"model": {}}), "not a supratok tokenizer")
    rejects("[]", "not a supratok tokenizer")
    rejects(good[: len(good) // 2], "not a supratok tokenizer")
    with pytest.raises(FileNotFoundError):
        Tokenizer.load(tmp_path / "nowhere.json")


def test_a_failed_save_leaves_the_old_file(
    tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("old")

    def broken(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", broken)
    with pytest.raises(KeyboardInterrupt):
        tokenizer.save(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["tokenizer.json"]


def test_pickling(tokenizer: Tokenizer) -> None:
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert copy.encode("the cat as well as New York") == tokenizer.encode(
        "the cat as well as New York"
    )
    assert copy.recipe == tokenizer.recipe


def test_many_threads_at_once(tokenizer: Tokenizer) -> None:
    texts = corpus(12, 200)
    expected = [tokenizer.encode(text) for text in texts]
    results: list[list[list[int]]] = []

    def work() -> None:
        results.append([tokenizer.encode(text) for text in texts])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 8


def test_each_token_encodes_to_itself(tokenizer: Tokenizer) -> None:
    for token in tokenizer.vocabulary:
        assert tokenizer.tokens(token.text) == [token.text]


def test_a_string_is_not_a_batch(tokenizer: Tokenizer) -> None:
    with pytest.raises(TypeError, match="encode for one text"):
        tokenizer.encode_batch("text")


def test_unusable_vocabularies_are_refused() -> None:
    recipe = Recipe(vocab_size=300)
    rows = [("a", "alphabet"), ("b", "alphabet"), ("aab", "traditional")]
    with pytest.raises(ValueError, match=r"token 2 \('aab'\) can never be used"):
        Tokenizer([supratok.Token(text, 1, born) for text, born in rows], recipe)  # type: ignore[arg-type]


@given(st.lists(st.integers(0, 1499), max_size=30))
def test_any_ids_decode(ids: list[int]) -> None:
    tokenizer = _shared()
    assert tokenizer.decode_bytes(ids) == b"".join(tokenizer.decode_bytes([id]) for id in ids)
    tokenizer.decode(ids)


_cache: list[Tokenizer] = []


def _shared() -> Tokenizer:
    if not _cache:
        recipe = Recipe(vocab_size=1500, special_tokens=SPECIAL)
        _cache.append(supratok.train(prose(8, 500) + corpus(8, 200), recipe, progress=False))
    return _cache[0]
