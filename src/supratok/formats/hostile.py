"""Texts on which encoders go wrong, made for one tokenizer.

    texts = hostile_texts(tokenizer.texts, list(tokenizer.special_tokens))

Some are the same for every tokenizer: whitespace, scripts, characters that look like others. The
rest come from its tokens, where ties and overlaps hide: a token repeated, a token in which another
begins before it ends, special tokens and bytes written out as text.
"""

from __future__ import annotations

import random

_LONG = 100_000  # characters of the longest texts
_SOME = 300  # tokens that overlap others

_SPACES = [
    "", " ", "  ", "   x", "x   ", " x ", "\n", "\n\n\n", "\r\n", "\r", "\t\t", " \n ", "\n \n  \n",
    "a\tb\t\tc", "    indented\n\tby a tab\n", "\u00a0\u2003\u3000\u2028\u2029\x85\x0b\x0c",
    "zero\u200bwidth\u200d\u2060\ufeff", " " * 1000, "\n" * 1000, " \t" * 500, "x" + " " * 63 + "y",
]  # fmt: skip

_SCRIPTS = [
    "Größe, naïve, œuvre, İstanbul, ﬁne", "Καλημέρα κόσμε", "Привет, мир. Ёлка", "שלום עולם",
    "مرحبا بالعالم، كيف الحال؟", "नमस्ते दुनिया", "สวัสดีชาวโลก",
    "你好，世界。今天天气很好", "こんにちは、世界。カタカナ", "안녕하세요 세계",
    "mixed кириллица latin 漢字 kana かな ไทย العربية 한국어 123", "e\u0301 é o\u0308\u0323",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟙𝟚𝟛", "١٢٣٤٥ ४५६ 12345 1,234.56 2024-11-15", "\u202eright to left\u202c",
    "🙂🙃🦄 👩\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈 🇪🇺 ❤\ufe0f 1\ufe0f\u20e3",
]  # fmt: skip

_CHARACTERS = [
    "".join(map(chr, range(128))), "".join(map(chr, range(128, 256))), "a\0b\0\0", "\0",
    "\x7f\x80\x9f", "\ufffd", "\ufffe\uffff", "\U0010ffff\U000e0001\U0001f9ff", "\ue000\uf8ff",
    "\u0378\u0379", "▁", "▁▁ ▁a", " ▁ ", "Ġ Ċ ĉ", "##ing @@", "ﷺ", "ｆｕｌｌ　ｗｉｄｔｈ",
    "½ ² ™ № ⅷ",
]  # fmt: skip

_NAMES = [
    "<s>", "</s>", "<unk>", "<pad>", "<mask>", "[CLS] [SEP]", "<|endoftext|>", "<|im_start|>user\n",
    "<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<0x41>", "<0x0A><0xE2><0x96><0x81>", "<0x",
    "<0x4", "<0xGG>", "a<0x00>b", "<S>", "< s>", "<s", "s>", "<<s>>", "</s></s>",
]  # fmt: skip

_REPEATED = [
    "a" * 257, "ab" * 129, "aab" * 99, " the" * 65, "the the the", "of the of the of", "!" * 70,
    "=-" * 40, "0" * 100, "1234567890" * 12, "haha" * 33, "你" * 65, "🦄" * 33, ".\n" * 50,
    "New York New York, New York", "thethe  the\nthe", "x" * _LONG, "ab " * (_LONG // 3),
]  # fmt: skip


def hostile_texts(tokens: list[str], specials: list[str], seed: int = 0) -> list[str]:
    """The same texts each time for the same tokens and seed."""
    rng = random.Random(seed)
    fixed = _SPACES + _SCRIPTS + _CHARACTERS + _NAMES + _REPEATED
    names = [*specials, "".join(specials), *(f"a {name} b{name}" for name in specials)]
    mixtures = _mixtures(fixed + names, rng)
    return [*fixed, *names, *_outside(tokens), *_overlaps(tokens, rng), *mixtures]


def _outside(tokens: list[str]) -> list[str]:
    """Characters outside the alphabet, alone, in a row, and between the tokens of a text."""
    known = set(tokens)
    planes = [*range(0x20, 0x3000), *range(0x4E00, 0x4F00), *range(0x1F300, 0x1F700, 7)]
    outside = [chr(code) for code in planes if chr(code) not in known][:200]
    return [*outside[:20], "".join(outside), *(f"the{char} {char}the" for char in outside[20:60])]


def _overlaps(tokens: list[str], rng: random.Random) -> list[str]:
    """Tokens one after another, and tokens that begin before the last one has ended."""
    if not tokens:
        return []
    longest = sorted(tokens, key=len)[-_SOME // 3 :]
    texts = []
    for token in [*rng.sample(tokens, min(_SOME, len(tokens))), *longest]:
        other, cut = rng.choice(tokens), rng.randint(0, len(token) - 1)
        texts += [token * 3, token + token[cut:], token[:cut] + token, token[cut:] + other]
        texts.append("".join(rng.choices(tokens, k=8)))
        texts.append("".join(token[:end] for end in range(1, min(len(token), 300) + 1)))
    return [*texts, "".join(rng.choices(tokens, k=_LONG // 10))[:_LONG]]


def _mixtures(texts: list[str], rng: random.Random) -> list[str]:
    """Short texts, shuffled together."""
    short = [text for text in texts if len(text) < 100]
    return ["".join(rng.choices(short, k=6)) for _ in range(_SOME)]
