"""A target text weighs when tokens are chosen: its other half gains, and we say the cost."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supratok import Recipe, Tokenizer, reference, train, train_from_counts
from supratok.cli.main import main
from supratok.cli.summary import summary_of
from supratok.corpus.target import TargetText, halves
from supratok.learn.estimate import estimate_training
from supratok.learn.expression.deciding import Deciding
from supratok.learn.prune import HELD_OUT_WEIGHT
from supratok.learn.rework import prune, refine
from supratok.learn.target import Aim
from supratok.readings.files import NotCounted
from supratok.readings.plans import write_plan
from supratok.recipe import TARGET_ROUNDS, TARGET_SHARE, Expressions
from texts import corpus, prose

DOCUMENTS = prose(4, 500) + corpus(4, 60)
TARGET = [text for text in prose(99, 120) if text.strip()]  # other words
RECIPES = {
    "default": Recipe(vocab_size=700),
    "dense": Recipe.dense(700),
    "pruned only": Recipe(vocab_size=700, segmentation="fewest"),
    "expressions": Recipe(vocab_size=700, crossover=0.9, expressions=Expressions(min_pmi=1.0)),
}


@functools.cache
def trained(name: str, threads: int = 1) -> Tokenizer:
    return train(DOCUMENTS, RECIPES[name], threads=threads, progress=False, target=TARGET)


@functools.cache
def plain(name: str) -> Tokenizer:
    return train(DOCUMENTS, RECIPES[name], threads=1, progress=False)


def run(*args: object) -> int:
    return main(list(map(str, args)))


# --- Gain and loss


@pytest.mark.parametrize("name", RECIPES)
def test_the_half_that_decides_nothing_gains(name: str) -> None:
    found = trained(name).report["target"]["measuring"]
    assert found["tokens"] < found["tokens_without"]


@pytest.mark.parametrize("name", RECIPES)
def test_the_report_has_what_both_tokenizers_take(name: str) -> None:
    aimed, without, target = trained(name), plain(name), halves(TARGET)
    report = aimed.report["target"]
    assert report["share"] == aimed.recipe.target_share == TARGET_SHARE
    assert report["sha256"] == target.identity
    assert report["deciding"]["documents"] == len(target.deciding)
    measured = report["measuring"]
    assert measured["characters"] == sum(map(len, target.measuring))
    assert measured["tokens"] == int(aimed.usage(target.measuring).sum())
    assert measured["tokens_without"] == int(without.usage(target.measuring).sum())
    held_out = report["held_out"]
    assert held_out["tokens"] == aimed.report["held_out"]["tokens"]
    assert held_out["tokens_without"] == without.report["held_out"]["tokens"]
    lines = [line for line in summary_of(aimed) if line.startswith("target: ")]
    assert len(lines) == 3 and "20% of all evidence" in lines[0]
    ratio = measured["characters"] / measured["tokens"]
    assert f"its other half: {ratio:.3f} characters per token" in lines[1]
    assert lines[2].startswith("target: held out: ")


def test_a_higher_share_decides_more() -> None:
    target = halves(TARGET)
    used = [
        int(
            train(
                DOCUMENTS, replace(RECIPES["dense"], target_share=share), threads=1,
                progress=False, target=target,
            ).usage(target.deciding).sum()
        )
        for share in (0.05, 0.5, 0.95)
    ]  # fmt: skip
    assert used[0] > used[1] > used[2]


@pytest.mark.parametrize("name", RECIPES)
def test_a_target_like_the_corpus_does_no_harm(name: str) -> None:
    """The training text itself as a target says nothing new: held-out text takes about as much."""
    tokenizer = train(DOCUMENTS, RECIPES[name], threads=1, progress=False, target=DOCUMENTS)
    found = tokenizer.report["target"]["held_out"]
    assert found["tokens"] <= 1.02 * found["tokens_without"]


@pytest.mark.parametrize("name", RECIPES)
def test_a_target_of_one_document(name: str) -> None:
    one = "\n\n".join(TARGET)
    report = train(DOCUMENTS, RECIPES[name], threads=1, progress=False, target=[one]).report
    found = report["target"]
    assert found["deciding"]["documents"] == found["measuring"]["documents"] == 1
    assert found["measuring"]["tokens"] < found["measuring"]["tokens_without"]


# --- Promises of training


@pytest.mark.parametrize("name", RECIPES)
def test_the_same_bytes_with_any_threads_and_order(name: str, tmp_path: Path) -> None:
    again = train(
        DOCUMENTS[::-1], RECIPES[name], threads=3, progress=False, target=TARGET[::-1]
    )  # fmt: skip
    for tokenizer, path in ((trained(name), tmp_path / "a"), (again, tmp_path / "b")):
        tokenizer.save(path)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("name", RECIPES)
def test_the_file_says_that_there_was_a_target(name: str, tmp_path: Path) -> None:
    tokenizer = trained(name)
    tokenizer.save(tmp_path / "t.json")
    loaded = Tokenizer.load(tmp_path / "t.json")
    assert loaded.recipe == tokenizer.recipe and loaded.recipe.target_share == TARGET_SHARE
    assert loaded.recipe.refine == (TARGET_ROUNDS if name == "default" else RECIPES[name].refine)
    assert loaded.report["target"] == tokenizer.report["target"]
    assert loaded.vocab_size == 700
    assert plain(name).recipe == RECIPES[name] and "target" not in plain(name).report


@pytest.mark.parametrize("share", [0.2, 0.7, 1.0])
def test_pruning_equals_the_reference(share: float) -> None:
    recipe = Recipe(vocab_size=420, segmentation="fewest", target_share=share)
    documents, target = prose(6, 200), halves(prose(97, 20))
    tokenizer = train(documents, recipe, threads=1, progress=False, target=target)
    found = reference.train(documents, recipe, target=target.deciding)
    assert list(tokenizer.vocabulary) == found
    assert found != reference.train(documents, replace(recipe, target_share=0.0))


def test_work_goes_on_and_knows_its_target(tmp_path: Path) -> None:
    text = tmp_path / "c.jsonl"
    text.write_text("".join(json.dumps({"text": t}) + "\n" for t in DOCUMENTS), encoding="utf-8")
    options: Any = {"threads": 1, "progress": False, "work": tmp_path / "w", "keep_work": True}
    first = train(text, RECIPES["dense"], target=TARGET, **options)
    again = train(text, RECIPES["dense"], target=TARGET, **options)  # from finished readings
    assert first.vocabulary == again.vocabulary == trained("dense").vocabulary
    with pytest.raises(ValueError, match=r"target was .* and is"):
        train(text, RECIPES["dense"], target=TARGET[1:], **options)
    with pytest.raises(ValueError, match="keeps the work of another run"):
        train(text, RECIPES["dense"], **options)


@pytest.mark.parametrize("options", [{"memory": "600MB"}, {"reread": True}])
def test_memory_and_rereading_change_nothing(options: dict[str, Any]) -> None:
    found = train(DOCUMENTS, RECIPES["dense"], progress=False, target=TARGET, **options)
    assert found.vocabulary == trained("dense").vocabulary


def lines_in(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(json.dumps({"text": t}) + "\n" for t in texts), encoding="utf-8")
    return path


@pytest.mark.parametrize(("name", "plans"), [("default", 7), ("dense", 20), ("pruned only", 5)])
def test_training_from_counts(
    name: str, plans: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The text is elsewhere, the target here. Each plan asks for one more reading; a refinement
    asks for two or three a round."""
    text, target = (
        lines_in(tmp_path / f"{n}.jsonl", some) for n, some in (("c", DOCUMENTS), ("t", TARGET))
    )
    (tmp_path / "r.toml").write_text(RECIPES[name].to_toml(), encoding="utf-8")
    counts, out = [tmp_path / "words.counts"], tmp_path / "t.json"
    assert run("tally", text, "--out", counts[0], "--quiet") == 0
    options = ("--target", target, "--out", out, "--recipe", tmp_path / "r.toml", "--quiet")
    while run("train", "--counts", *counts, *options) != 0:
        assert "needs one more reading" in capfd.readouterr().err and len(counts) <= plans
        counts.append(tmp_path / f"{len(counts)}.counts")
        assert run("tally", text, "--plan", f"{out}.plan", "--out", counts[-1], "--quiet") == 0
    found, expected = Tokenizer.load(out), trained(name)
    assert found.vocabulary == expected.vocabulary and found.recipe == expected.recipe
    assert found.report["target"] == expected.report["target"]
    assert found.report["passes"] == expected.report["passes"]


def test_counts_without_held_out_text_and_a_target(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Then the target alone decides what a round of refinement saves."""
    text = lines_in(tmp_path / "c.jsonl", DOCUMENTS)
    recipe = replace(RECIPES["default"], crossover=0.8)
    options: Any = {"threads": 1, "progress": False, "target": TARGET}
    expected = train(text, recipe, hold_out=0.0, **options)
    counts = [tmp_path / "words.counts"]
    assert run("tally", text, "--hold-out", 0, "--out", counts[0], "--quiet") == 0
    while True:
        try:
            found = train_from_counts(counts, recipe, **options)
            break
        except NotCounted as missing:
            write_plan(tmp_path / "p.plan", missing.reading, missing.split)
            counts.append(tmp_path / f"{len(counts)}.counts")
            given = ("--plan", tmp_path / "p.plan", "--out", counts[-1], "--quiet")
            assert run("tally", text, *given) == 0
    capfd.readouterr()
    assert found.vocabulary == expected.vocabulary
    assert found.report["target"] == expected.report["target"]
    assert "held_out" not in found.report["target"]


def test_counts_refuse_what_needs_the_text_also_with_a_target(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = lines_in(tmp_path / "c.jsonl", DOCUMENTS[:50])
    assert run("tally", text, "--out", tmp_path / "w.counts", "--quiet") == 0
    capfd.readouterr()
    (tmp_path / "r.toml").write_text(RECIPES["expressions"].to_toml(), encoding="utf-8")
    command = ("train", "--counts", tmp_path / "w.counts", "--target", text, "--quiet")
    given = ("--recipe", tmp_path / "r.toml", "--out", tmp_path / "t.json")
    assert run(*command, *given) == 1
    said = capfd.readouterr().err
    assert "expression pass reads the text itself: train on the text" in said
    assert not (tmp_path / "t.json").exists()


# --- Prune and refine


@pytest.mark.parametrize("rule", ["merges", "fewest"])
def test_rework_by_a_target(rule: Any) -> None:
    base = train(DOCUMENTS, Recipe(vocab_size=700, segmentation=rule), threads=1, progress=False)
    smaller = prune(base, DOCUMENTS, 500, 1, False, target=TARGET)
    better = refine(base, DOCUMENTS, 3, False, 1, False, target=TARGET, target_share=0.4)
    assert (smaller.recipe.target_share, better.recipe.target_share) == (TARGET_SHARE, 0.4)
    for changed, without in (
        (smaller, prune(base, DOCUMENTS, 500, 1, False)),
        (better, refine(base, DOCUMENTS, 3, False, 1, False)),
    ):
        report = changed.report["target"]
        assert report == changed.report["afterwards"][-1]["target"]
        measured = report["measuring"]
        assert measured["tokens"] < measured["tokens_without"]
        assert measured["tokens_without"] == int(without.usage(halves(TARGET).measuring).sum())
        assert len([line for line in summary_of(changed) if line.startswith("target: ")]) == 3
        assert "target" not in without.report and without.recipe.target_share == 0.0
    with pytest.raises(ValueError, match=r"target_share=0.3: there is no target"):
        refine(base, DOCUMENTS, 1, target_share=0.3)


# --- The command


def test_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text, target, out = (tmp_path / name for name in ("c.txt", "t.txt", "o.json"))
    text.write_text("\n\n".join(DOCUMENTS), encoding="utf-8")
    target.write_text("\n\n".join(TARGET), encoding="utf-8")
    base = ("train", text, "--out", out, "--vocab-size", 700)
    assert run(*base, "--target", target, "--target-share", 0.4) == 0
    said = capfd.readouterr().err
    assert "as 40% of all evidence" in said and "without the target" in said
    recipe = Tokenizer.load(out).recipe
    assert (recipe.target_share, recipe.refine) == (0.4, TARGET_ROUNDS)
    assert run("inspect", out) == 0
    assert "target: its other half: " in capfd.readouterr().out
    (tmp_path / "r.toml").write_text(recipe.to_toml(), encoding="utf-8")
    again = ("train", text, "--out", out, "--quiet", "--recipe", tmp_path / "r.toml")
    for command, why in (
        (again, "pass it with target= / --target FILES"),
        ((*base, "--target-share", 0.4), "--target-share 0.4: there is no target"),
        ((*base, "--target", target, "--target-share", 0), "a share above 0, at most 1"),
        ((*base, "--target", tmp_path / "absent.txt"), "no such file"),
        (("train", text, "--out", target, "--target", target), "--out"),
    ):
        assert run(*command) == 1
        said = capfd.readouterr().err
        assert said.startswith("supratok: error: ") and why in said and said.count("\n") == 1


# --- Weights


def test_shares_are_shares_of_all_evidence() -> None:
    """By hand: 1,000 characters of training text and 20 of the target; at a share of a half, a use
    in the target counts 50 times as much as one in the training text."""
    target = TargetText(["x" * 20], [])
    aim = Aim.of(target, 0.5, 1000, 1)
    assert aim is not None and aim.scale == 50
    assert aim.mix(np.array([100.0, 0.0]), np.array([0, 2])).tolist() == [50.0, 50.0]
    assert Aim.of(None, 0.5, 1000, 1) is None


def test_pairs_of_both_texts_join() -> None:
    aim = Aim(["x"], 0.5, 10.0, 1)

    def pairs(*rows: tuple[int, int, int]) -> Any:
        lefts, rights, counts = zip(*rows, strict=True)
        return np.array(lefts, np.uint32), np.array(rights, np.uint32), np.array(counts, np.int64)

    (lefts, rights, counts), worth = aim.join(
        pairs((1, 2, 40), (5, 6, 30)), pairs((1, 2, 1), (3, 4, 7)), 1 + HELD_OUT_WEIGHT
    )
    assert list(zip(lefts.tolist(), rights.tolist(), counts.tolist(), strict=True)) == [
        (3, 4, 7), (1, 2, 41), (5, 6, 30),
    ]  # fmt: skip
    assert worth.tolist() == pytest.approx([35.0, 0.5 * 1.1 * 40 + 5, 0.5 * 1.1 * 30])


def test_surgery_weighs_groups_by_their_share() -> None:
    found = Deciding.of(["a" * 900], TargetText(["b" * 100], []), 0.5)
    assert [group.weight for group in found.groups] == pytest.approx([1000 / 1800, 5.0])
    sizes = [group.weight * sum(map(len, group.texts)) for group in found.groups]
    assert sum(sizes) == pytest.approx(found.characters) and sizes[0] == pytest.approx(sizes[1])
    everything = Deciding.of(["a" * 900], TargetText(["b" * 100], []), 1.0)  # as in runs/leaking.py
    assert everything.texts == ["b" * 100] and everything.weights.tolist() == [1.0]


def test_the_estimate_knows_that_the_passes_run_twice() -> None:
    dense = Recipe.dense(700)
    one, two = (estimate_training(1e8, r, 2).seconds for r in (dense, dense.for_target()))
    assert 1.3 * one < two < 2 * one
