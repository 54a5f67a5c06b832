"""`prune`, `refine`, recipes and summaries, run as a user runs them."""

from __future__ import annotations

import dataclasses
import functools
import json
from pathlib import Path
from typing import Any

import pytest

from supratok import Recipe, Tokenizer, train
from supratok.cli.main import main
from supratok.cli.summary import summary_of, summary_of_rework
from supratok.learn.prune import ROUNDS
from supratok.learn.rework import prune, refine
from supratok.recipe import Curation, Expressions, Screen, Seeds
from texts import corpus, prose

DOCUMENTS = [text for text in prose(4, 600) + corpus(4, 60) if "\n" not in text]
RULES = ["merges", "fewest"]


@functools.cache
def trained(rule: Any) -> Tokenizer:
    recipe = Recipe(vocab_size=700, segmentation=rule, special_tokens=("<s>", "<e>"))
    return train(DOCUMENTS, recipe, threads=1, progress=False)


@pytest.fixture(params=RULES)
def files(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path, Path]:
    """A tokenizer, a corpus, and where to write."""
    trained(request.param).save(tmp_path / "t.json")
    lines = (json.dumps({"text": text}) + "\n" for text in DOCUMENTS)
    (tmp_path / "corpus.jsonl").write_text("".join(lines), encoding="utf-8")
    return tmp_path / "t.json", tmp_path / "corpus.jsonl", tmp_path / "out.json"


def run(*args: object) -> int:
    return main(list(map(str, args)))


# --- prune and refine


def test_prune(files: tuple[Path, Path, Path], capfd: pytest.CaptureFixture[str]) -> None:
    path, text, out = files
    assert run("prune", path, text, "--vocab-size", 500, "--out", out, "--threads", 2) == 0
    said = capfd.readouterr()
    before, after = Tokenizer.load(path), Tokenizer.load(out)
    assert after.vocab_size == after.recipe.vocab_size == 500
    assert dataclasses.replace(after.recipe, vocab_size=700) == before.recipe
    assert after.special_tokens == before.special_tokens
    kept = [token for token in before.vocabulary if token in set(after.vocabulary)]
    assert kept == list(after.vocabulary)  # in the same order
    assert set(alphabet(before)) <= set(after.vocabulary)
    done = after.report["afterwards"][-1]
    assert after.report["passes"][done["passes"][0]]["dropped"] == 200
    assert before.report["passes"].items() <= after.report["passes"].items()
    figures = done["held_out"]
    assert figures["tokens_before"] == before.report["held_out"]["tokens"] < figures["tokens"]
    assert after.report["held_out"]["tokens"] == figures["tokens"]
    assert said.out == ""
    assert f"{out}: 500 tokens, pruned in" in said.err
    ratio = figures["characters"] / figures["tokens_before"]
    assert f"held out: {ratio:.3f} characters per token before, " in said.err


def alphabet(tokenizer: Tokenizer) -> list[Any]:
    return [token for token in tokenizer.vocabulary if token.born == "alphabet"]


@pytest.mark.parametrize("more", [(), ("--expressions",), ("--rounds", 1)])
def test_refine(
    files: tuple[Path, Path, Path], more: tuple[object, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    path, text, out = files
    assert run("refine", path, text, "--out", out, *more) == 0
    said = capfd.readouterr()
    before, after = Tokenizer.load(path), Tokenizer.load(out)
    assert after.vocab_size == before.vocab_size == 700
    assert after.recipe == before.recipe
    assert after.special_tokens == before.special_tokens
    assert alphabet(after) == alphabet(before)
    names = ["expression", "refinement"] if "--expressions" in more else ["refinement"]
    assert after.report["afterwards"][-1]["passes"] == names
    for name in names:
        assert after.report["passes"][name]
    assert after.report["passes"].keys() - set(names) == before.report["passes"].keys()
    assert sum(after.report["born"].values()) == len(after.vocabulary)
    assert said.out == "" and f"{out}: 700 tokens, refined in" in said.err
    assert "refinement: round 1: " in said.err and "characters per token before" in said.err


def test_pruning_to_the_alphabet_and_no_further() -> None:
    tokenizer = trained("merges")
    least = 2 + 256 + len(alphabet(tokenizer))
    assert list(prune(tokenizer, DOCUMENTS, least, 1, False).vocabulary) == alphabet(tokenizer)
    with pytest.raises(ValueError, match=f"vocab_size={least - 1} is too small.* are {least}"):
        prune(tokenizer, DOCUMENTS, least - 1, 1, False)
    with pytest.raises(ValueError, match="vocab_size=700: the tokenizer has 700 tokens"):
        prune(tokenizer, DOCUMENTS, 700, 1, False)


def test_a_vocabulary_that_was_never_filled_keeps_its_size() -> None:
    """The expression pass fills free places in training; here the size stays."""
    tokenizer = trained("merges")
    roomy = Tokenizer(tokenizer.vocabulary, dataclasses.replace(tokenizer.recipe, vocab_size=5000))
    assert refine(roomy, DOCUMENTS, 1, True, 1, False).vocab_size == 700


@pytest.mark.parametrize("rule", RULES)
def test_threads_and_order_do_not_matter(rule: Any, tmp_path: Path) -> None:
    saved = []
    for threads, documents in ((1, DOCUMENTS), (2, DOCUMENTS[::-1])):
        smaller = prune(trained(rule), documents, 520, threads, False)
        refine(smaller, documents, 2, True, threads, False).save(tmp_path / "x.json")
        saved.append((tmp_path / "x.json").read_bytes())
    assert saved[0] == saved[1]


def test_events(files: tuple[Path, Path, Path], capfd: pytest.CaptureFixture[str]) -> None:
    path, text, out = files
    assert run("prune", path, text, "--vocab-size", 600, "--out", out, "--json") == 0
    events = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    ends = [event for event in events if event["event"] == "end"]
    assert [event["phase"] for event in ends] == ["words", "uses", "pruning", "measuring"]
    assert ends[2]["done"] == ROUNDS
    assert events[-1]["event"] == "done" and events[-1]["vocab_size"] == 600
    assert events[-1]["report"] == Tokenizer.load(out).report
    assert run("refine", path, text, "--out", out, "--quiet") == 0
    assert capfd.readouterr() == ("", "")


def test_passes_of_the_same_name_are_numbered() -> None:
    tokenizer = trained("fewest")
    for size in (600, 500):
        tokenizer = prune(tokenizer, DOCUMENTS, size, 1, False)
    passes = tokenizer.report["passes"]
    assert [passes[name]["dropped"] for name in ("pruning 2", "pruning 3")] == [100, 100]
    assert [line for line in summary_of(tokenizer) if line.startswith("pruning")][1:] == [
        "pruning: 100 of 442 tokens dropped", "pruning: 100 of 342 tokens dropped",
    ]  # fmt: skip
    assert len(list(summary_of_rework(tokenizer))) == 3


def test_what_is_wrong_is_refused_at_the_door(
    files: tuple[Path, Path, Path], capfd: pytest.CaptureFixture[str]
) -> None:
    """Before the corpus is read: it does not exist."""
    path, _, out = files
    foreign = path.parent / "tokenizer.json"
    foreign.write_text('{"model": {}}', encoding="utf-8")
    absent, small = ("absent.txt", "--out", out), ("--vocab-size", 500)
    few = path.parent / "few.txt"
    few.write_text("one\n", encoding="utf-8")
    for command, why in (
        (("prune", foreign, *absent, *small), "not a supratok tokenizer"),
        (("refine", foreign, *absent), "not a supratok tokenizer"),
        (("prune", path, *absent, "--vocab-size", 900), "nothing to drop"),
        (("refine", path, *absent, "--rounds", 0), "rounds=0"),
        (("refine", path, *absent, "--threads", 0), "threads=0"),
        (("prune", path, "absent.txt", *small, "--out", "no/x"), "cannot write in the folder"),
        (("prune", path, *absent, *small), "no such file"),
        (("refine", path, few, "--out", out, "--quiet"), "1 documents are too few"),
    ):
        assert run(*command) == 1
        said = capfd.readouterr().err
        assert said.startswith("supratok: error: ") and why in said and said.count("\n") == 1
    assert not out.exists()


# --- Recipes


def test_train_by_recipe(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text, out, file = tmp_path / "c.txt", tmp_path / "t.json", tmp_path / "r.toml"
    text.write_text("\n".join(DOCUMENTS), encoding="utf-8")
    file.write_text(
        'preset = "paper"\nvocab_size = 500\ncuration = false\nspecial_tokens = ["<s>"]\n'
        "[seeds]\nmin_count = 5\n",
        encoding="utf-8",
    )
    command = ("train", text, "--out", out, "--quiet")
    assert run(*command, "--recipe", file) == 0
    paper = Recipe.paper(500, curation=None, special_tokens=("<s>",))
    expected = dataclasses.replace(
        paper, seeds=dataclasses.replace(paper.seeds or Seeds(), min_count=5)
    )
    assert Tokenizer.load(out).recipe == expected
    more = ("--vocab-size", 450, "--segmentation", "fewest", "--special-token", "<e>")
    assert run(*command, "--recipe", file, *more) == 0
    changes: Any = {"vocab_size": 450, "segmentation": "fewest", "special_tokens": ("<e>",)}
    recipe = dataclasses.replace(expected, **changes)
    assert Tokenizer.load(out).recipe == recipe
    capfd.readouterr()
    assert run("inspect", out, "--toml") == 0
    file.write_text(capfd.readouterr().out, encoding="utf-8")
    assert Recipe.from_toml(file) == recipe


@pytest.mark.parametrize("preset", ["default", "paper", "dense"])
def test_train_by_preset(preset: str, tmp_path: Path) -> None:
    text, out = tmp_path / "c.txt", tmp_path / "t.json"
    text.write_text("\n".join(DOCUMENTS[:200]), encoding="utf-8")
    command = ("train", text, "--out", out, "--quiet", "--preset", preset)
    assert run(*command, "--vocab-size", 400, "--crossover", 0.9) == 0
    assert Tokenizer.load(out).recipe == Recipe.from_preset(preset, 400, crossover=0.9)
    with pytest.raises(SystemExit, match="2"):
        run(*command, "--recipe", "r.toml")  # a recipe and a preset


def test_a_bad_recipe_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "r.toml"
    file.write_text("[boundaries]\nmax_words = 0\n", encoding="utf-8")
    command = ("train", "absent.txt", "--out", tmp_path / "t.json", "--recipe", file)
    assert run(*command) == 1
    assert f"{file}: [boundaries] max_words=0" in capfd.readouterr().err
    assert run(*command, "--vocab-size", 400) == 1
    assert f"{file}: [boundaries] max_words=0: must be" in capfd.readouterr().err


# --- Summaries


def test_the_summary_of_every_pass() -> None:
    recipe = Recipe(
        vocab_size=600, segmentation="fewest", curation=Curation(), seeds=Seeds(min_count=5),
        screen=Screen(min_documents=2), expressions=Expressions(min_pmi=1.0), refine=2,
    )  # fmt: skip
    tokenizer = train(DOCUMENTS, recipe, threads=1, progress=False)
    lines = list(summary_of(tokenizer))
    heads = list(dict.fromkeys(line.split(":")[0] for line in lines))
    assert heads == [
        "documents", "curation", "scripts", "seeds", "traditional", "multiword", "crossover",
        "pruning", "expression", "refinement", "phrases", "held out",
    ]  # fmt: skip
    passes = tokenizer.report["passes"]
    printed = "\n".join(lines)
    bins = passes["curation"]["bins"]
    assert f"high {bins['high']['kept']:,} of {bins['high']['documents']:,}" in printed
    assert f"{passes['multiword']['screened']:,} screened" in printed
    assert f"{passes['pruning']['dropped']:,} of {passes['pruning']['candidates']:,}" in printed
    assert f"weak boundary {passes['expression']['rejected']['weak boundary']:,}" in printed
    assert f"{passes['refinement'][0]['held_out_tokens_before']:,} to " in printed


def test_the_summary_of_scripts() -> None:
    facts = {
        "documents": {"tr": 9, "fi": 0}, "suffixes": {"tr": ["lar", "ler"]},
        "bigrams": {"kept": 1200, "gated": 30, "cuts": 44}, "hamza_groups": 5,
    }  # fmt: skip
    plain = trained("merges")
    tokenizer = Tokenizer(plain.vocabulary, plain.recipe, {"passes": {"scripts": facts}})
    assert list(summary_of(tokenizer))[:3] == [
        "scripts: without spaces: 1,200 bigrams join, 30 rare ones cut 44 times",
        "scripts: tr: 9 documents; suffixes lar ler",
        "scripts: hamza: 5 groups of Arabic words pooled",
    ]
