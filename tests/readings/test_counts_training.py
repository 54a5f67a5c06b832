"""Training from counts files gives what training on the text gives."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from read_texts import RECIPES, learnt, write_lines

import supratok
from supratok import Recipe
from supratok.common.progress import Progress
from supratok.counts import About, merge_counts, split_words, word_rows, write_counts
from supratok.readings.files import NotCounted
from supratok.readings.local import Keeping
from supratok.readings.plans import read_plan, write_plan
from supratok.readings.tally import Part, tally, tally_words
from supratok.recipe import Curation
from texts import corpus, multilingual, prose


def parts(folder: Path) -> list[Path]:
    """Four parts of very different sizes: one has no documents, one has one that is held out."""
    texts = prose(3, 200) + multilingual(3, 120) + corpus(3, 40)
    random.Random(3).shuffle(texts)
    held_out = next(text for text in texts if supratok_holds_out(text))
    return [
        write_lines(folder / "a.jsonl", texts[:300], "  "),
        write_lines(folder / "b.jsonl.zst", texts[300:]),
        write_lines(folder / "c.jsonl", []),
        write_lines(folder / "d.jsonl", [held_out]),
    ]


def supratok_holds_out(text: str) -> bool:
    from supratok.corpus.split import digest, is_held_out

    return is_held_out(digest(text))


def words_of(files: list[Path], recipe: Recipe, folder: Path, **more: Any) -> list[Path]:
    found = []
    for number, file in enumerate(files):
        part = Part((str(file),), more, recipe.curation)
        found.append(folder / f"w{number}.counts")
        tally_words(part, recipe, found[-1], 1, Progress(), Keeping())
    return found


def from_counts(counts: list[Path], recipe: Recipe, path: Path) -> bytes:
    supratok.train_from_counts(counts, recipe, 2, False).save(path)
    return path.read_bytes()


def in_rounds(files: list[Path], recipe: Recipe, folder: Path, merged: bool) -> tuple[bytes, int]:
    """Count whatever training asks for; merged in another order each time, or not at all."""
    rng = random.Random(1)

    def gathered(counts: list[Path], name: str) -> list[Path]:
        rng.shuffle(counts)
        if not merged:
            return counts
        out = folder / f"{name}.counts"
        half = folder / f"{name}-half.counts"
        merge_counts(counts[:2], half)
        merge_counts([counts[2], half, *counts[3:]], out)
        return [out]

    counts = gathered(words_of(files, recipe, folder), "words")
    for rounds in itertools.count():
        try:
            return from_counts(counts, recipe, folder / "c.json"), rounds
        except NotCounted as missing:
            plan = folder / f"{rounds}.plan"
            write_plan(plan, missing.reading, missing.split)
            found = []
            for number, file in enumerate(files):
                reading, rule = read_plan(plan)
                part = Part((str(file),), {}, rule.curation, rule.hold_out)
                found.append(folder / f"r{rounds}-{number}.counts")
                tally(part, reading, found[-1], 1, Progress(), Keeping())
            counts += gathered(found, f"r{rounds}")
    raise AssertionError


CASES = {
    "default": (RECIPES["default"], 2),
    "dense": (replace(RECIPES["dense"], refine=2), 4),
    "at once": (RECIPES["at once"], 1),
    "words": (RECIPES["words"], 0),
    "curated": (replace(RECIPES["paper"], expressions=None), 1),
}


@pytest.mark.parametrize("case", CASES)
def test_equals_training_on_the_text(case: str, tmp_path: Path) -> None:
    recipe, least = CASES[case]
    files = parts(tmp_path / "corpus")
    expected = learnt(files, recipe, tmp_path / "t.json")
    found, rounds = in_rounds(files, recipe, tmp_path, merged=case != "at once")
    assert found == expected
    assert least <= rounds <= least + 6


def test_counted_by_other_processes_and_merged_in_any_order(tmp_path: Path) -> None:
    files, recipe = parts(tmp_path / "corpus"), RECIPES["words"]
    expected = learnt(files, recipe, tmp_path / "t.json")
    command = [sys.executable, "-m", "supratok"]
    outs = [tmp_path / f"{number}.counts" for number in range(4)]
    running = [
        subprocess.Popen([*command, "tally", str(file), "--out", str(out), "--quiet"])
        for file, out in zip(files, outs, strict=True)
    ]
    assert [process.wait() for process in running] == [0] * 4
    sums = set()
    for order in (outs, outs[::-1], [outs[at] for at in (2, 0, 3, 1)]):
        merge_counts(order, tmp_path / "sum.counts")
        sums.add((tmp_path / "sum.counts").read_bytes())
        assert from_counts([tmp_path / "sum.counts"], recipe, tmp_path / "c.json") == expected
    assert len(sums) == 1
    assert from_counts(outs, recipe, tmp_path / "c.json") == expected


def test_what_reads_the_text_itself_is_named(tmp_path: Path) -> None:
    files = parts(tmp_path / "corpus")
    with pytest.raises(ValueError, match="reads the text itself: train on the text"):
        in_rounds(files, RECIPES["paper"], tmp_path, merged=True)


# --- What does not add up ----------------------------------------------------------------------


def test_a_part_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    counts = words_of(parts(tmp_path / "corpus"), RECIPES["words"], tmp_path)
    (tmp_path / "copy.counts").write_bytes(counts[0].read_bytes())
    with pytest.raises(ValueError, match=r"both count .*a\.jsonl, which would count its text twic"):
        from_counts([*counts, tmp_path / "copy.counts"], RECIPES["words"], tmp_path / "c.json")


def test_a_reading_of_less_text_is_refused(tmp_path: Path) -> None:
    files, recipe = parts(tmp_path / "corpus"), RECIPES["default"]
    counts = words_of(files, recipe, tmp_path)
    with pytest.raises(NotCounted) as caught:
        from_counts(counts, recipe, tmp_path / "c.json")
    reading, out = caught.value.reading, tmp_path / "r.counts"
    tally(Part((str(files[0]),)), reading, out, 1, Progress(), Keeping())
    why = rf"\.jsonl.*: counted in the reading 'words' but not in '{reading.phase}'"
    with pytest.raises(ValueError, match=why):
        from_counts([*counts, out], recipe, tmp_path / "c.json")


def test_counts_for_another_recipe_are_refused(tmp_path: Path) -> None:
    files = parts(tmp_path / "corpus")
    counts = words_of(files, RECIPES["words"], tmp_path)
    curated = replace(RECIPES["words"], curation=Curation())
    with pytest.raises(ValueError, match="was counted with curation=None, and this recipe needs"):
        from_counts(counts, curated, tmp_path / "c.json")
    curated_too = words_of(files[:1], curated, tmp_path)
    with pytest.raises(ValueError, match="do not add up"):
        from_counts([*curated_too, *counts[1:]], curated, tmp_path / "c.json")


def test_too_few_documents_are_refused(tmp_path: Path) -> None:
    files, recipe = parts(tmp_path / "corpus"), RECIPES["words"]
    counts = words_of(files, recipe, tmp_path)
    with pytest.raises(ValueError, match="no documents were found"):
        from_counts([counts[2]], recipe, tmp_path / "c.json")
    with pytest.raises(ValueError, match=r"none is left to train on.*hold_out=0"):
        from_counts([counts[3]], recipe, tmp_path / "c.json")
    with pytest.raises(ValueError, match="no counts file holds words"):
        from_counts([], recipe, tmp_path / "c.json")


# --- Words that others counted -----------------------------------------------------------------


def test_words_counted_elsewhere_train(tmp_path: Path) -> None:
    texts = prose(4, 150)
    pairs = ((word, 1) for text in texts for word in split_words(text))
    about = About("words", "mine", {"mine": "my words"}, {"documents": len(texts)})
    write_counts(tmp_path / "mine.counts", about, {"words.rows": word_rows(pairs)})
    found = supratok.train_from_counts([tmp_path / "mine.counts"], RECIPES["words"], 1, False)
    whole = supratok.train(texts, RECIPES["words"], 1, False, hold_out=0)
    assert list(found.vocabulary) == list(whole.vocabulary)
    assert found.report["documents"] == len(texts)
