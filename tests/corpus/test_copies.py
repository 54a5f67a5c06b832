"""Text that is given several times counts so many times: the way to weigh one language against
another (docs/multilingual.md)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from supratok import Recipe, Screen, Tokenizer, train
from supratok.corpus import Source, open_corpus
from supratok.corpus.split import digest, is_held_out
from texts import prose, write_corpus

ONE, OTHER = prose(1, 120), prose(2, 120)
RECIPE = Recipe(vocab_size=500, phrase_price=1.5)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    folder = tmp_path / "ml"
    folder.mkdir()
    return (
        write_corpus(folder / "one.jsonl.zst", ONE),
        write_corpus(folder / "other.jsonl.zst", OTHER),
    )


def tokens(source: Source, recipe: Recipe = RECIPE) -> list[tuple[str, int]]:
    """The texts of all tokens, and how often each was seen."""
    return [(token.text, token.count) for token in trained(source, recipe).vocabulary]


def trained(source: Source, recipe: Recipe = RECIPE) -> Tokenizer:
    return train(source, recipe, progress=False)


def test_a_file_given_twice_counts_twice(files: tuple[Path, Path]) -> None:
    one, other = files
    found = tokens([one, other, other])
    assert found == tokens([*ONE, *OTHER, *OTHER])
    assert found == tokens([other, one, other])  # in any order
    assert found == tokens([one.parent, other])  # a folder, and one of its files again
    assert found != tokens([one, other])


def test_a_link_in_a_folder_and_a_glob_give_no_copy(files: tuple[Path, Path]) -> None:
    one, other = files
    (one.parent / "again.jsonl.zst").symlink_to(other)
    for source in (one.parent, one.parent / "*"):
        with open_corpus(str(source)) as corpus:
            assert sorted(corpus) == sorted([*ONE, *OTHER])


def test_copies_are_held_out_together(tmp_path: Path) -> None:
    """A document that is held out teaches nothing, however often it is given."""
    made = (f"{'ж' * 9} {number}" for number in range(999))
    rare = next(text for text in made if is_held_out(digest(text)))
    file = write_corpus(tmp_path / "one.jsonl.zst", [*ONE, rare])
    every = replace(RECIPE, character_coverage=1.0)
    many, once = trained([file] * 4, every), trained([file], every)
    assert "ж" not in "".join(text for text, _ in tokens([file] * 4, every))
    # It is measured on once.
    assert many.report["held_out"]["characters"] == once.report["held_out"]["characters"]
    assert many.report["documents"] == 4 * once.report["documents"]


def test_copies_count_as_documents_of_a_phrase() -> None:
    """The screen asks for a phrase in so many documents; copies are some."""
    recipe = replace(RECIPE, screen=Screen(min_pmi=0.0, min_count=2, min_documents=8))
    others = prose(1, 900)  # the screen asks for at most a hundredth of all documents
    texts = [f"{number}" + " zebra quagga\n" * 40 for number in range(5)]
    learnt = [text for text in texts if not is_held_out(digest(text))]
    assert 4 <= len(learnt) < 8
    once, twice = (
        [text for text, _ in tokens([*others, *learnt * times], recipe)] for times in (1, 2)
    )
    assert " zebra quagga" not in once and " zebra quagga" in twice
