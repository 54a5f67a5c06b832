"""Small tokenizers of every kind that `open_any` reads."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from supratok import Recipe, train

PHRASES = ["as well as", "in New York", "one of the most", "it is not", "in order to"]
WORDS = ["time", "year", "people", "way", "day", "thing", "life", "world", "school", "state"]
TEXT = "One of the most in New York, as well as naïve 日本 😀.\n\n  It is not."


def documents(seed: int = 7) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(PHRASES + WORDS, k=40)) + ".\n" for _ in range(300)]


def make_ours(path: Path) -> None:
    train(documents(), Recipe(vocab_size=450), progress=False).save(path)


def make_hugging_face(path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400,
        initial_alphabet=alphabet,
        special_tokens=["<|end|>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator(documents(), trainer)
    tokenizer.enable_truncation(4)  # which must have no effect here
    tokenizer.enable_padding(length=500)
    tokenizer.save(str(path))


def make_sentencepiece(
    path: Path, add_dummy_prefix: bool = False, remove_extra_whitespaces: bool = False
) -> None:
    package = pytest.importorskip("sentencepiece")
    with path.open("wb") as file:
        package.SentencePieceTrainer.train(
            sentence_iterator=iter(documents()),
            model_writer=file,
            model_type="bpe",
            vocab_size=400,
            byte_fallback=True,
            normalization_rule_name="identity",
            add_dummy_prefix=add_dummy_prefix,
            remove_extra_whitespaces=remove_extra_whitespaces,
            minloglevel=2,
        )


def make_tiktoken(path: Path) -> None:
    pytest.importorskip("tiktoken")
    tokens = [bytes([byte]) for byte in range(256)] + [b"th", b" th", b" the", b"in", b"is"]
    lines = [b"%s %d" % (base64.b64encode(token), rank) for rank, token in enumerate(tokens)]
    path.write_bytes(b"\n".join(lines) + b"\n")


MAKERS: dict[str, Callable[[Path], None]] = {
    "supratok.json": make_ours,
    "tokenizer.json": make_hugging_face,
    "tokenizer.model": make_sentencepiece,
    "tiny.tiktoken": make_tiktoken,
}
