"""Text for tests: arbitrary, hostile, and small corpora with phrases worth learning."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import zstandard
from hypothesis import strategies as st

from supratok import Recipe, Tokenizer, train

# Everything a str may hold but lone surrogates, which no UTF-8 text has.
any_text = st.text(st.characters(exclude_categories=["Cs"]))

# Few characters, so that random texts repeat and overlap: where greedy matching goes wrong.
tight_text = st.text(alphabet="aab \n", max_size=40)

PIECES = [
    "New York", "as well as", "the", "of the", "in", "cat", "cats", "climate change", "low",
    "lower", ".", ". The", ": the", "12", "2024", "a", "  ", "\n", "don't", "e\u0301a", "日本",
    "日本語", "です", "Яка", "ʼЯка", "🙂", "❤\ufe0f", "\u200d", "!", '?"', "x1", '"', "()", "\t",
    "aaaa", "aa", "。", "▁", "<s>", "\u00a0", "\r\n",
]  # fmt: skip

HOSTILE = [
    "", " ", "  ", "\n", "a", "aaaa" * 50, "ab" * 99, " a" * 64, "\t\t \n\n", "🙂" * 30, "▁ ▁",
    "<s></s><|endoftext|>", "\x00\x01\x7f\x80", "\ufeffBOM", "e\u0301\u0301", "日本語です。",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467", "ﷺ", "\u2028\u2029\x85", "1234567890" * 9,
    "New York" * 7, "".join(map(chr, range(256))),
]  # fmt: skip


def write_corpus(path: Path, texts: list[str]) -> Path:
    """As packed lines of JSON."""
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    path.write_bytes(zstandard.compress(lines.encode()))
    return path


def corpus(seed: int, documents: int = 60) -> list[str]:
    """Documents of random pieces, some joined by spaces and some not."""
    rng = random.Random(seed)
    return [
        "".join(rng.choice((" ", " ", " ", "", "")) + rng.choice(PIECES) for _ in range(length))
        for length in (rng.randint(1, 25) for _ in range(documents))
    ]


def prose(seed: int, documents: int = 300) -> list[str]:
    """Documents that read like sentences: words by Zipf's law, with phrases that recur."""
    rng = random.Random(seed)
    words = ["".join(rng.choice("abcdefghijklmnop") for _ in range(rng.randint(2, 9)))
             for _ in range(400)]  # fmt: skip
    weights = [1 / (rank + 2) for rank in range(len(words))]
    phrases = [" ".join(rng.choices(words, weights, k=rng.randint(2, 4))) for _ in range(60)]
    sentences = []
    for _ in range(documents):
        parts = [
            rng.choice(phrases) if rng.random() < 0.4 else rng.choices(words, weights)[0]
            for _ in range(rng.randint(5, 30))
        ]
        sentences.append(" ".join(parts).capitalize() + rng.choice((".", "!", "?")))
    return sentences


_STEMS = {
    "tr": ["kitap", "yıldız", "ağaç", "ışık", "şarkı", "okul"],
    "fi": ["talo", "kirja", "metsä", "kynä", "pöytä", "ystävä"],
}
_SUFFIXES = {
    "tr": ["lar", "lardan", "ın", "ı", "ta", "larınız"],
    "fi": ["ssa", "ssä", "n", "lle", "lla", "ssaan"],
}
_UNSPACED = {"zh": "我们今天去学校看书的", "th": "กขคงจฉาิีุเแ่้", "ja": "東京とカナのひらー々"}
_ARABIC = ["أن", "ان", "إن", "آن", "مسؤول", "مسوول", "إلى", "الى", "كتاب", "ٱن", "ا\u0654ن"]


def multilingual(seed: int, documents: int = 60) -> list[str]:
    """Documents in languages with rules of their own, and some that mix them with other text."""
    rng = random.Random(seed)
    texts = []
    for _ in range(documents):
        language = rng.choice(["tr", "fi", "zh", "th", "ja", "ar", "mixed"])
        words = [_word(language, rng) for _ in range(rng.randint(3, 20))]
        texts.append("".join(rng.choice((" ", " ", "", "。", ", ")) + word for word in words))
    return texts


def _word(language: str, rng: random.Random) -> str:
    if language == "mixed":
        language = rng.choice(["tr", "fi", "zh", "th", "ar", "en"])
    if language in _STEMS:
        return rng.choice(_STEMS[language]) + rng.choice(["", *_SUFFIXES[language]])
    if language in _UNSPACED:
        return "".join(rng.choices(_UNSPACED[language], k=rng.randint(1, 6)))
    return rng.choice(_ARABIC if language == "ar" else PIECES)


def small_tokenizer(rule: Any, seed: int = 0, **options: Any) -> Tokenizer:
    texts = corpus(seed, 120) + multilingual(seed, 40) + prose(seed, 60)
    recipe = Recipe(vocab_size=900, segmentation=rule, **options)
    return train(texts, recipe, progress=False)
