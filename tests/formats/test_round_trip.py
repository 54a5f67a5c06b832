"""There and back: exports that are imported again, and imports that are exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from foreign_tokenizers import LINES, SHAPES, sp_model

import supratok
from supratok import Recipe, Tokenizer
from supratok.formats.hostile import hostile_texts
from texts import HOSTILE


@pytest.mark.parametrize(("rule", "coverage"), [("merges", 1.0), ("fewest", 1.0), ("fewest", 0.99)])
def test_our_own_come_back(rule: Any, coverage: float, tmp_path: Path) -> None:
    """A tokenizer of ours, exported and imported, has the same ids for all text."""
    recipe = Recipe(
        vocab_size=900, segmentation=rule, special_tokens=("<eos>", "a special one"),
        character_coverage=coverage,
    )  # fmt: skip
    ours = supratok.train(LINES, recipe, progress=False)
    ours.export(tmp_path / "out", ["huggingface", "sentencepiece"])
    for read in (Tokenizer.from_huggingface, Tokenizer.from_sentencepiece):
        back = read(tmp_path / "out")
        for text in [*LINES, *HOSTILE, *hostile_texts(ours.texts, ["<eos>"]), "▁ ▁▁"]:
            assert back.encode(text) == ours.encode(text)
            assert back.decode(back.encode(text)) == text
        assert ours.special_tokens.items() <= back.special_tokens.items()
        assert back.texts == ours.texts or rule == "fewest"


@pytest.mark.parametrize("shape", SHAPES)
def test_imported_tokenizers_are_exported(shape: str, tmp_path: Path) -> None:
    """With their ids; and the export can be imported again."""
    (tmp_path / "tokenizer.model").write_bytes(SHAPES[shape]().SerializeToString())
    ours = Tokenizer.from_sentencepiece(tmp_path).with_special_tokens(["<new>"])
    ours.export(tmp_path / "out", ["huggingface", "sentencepiece"], unk="<unk>", eos="<new>")
    assert ours.layout
    for read in (Tokenizer.from_huggingface, Tokenizer.from_sentencepiece):
        back = read(tmp_path / "out")
        assert back.special_tokens == ours.special_tokens
        assert back.layout
        assert back.layout.always == ours.layout.always
        for text in [*LINES, *HOSTILE]:
            assert back.encode(text) == ours.encode(text)


def test_a_prefix_and_cuts_are_not_for_hugging_face(tmp_path: Path) -> None:
    model = sp_model(user_defined_symbols=["[REF]"])
    (tmp_path / "tokenizer.model").write_bytes(model.SerializeToString())
    ours = Tokenizer.from_sentencepiece(tmp_path)
    with pytest.raises(ValueError, match="export the format sentencepiece"):
        ours.export(tmp_path / "out", ["huggingface"])
    assert not (tmp_path / "out").exists()
    ours.export(tmp_path / "out", ["sentencepiece"], unk="<unk>")
    assert Tokenizer.from_sentencepiece(tmp_path / "out").layout == ours.layout
