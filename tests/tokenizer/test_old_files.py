"""Files that supratok 0.1.0 wrote load and give the same ids (see fixtures/0.1.0/make.py)."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from supratok import Tokenizer

OLD = Path(__file__).parents[1] / "fixtures" / "0.1.0"
KNOWN = json.loads((OLD / "ids.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(KNOWN["ids"]))
def test_same_ids(name: str, tmp_path: Path) -> None:
    tokenizer = Tokenizer.load(OLD / f"{name}.json")
    ids = [tokenizer.encode(text, allow_special=True) for text in KNOWN["texts"]]
    assert ids == KNOWN["ids"][name]
    for text, some in zip(KNOWN["texts"], ids, strict=True):
        assert tokenizer.decode(some) == text
    tokenizer.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (OLD / f"{name}.json").read_bytes()


def test_old_pickle() -> None:
    tokenizer = pickle.loads((OLD / "default.pickle").read_bytes())
    ids = [tokenizer.encode(text, allow_special=True) for text in KNOWN["texts"]]
    assert ids == KNOWN["ids"]["default"]
