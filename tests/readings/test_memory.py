"""Neither a limit of memory, nor how the text is read, changes the result."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from read_texts import RECIPES, learnt, mixed, write_lines

import supratok
from supratok import Recipe
from supratok.common import _core
from supratok.corpus import open_corpus
from supratok.readings import open as opening
from supratok.readings.reading import Room
from texts import prose


def limits(monkeypatch: pytest.MonkeyPatch) -> list[Room]:
    """Notes the limits that tables get."""
    found: list[Room] = []
    real = Room.limit

    def limit(self: Room, table: Any) -> None:
        found.append(self)
        real(self, table)

    monkeypatch.setattr(Room, "limit", limit)
    return found


@pytest.mark.parametrize("name", ["default", "dense", "paper", "at once"])
@pytest.mark.parametrize("options", [{}, {"work": True}, {"reread": True}])
def test_a_limit_of_memory_changes_nothing(
    name: str, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = mixed(tmp_path / "corpus")
    expected = learnt(source, RECIPES[name], tmp_path / "t.json")
    monkeypatch.setattr(opening, "_LEAST", 1)
    found = limits(monkeypatch)
    if "work" in options:
        options = {"work": tmp_path / "work"}
    assert learnt(source, RECIPES[name], tmp_path / "t.json", memory="20kB", **options) == expected
    assert {room.bytes for room in found} == {5000}
    assert all(not Path(room.folder).exists() for room in found)


def test_documents_beyond_memory_go_to_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[Any, ...]] = []
    real = _core.Store

    def store(*args: Any, **named: Any) -> _core.Store:
        made.append((*args, *named.items()))
        return real(*args, **named)

    monkeypatch.setattr(_core, "Store", store)
    monkeypatch.setattr(opening, "_LEAST", 1)
    source = mixed(tmp_path / "corpus")
    learnt(source, RECIPES["words"], tmp_path / "t.json", memory=1600)
    assert made == [(("memory", 100),)]
    learnt(source, RECIPES["words"], tmp_path / "t.json", memory=1600, reread=True)
    assert len(made) == 1


def test_bad_limits_are_refused(tmp_path: Path) -> None:
    for memory, why in (
        ("1MB", "memory='1MB': training needs at least 512 MB"),
        (5, "memory=5: training needs at least 512 MB"),
        ("many", "memory"),
        ("-8GB", "memory"),
    ):
        with pytest.raises(ValueError) as caught:
            supratok.train(prose(1, 30), vocab_size=300, progress=False, memory=memory)
        assert why in str(caught.value)


# --- What is read ------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0, 0.5])
def test_how_much_is_held_out(share: float, tmp_path: Path) -> None:
    source, recipe = mixed(tmp_path / "corpus"), RECIPES["dense"]
    one = learnt(source, recipe, tmp_path / "t.json", hold_out=share)
    other = learnt(source, recipe, tmp_path / "t.json", hold_out=share, reread=True)
    assert one == other
    with open_corpus(source) as texts:
        documents = list(texts)
    tokenizer = supratok.train(documents, recipe, 1, False, hold_out=share)
    held_out = tokenizer.report["held_out_documents"]
    assert held_out == 0 if share == 0 else 0.4 < held_out / len(documents) < 0.6
    random.Random(1).shuffle(documents)
    again = supratok.train(documents, recipe, 1, False, hold_out=share)
    assert list(again.vocabulary) == list(tokenizer.vocabulary)


@pytest.mark.parametrize("share", [-0.1, 1, 1.5])
def test_a_bad_share_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="must be a share from 0"):
        supratok.train(["a text"], vocab_size=300, progress=False, hold_out=share)


@pytest.mark.parametrize("sample", [{"max_documents": 90}, {"max_bytes": 7000}])
def test_a_sample_does_not_depend_on_order_or_files(
    sample: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = prose(6, 300)
    recipe = Recipe(vocab_size=400)
    one = [write_lines(tmp_path / "one" / "all.jsonl", texts)]
    random.Random(2).shuffle(texts)
    many = [
        write_lines(tmp_path / "many" / f"{at}.jsonl.zst", texts[at : at + 50])
        for at in range(0, 300, 50)
    ]
    expected = supratok.train(one, recipe, 1, False, **sample)
    assert expected.report["documents"] < 100
    monkeypatch.setattr(opening, "_LEAST", 1)
    ways: list[dict[str, Any]] = [{}, {"reread": True}, {"work": tmp_path / "work"}, {"memory": 99}]
    for options in ways:
        found = supratok.train(many, recipe, 3, False, **sample, **options)
        assert list(found.vocabulary) == list(expected.vocabulary)
        assert found.report["documents"] == expected.report["documents"]
