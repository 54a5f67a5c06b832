"""The coder: ids without holes, the token that ends documents, and text without phrases."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from phrase_coder import TEXTS, coder

import supratok
from supratok.formats.peer import Named
from supratok.formats.runtime import Ours
from supratok.lab.lm.coder import Coder, without_phrases
from supratok.lab.lm.parts import phrase_parts
from supratok.lab.lm.stream import Stream

__all__ = ["coder"]  # a fixture


def test_ids_with_holes_are_refused() -> None:
    @dataclass
    class Holes:
        name: str = "holes"
        vocab_size: int = 7

        def encode(self, text: str) -> list[int]:
            return [3, 9]

        def decode(self, ids: list[int]) -> str:
            return ""

        def token_strings(self, text: str) -> list[str]:
            return []

    with pytest.raises(ValueError, match="id 9 in the text, where holes has 8 ids"):
        Coder(Holes()).encode("x")


def test_documents_end_with_the_tokens_own_end() -> None:
    """Newcomer 4: an exported end-of-text id must be the one that training sees."""
    recipe = supratok.Recipe(vocab_size=400, special_tokens=("</s>", "<END>"))
    tokenizer = supratok.train(TEXTS, recipe, progress=False)
    coder = Coder(Ours("ours", tokenizer))
    assert coder.end == tokenizer.special_tokens["</s>"] == 0
    assert coder.size == tokenizer.vocab_size
    assert Coder(Named("other", coder.peer), "<END>").end == 1
    assert next(iter(Stream(coder.encode_all(["a"]), coder.end).round(0)))[-1] == 0
    with pytest.raises(ValueError, match="end_token='<eos>': ours has no such special token"):
        _ = Coder(coder.peer, "<eos>").end
    added = tokenizer.with_special_tokens(["<|endoftext|>"])
    assert Coder(Ours("added", added)).end == tokenizer.vocab_size


def test_without_phrases_a_coder_writes_the_same_text_in_words(coder: Coder) -> None:
    words = without_phrases(coder)
    assert (words.end, words.rows) == (coder.end, coder.rows)
    phrases = set(phrase_parts(coder).phrases.tolist())
    for whole, split in zip(coder.encode_all(TEXTS), words.encode_all(TEXTS), strict=True):
        assert phrases & set(whole.tolist()) and not phrases & set(split.tolist())
        assert words.peer.decode(split.tolist()) == coder.peer.decode(whole.tolist())
    other = Coder(Named("another", _Bytes()))
    assert without_phrases(other) is other


class _Bytes:
    """A tokenizer of another program."""

    name, vocab_size = "bytes", 256

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, ids: list[int]) -> str:
        return bytes(ids).decode()

    def token_strings(self, text: str) -> list[str]:
        return list(text)
