"""Small corpora as files, of all the kinds that a first reading tells apart."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zstandard

import supratok
from supratok import Recipe
from supratok.corpus import readers, records
from texts import corpus, multilingual, prose

ODD = [
    '{"text": "a tab\\tand \\u00e9 \\ud83d\\ude00 in it", "text2": 1}',
    '  {"text":"spaces"}  ',
    "",
]
BAD = ['{"text": 5}', "{", '{"other": "x"}', '["no record"]']


def write_lines(path: Path, texts: list[str], *more: str) -> Path:
    """JSON lines; `more` are put between them as they are."""
    lines = [json.dumps({"text": text}, ensure_ascii=bool(at % 3)) for at, text in enumerate(texts)]
    for at, line in enumerate(more):
        lines.insert((at * 7 + 3) % (len(lines) + 1), line)
    data = "".join(f"{line}\n" for line in lines).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zstandard.compress(data) if path.suffix == ".zst" else data)
    return path


def mixed(folder: Path, *bad: str, size: int = 40) -> Path:
    """JSON lines, packed and plain, with odd lines, and files of text between them."""
    texts = prose(1, 4 * size) + corpus(1, size) + multilingual(1, 3 * size)
    write_lines(folder / "a.jsonl", texts[: 2 * size], *ODD, *bad)
    write_lines(folder / "b.jsonl.zst", texts[2 * size : 4 * size], *ODD)
    (folder / "c.txt").write_text("\n\n".join(texts[4 * size : 5 * size]), encoding="utf-8")
    write_lines(folder / "d.jsonl", [])
    write_lines(folder / "e.jsonl", texts[5 * size : 7 * size], *bad, *ODD)
    write_lines(folder / "f.jsonl", texts[7 * size :])
    return folder


@contextmanager
def small_portions() -> Iterator[None]:
    """Files of JSON lines come in many portions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "PORTION", 1000)
        patch.setattr(readers, "BLOCK", 500)
        patch.setattr(readers, "_HEAD", 500)
        yield


RECIPES = {
    "default": Recipe(vocab_size=600),
    "dense": Recipe.dense(600),
    "paper": replace(Recipe.paper(600), seeds=None),
    "at once": Recipe(vocab_size=500, curriculum=False),
    "words": Recipe(vocab_size=500, crossover=1.0),
}


def learnt(source: Any, recipe: Recipe, path: Path, **options: Any) -> bytes:
    """The file of the tokenizer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", supratok.ShortVocabularyWarning)
        tokenizer = supratok.train(source, recipe, 2, False, **options)
    tokenizer.save(path)
    return path.read_bytes()
