"""Models of SentencePiece: imported, they give its ids for every text, or are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import zstandard
from foreign_tokenizers import LINES, SHAPES, llama, sp_model, texts, unigram
from hypothesis import given, settings

from supratok import Tokenizer
from supratok.formats.listing import listing_of, swap_spaces
from texts import HOSTILE, corpus


@pytest.fixture(scope="module", params=SHAPES)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Tokenizer, Any]:
    """An imported tokenizer, and the program that it must equal."""
    data = SHAPES[request.param]().SerializeToString()
    path = tmp_path_factory.mktemp("sp") / "tokenizer.model"
    path.write_bytes(data)
    return (
        Tokenizer.from_sentencepiece(path),
        sentencepiece.SentencePieceProcessor(model_proto=data),
    )


@settings(max_examples=400)
@given(text=texts)
def test_sentencepiece_ids(pair: tuple[Tokenizer, Any], text: str) -> None:
    ours, theirs = pair
    assert ours.encode(text) == theirs.encode(text)
    assert ours.decode(ours.encode(text)) == text


def test_sentencepiece_on_lines(pair: tuple[Tokenizer, Any], tmp_path: Path) -> None:
    ours, theirs = pair
    lines = [text.replace("▁", " ") for text in [*LINES, *HOSTILE, *corpus(7, 300), "".join(LINES)]]
    expected = [theirs.encode(line) for line in lines]
    ours.save(tmp_path / "saved.json")
    for tokenizer in (ours, Tokenizer.load(tmp_path / "saved.json")):
        assert tokenizer.encode_batch(lines) == expected
        assert tokenizer.vocab_size == theirs.vocab_size()
    assert ours.special_tokens["</s>"] == theirs.eos_id()
    assert ours.report["imported"]["format"] == "sentencepiece"
    for row, id in zip(listing_of(ours).rows, range(ours.vocab_size), strict=True):
        assert swap_spaces(row.text) == theirs.id_to_piece(id)


def test_u2581_is_kept(pair: tuple[Tokenizer, Any]) -> None:
    """The documented difference."""
    ours, theirs = pair
    assert ours.decode(ours.encode("a▁b")) == "a▁b"
    assert theirs.decode(theirs.encode("a▁b")) == "a b"


def test_folders_and_packed_files(tmp_path: Path) -> None:
    data = llama().SerializeToString()
    (tmp_path / "tokenizer.model.zst").write_bytes(zstandard.compress(data))
    assert Tokenizer.from_sentencepiece(tmp_path).special_tokens["<s>"] == 1
    with pytest.raises(FileNotFoundError, match=r"tokenizer\.json"):
        Tokenizer.from_huggingface(tmp_path)


def unused(model: Any) -> None:
    """Mark the piece that is first made of two as unused."""
    next(piece for piece in model.pieces if piece.type == 1 and len(piece.piece) == 2).type = 5


def without_a_character(model: Any) -> None:
    long = next(piece for piece in model.pieces if piece.type == 1 and len(piece.piece) == 2)
    next(p for p in model.pieces if p.type == 1 and p.piece == long.piece[1]).piece = "never"


def other_scores(model: Any) -> None:
    for piece in model.pieces:
        piece.score = -0.3


SP_REFUSALS: list[tuple[Callable[[], Any], str]] = [
    (lambda: sp_model(model_type="char"), "model type is CHAR"),
    (lambda: sp_model(normalization_rule_name="nmt_nfkc"), "nmt_nfkc"),
    (lambda: sp_model(byte_fallback=False), "no byte fallback"),
    (lambda: sp_model(remove_extra_whitespaces=True), "removes spaces"),
    (lambda: sp_model(treat_whitespace_as_suffix=True), "end with their space"),
    (lambda: sp_model(model_type="unigram"), "its scores differ"),
    (lambda: but(unigram(), other_scores), "whole negative numbers"),
    (lambda: sp_model(model_type="unigram", user_defined_symbols=["[REF]"]),
     r"user-defined symbols \('\[REF\]'\)"),
    (lambda: but(llama(), unused), "marked as unused"),
    (lambda: but(llama(), without_a_character), "which is no token itself"),
]  # fmt: skip


def but(model: Any, change: Callable[[Any], None]) -> Any:
    change(model)
    return model


@pytest.mark.parametrize(("make", "message"), SP_REFUSALS)
def test_sentencepiece_refusals(make: Callable[[], Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "some.model"
    path.write_bytes(make().SerializeToString())
    with pytest.raises(ValueError, match=message) as caught:
        Tokenizer.from_sentencepiece(path)
    assert "some.model: " in str(caught.value)
    assert ";" in str(caught.value)  # the remedy


def test_what_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    twice = llama()
    twice.pieces.add(piece="a")
    for data in (b"\xff\xff", b"", twice.SerializeToString()):
        path.write_bytes(data)
        with pytest.raises(ValueError, match="not a SentencePiece model"):
            Tokenizer.from_sentencepiece(path)
    for text, message in (("{", "not a tokenizer.json"), ("[]", "it has no model")):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            Tokenizer.from_huggingface(path)


def test_the_import_is_tried_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The import stops if the other program does not do what we think."""
    monkeypatch.setattr(
        sentencepiece.SentencePieceProcessor,
        "encode",
        lambda self, texts, **_: [[0] * len(text) for text in texts],
    )
    (tmp_path / "tokenizer.model").write_bytes(llama().SerializeToString())
    with pytest.raises(ValueError, match="sentencepiece encodes ' ' as"):
        Tokenizer.from_sentencepiece(tmp_path)
