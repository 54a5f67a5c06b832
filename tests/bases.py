"""Small Hugging Face tokenizers of every shape that can be extended, and a corpus for it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st

from supratok import Recipe, train
from supratok.formats.huggingface.write import tokenizer_json
from supratok.formats.listing import listing_of
from supratok.formats.patterns import O200K
from texts import HOSTILE, PIECES, any_text

tokenizers = pytest.importorskip("tokenizers")

PHRASES = [
    "as well as", "in New York", "one of the most", "it is not", "in order to", "for example,",
    "of the", "c'est une idée", "в Москве", "NASA said that", "I am", "the Übermensch", "아주 좋은",
]  # fmt: skip
WORDS = ["time", "year", "people", "don't", "world's", "iPhone", "2024", "été", "мир", "좋다", "x"]
ENDS = [" ", " ", " ", ", ", ". ", ": ", "; ", "  ", "\n", '" ', " (", "-", "'s "]


def documents(seed: int = 7, number: int = 300) -> list[str]:
    chance = random.Random(seed)
    pieces = PHRASES * 2 + WORDS
    return [
        "".join(chance.choice(pieces) + chance.choice(ENDS) for _ in range(30))
        for _ in range(number)
    ]


# Texts that put new tokens among everything that ends a word, or seems to.
_piece = st.sampled_from([
    *PHRASES, *WORDS, *ENDS, *PIECES, *HOSTILE[:12], " ", " ", " ", " of the", " as well", "NEW",
    "'S", "’s", "'ll", "\u0301", "e\u0301", "ǅ", "ʰ", "क्षि", "_", "/", "<|end|>", "<pad>", "\u3000",
])  # fmt: skip
hostile_text = st.lists(st.one_of(_piece, _piece, any_text), max_size=12).map("".join)

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
THREE = [
    r"\p{N}{1,3}", "[一-龥]+",
    r"[!-/:-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
]  # fmt: skip


def byte_level(*patterns: str, prefix: bool = False) -> Any:
    """Trained with these expressions, or with the one that ByteLevel has."""
    steps = tokenizers.pre_tokenizers
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = steps.Sequence([
        *(steps.Split(tokenizers.Regex(pattern), "isolated") for pattern in patterns),
        steps.ByteLevel(add_prefix_space=prefix, use_regex=False),
    ]) if patterns else steps.ByteLevel(add_prefix_space=prefix)  # fmt: skip
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    return _trained(tokenizer, steps.ByteLevel.alphabet())


def spaced(*, split: bool | None = None, prepend: bool = True) -> Any:
    """Shaped like SentencePiece models: a normalizer or Metaspace writes spaces as ▁."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(byte_fallback=True, fuse_unk=True))
    metaspace = tokenizers.pre_tokenizers.Metaspace
    tokenizer.pre_tokenizer = metaspace(prepend_scheme="first" if prepend else "never")
    steps = tokenizers.decoders
    tokenizer.decoder = steps.Sequence(
        [steps.Replace("▁", " "), steps.ByteFallback(), steps.Fuse()]
    )
    _trained(tokenizer, [], [f"<0x{byte:02X}>" for byte in range(256)])
    if split is None:
        before = [tokenizers.normalizers.Prepend("▁"), tokenizers.normalizers.Replace(" ", "▁")]
        tokenizer.normalizer = tokenizers.normalizers.Sequence(before)
        tokenizer.pre_tokenizer = None
    else:
        scheme = "first" if prepend else "never"
        tokenizer.pre_tokenizer = metaspace(prepend_scheme=scheme, split=split)
    return tokenizer


def whole() -> Any:
    """Like supratok's: no cuts, plain spaces, and some tokens are phrases."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(byte_fallback=True))
    steps = tokenizers.decoders
    tokenizer.decoder = steps.Sequence([steps.ByteFallback(), steps.Fuse()])
    return _trained(tokenizer, [], [f"<0x{byte:02X}>" for byte in range(256)])


def _trained(tokenizer: Any, alphabet: list[str], special: list[str] | None = None) -> Any:
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=len(alphabet or special or []) + 300,
        initial_alphabet=alphabet,
        special_tokens=["<|end|>", *(special or [])],
        show_progress=False,
    )
    tokenizer.train_from_iterator(documents(), trainer)
    return tokenizer


def _document(tokenizer: Any, **model: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(tokenizer.to_str())
    document["model"] |= model
    bytes_ = {f"<0x{byte:02X}>" for byte in range(256)}  # special only for the trainer
    document["added_tokens"] = [
        token for token in document["added_tokens"] if token["content"] not in bytes_
    ]
    return document


def _old(document: dict[str, Any]) -> dict[str, Any]:
    """As older versions wrote it: merges as strings, and without a newer key."""
    model = document["model"]
    model["merges"] = [" ".join(pair) for pair in model["merges"]]
    del document["pre_tokenizer"]["use_regex"]
    return document


def _later(document: dict[str, Any]) -> dict[str, Any]:
    """With added tokens outside the model's vocabulary, as in Llama 3."""
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(document))
    tokenizer.add_special_tokens(["<pad>", "<|turn|>"])
    tokenizer.add_tokens(["iPhone"])
    added: dict[str, Any] = json.loads(tokenizer.to_str())
    return added


def _split_that_never_cuts(document: dict[str, Any]) -> dict[str, Any]:
    """It cuts at spaces, which the normalizer has replaced by ▁."""
    pattern = {"pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    return document | {"pre_tokenizer": {"type": "Split", **pattern}}


def _of_supratok() -> dict[str, Any]:
    tokenizer = train(
        documents(), Recipe(vocab_size=420, special_tokens=("<|end|>",)), progress=False
    )
    return tokenizer_json(tokenizer, listing_of(tokenizer))


def _normalised(tokenizer: Any) -> Any:
    tokenizer.normalizer = tokenizers.normalizers.NFC()
    return tokenizer


BASES: dict[str, Callable[[], dict[str, Any]]] = {
    "gpt2": lambda: _old(_document(byte_level())),
    "gpt2, space before": lambda: _document(byte_level(prefix=True)),
    "llama3": lambda: _later(_document(byte_level(LLAMA3), ignore_merges=True)),
    "qwen": lambda: _later(_document(_normalised(byte_level(LLAMA3)))),
    "o200k": lambda: _document(byte_level(O200K), ignore_merges=True),
    "three expressions": lambda: _document(byte_level(*THREE)),
    "llama2": lambda: _later(_document(spaced())),
    "metaspace": lambda: _document(spaced(split=False, prepend=False)),
    "metaspace, cut": lambda: _document(spaced(split=True)),
    "gemma": lambda: _split_that_never_cuts(_document(spaced())),
    "whole": lambda: _document(whole()),
    "supratok": lambda: _of_supratok(),
}
