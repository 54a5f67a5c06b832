"""A tokenizer, corpora, and shards read back by hand."""

from __future__ import annotations

import functools
import hashlib
import json
import random
from pathlib import Path
from typing import Any

import numpy as np

from supratok import Recipe, Tokenizer, train
from texts import prose

EOS = "<|endoftext|>"


@functools.cache
def tokenizer(*special: str) -> Tokenizer:
    recipe = Recipe(vocab_size=600, special_tokens=special or (EOS, "<pad>"))
    return train(prose(4, 300), recipe, progress=False)


def documents(seed: int, count: int, longest: int = 60) -> list[str]:
    """Of very different lengths, some with special tokens and odd characters."""
    chance = random.Random(seed)
    words = [*" ".join(prose(seed, 40)).split(), EOS, "日本", "😀", "\n\n", "<pad>", "\x00"]
    return [" ".join(chance.choices(words, k=chance.randint(1, longest))) for _ in range(count)]


def write_jsonl(path: Path, texts: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8")
    return path


def expected(texts: list[str], *, end: str | None = EOS) -> list[list[int]]:
    """The ids of each document, by the tokenizer itself."""
    ids = [tokenizer().encode(text) for text in texts if text]
    return [[*some, tokenizer().special_tokens[end]] for some in ids] if end else ids


def flat(manifest: dict[str, Any], folder: Path) -> list[list[int]]:
    """The ids of each shard that is flat."""
    names = [file["file"] for shard in manifest["shards"] for file in shard["files"]]
    bins = [folder / name for name in names if name.endswith(".bin")]
    return [np.memmap(path, manifest["dtype"], "r").tolist() for path in bins]


def contents(folder: Path) -> dict[str, str]:
    """The files of a folder and what is in them."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
    }
