"""`supratok tune`: the space, the score, the reference, and whole studies of a tiny corpus."""

from __future__ import annotations

import itertools
import json
import math
import statistics
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import given, settings
from hypothesis import strategies as st

from supratok import Recipe
from supratok.cli.main import main
from supratok.corpus.split import digest, is_for_measuring, is_held_out
from supratok.lab.report.tables import read
from supratok.lab.tuning import measure as tuning_measure
from supratok.lab.tuning.estimate import estimate_trial, models
from supratok.lab.tuning.measure import Reference, Setting, read_reference, read_texts
from supratok.lab.tuning.score import Measured, Weights, more_bits, score
from supratok.lab.tuning.space import PAPER, Range, read_space, recipe_of
from supratok.lab.tuning.study import Trial, best, finished, open_study
from supratok.lab.tuning.table import importances
from texts import prose

pytest.importorskip("torch")
optuna = pytest.importorskip("optuna")
pytest.importorskip("tokenizers")

# --- The space -------------------------------------------------------------------------------


def test_the_space_of_the_paper() -> None:
    assert read_space([]) == PAPER
    assert [str(found) for found in PAPER.values()] == ["160000:320000:16000", "3:6:0.5", "3:6:1"]


def test_ranges_are_changed_added_and_held_still(tmp_path: Path) -> None:
    space = read_space(["vocab_size=16,000:32,000", "phrase_price=1:3:0.5", "screen.min_pmi=5"])
    assert space["vocab_size"] == Range(16_000, 32_000)
    assert space["phrase_price"] == Range(1.0, 3.0, 0.5)
    assert space["screen.min_pmi"] == Range(5.0, 5.0) and space["screen.min_count"].step == 1
    file = tmp_path / "space.toml"
    file.write_text(
        "vocab_size = [400, 800, 100]\ncrossover = 0.9\n[seeds]\nmin_count = [50, 90]\n"
    )
    space = read_space([str(file)])
    assert space["vocab_size"] == Range(400, 800, 100) and space["crossover"] == Range(0.9, 0.9)
    assert space["seeds.min_count"] == Range(50, 90) and space["seeds.min_count"].whole


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("vocab_size=9000:8000", "lower one first"),
        ("vocab_size=8000:9000:0", "step must be above 0"),
        ("vocab_size=8000:9000:1:2", "give [low, high]"),
        ("vocab_size=small", "NAME=LOW:HIGH:STEP"),
        ("vocab_size=8000.5", "whole number"),
        ("vocab_size=1:9000", "the low end of the space makes no recipe: vocab_size=1"),
        ("screen.pmi=1:2", "no such value"),
        ("price.of.all=1:2", "no such value"),
        ("curriculum=0:1", "not a number"),
        ("curation.keep=0:1", "not a number"),
        ("phrase_price=nan", "two numbers"),
    ],
)
def test_what_is_no_space(given: str, said: str) -> None:
    with pytest.raises(ValueError, match=said.replace("[", r"\[")):
        read_space([given])


@settings(max_examples=25)
@given(st.data())
def test_every_value_of_a_space_makes_a_recipe_that_holds_it(data: st.DataObject) -> None:
    low = data.draw(st.integers(300, 5000))
    high = data.draw(st.integers(low, 9000))
    bits = sorted(data.draw(st.tuples(st.integers(0, 9), st.integers(0, 9))))
    preset = data.draw(st.sampled_from(["default", "paper", "dense"]))
    space = read_space([f"vocab_size={low}:{high}:7", f"screen.min_pmi={bits[0]}:{bits[1]}:0.5"])
    sampler = optuna.samplers.RandomSampler(seed=low)
    trial = optuna.create_study(sampler=sampler).ask()
    values = {name: found.suggest(trial, name) for name, found in space.items()}
    assert low <= values["vocab_size"] <= high and (values["vocab_size"] - low) % 7 == 0
    assert bits[0] <= values["screen.min_pmi"] <= bits[1] and values["screen.min_pmi"] * 2 % 1 == 0
    recipe = recipe_of(preset, values)
    assert recipe.screen is not None and recipe.screen.min_pmi == values["screen.min_pmi"]
    assert recipe.screen.min_count == values["screen.min_count"]
    base = Recipe.from_preset(preset, int(values["vocab_size"]))
    assert replace(recipe, screen=None) == replace(base, screen=None)


# --- The score -------------------------------------------------------------------------------

figures = st.builds(Measured, st.floats(1, 10), st.floats(3, 1e5), st.floats(3, 1e5))


def test_a_score_by_hand() -> None:
    reference = Measured(compression=4.0, perplexity=256.0, latency=1024.0)
    found = Measured(compression=5.0, perplexity=1024.0, latency=512.0)
    assert score(found, reference) == pytest.approx(1 / 4 - 2 / 8 + 1 / 10)
    assert score(found, reference, Weights(2, 1, 0)) == pytest.approx(2 / 4 - 2 / 8)


@given(figures, figures)
def test_the_reference_scores_nothing_and_better_is_more(one: Measured, other: Measured) -> None:
    assert score(one, one) == 0
    found = score(one, other)
    assert score(replace(one, compression=one.compression * 1.1), other) > found
    assert score(replace(one, perplexity=one.perplexity * 1.1), other) < found
    assert score(replace(one, latency=one.latency * 1.1), other) < found


@given(figures, figures)
def test_the_first_two_terms_are_bits_per_character(one: Measured, other: Measured) -> None:
    """As tuning_score says it."""
    gain = 1 - one.bits_per_character / other.bits_per_character
    expected = one.compression / other.compression * gain
    found = score(one, other, Weights(1, 1, 0))
    assert found == pytest.approx(expected, abs=1e-9)


def test_near_one_unit_nothing_explodes() -> None:
    assert more_bits(2.0, 1.0) == 1.0 and more_bits(2.0, 1.000001) == pytest.approx(1.0, abs=1e-5)
    assert more_bits(8.0, 4.0) == 0.5 and more_bits(1.0, 0.5) == 1.0
    with pytest.raises(ValueError, match="above 0"):
        Measured(1.0, math.nan, 1.0)
    with pytest.raises(ValueError, match="not all of them 0"):
        Weights(0, 0, 0)
    with pytest.raises(ValueError, match="at least 0"):
        Weights(1, -1, 1)


# --- Time ------------------------------------------------------------------------------------


def test_a_slow_machine_slows_trial_and_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = Reference(Path("tokenizer.json"), [Measured(4.0, 100.0, latency=40.0)])
    slow = itertools.count(1)  # the machine becomes slower all the time

    def milliseconds(peer: object, shard: list[str]) -> float:
        return (10.0 if peer == "trial" else 50.0) * (1 + next(slow) / 1e6)

    monkeypatch.setattr(tuning_measure, "_milliseconds", milliseconds)
    monkeypatch.setattr(tuning_measure, "open_any", lambda path: path)
    found = tuning_measure._latency("trial", ["text"], reference)  # type: ignore[arg-type]
    assert found == pytest.approx(40.0 / 5, rel=1e-4)
    first = tuning_measure._latency("other", ["text"], None)  # type: ignore[arg-type]
    assert first == pytest.approx(50.0, rel=1e-4)  # the fastest


# --- Studies ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    texts = [" ".join(prose(seed, 4)) for seed in range(300)]
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path


def command(corpus: Path, out: Path, trials: int, *more: str) -> list[str]:
    """A study of a few seconds: of plain BPE, which is learnt quickly, and without the clock, so
    that it can be repeated."""
    return [
        "tune", str(corpus), "--out", str(out), "--trials", str(trials), "--space",
        "vocab_size=400:640:80", "--space", "crossover=1.0", "--model-tokens", "2600", "--width",
        "16", "--threads", "1", "--weights", "1", "1", "0", "--device", "cpu", *more,
    ]  # fmt: skip


@pytest.mark.slow
def test_a_study_goes_on_and_can_be_repeated(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped, straight = tmp_path / "stopped", tmp_path / "straight"
    assert main(command(corpus, stopped, 2)) == 0
    said = capsys.readouterr()
    assert "trials" in said.err and "best" in said.err and "recipe.toml" in said.err
    assert f"{stopped / 'report.html'}: open it in a browser" in said.err
    study = open_study(stopped)
    study.ask()  # as a run leaves it that was killed
    assert main(command(corpus, stopped, 7)) == 0
    said = capsys.readouterr()
    assert main(command(corpus, straight, 7, "--quiet")) == 0
    assert capsys.readouterr().err == ""
    one, other = (finished(open_study(path)) for path in (stopped, straight))
    assert [(trial.values, trial.score, trial.pruned) for trial in one] == [
        (trial.values, trial.score, trial.pruned) for trial in other
    ]
    assert len(one) == 7
    _check_outcome(stopped, one, said.out)


def _check_outcome(folder: Path, trials: list[Trial], said: str) -> None:
    table = read(folder)
    assert said == table.markdown() and len(table.lines) == 7
    won = best(trials)
    assert table.lines[0][0] == str(won.number)
    pruned = [str(trial.number) for trial in trials if trial.pruned]
    assert sorted(table.lines[place][0] for place in table.aside) == sorted(pruned)
    for name in table.pictures:
        assert (folder / name).read_text(encoding="utf-8").startswith("<svg")
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert report.count("<img ") == len(table.pictures) > 0
    assert f"<bdi>{won.score:.4f}</bdi>" in report.partition("<table>")[0]  # it leads
    assert f"<bdi>vocab_size = {won.values['vocab_size']}</bdi>" in report
    assert "<code>crossover</code></th><td><strong>1</strong></td><td>parity</td>" in report
    recipe = Recipe.from_toml(folder / "recipe.toml")
    assert recipe == recipe_of("default", won.values)
    for trial in trials:
        kept = read_reference(folder, int(trial.values["vocab_size"])).rungs
        if not trial.pruned:
            assert trial.score == score(trial.measured, kept[-1], Weights(1, 1, 0))
    repeated = [trial for trial in trials if trial.same_as is not None]
    by_number = {trial.number: trial for trial in trials}
    for trial in repeated:
        first = by_number[trial.same_as or 0]
        assert (first.values, first.score) == (trial.values, trial.score)


@pytest.mark.slow
def test_jobs_share_a_study(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--jobs", "2", "--quiet", "--space", "vocab_size=400", "--space", "crossover=0.8"]
    assert main(command(corpus, tmp_path / "out", 3, *more)) == 0
    trials = finished(open_study(tmp_path / "out"))
    assert len(trials) == 3 and len({trial.number for trial in trials}) == 3
    # Both jobs wanted the reference, and one made it.
    assert len(list((tmp_path / "out" / "baselines").glob("*/made.json"))) == 1


def test_another_study_is_refused(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(command(corpus, out, 1, "--quiet")) == 0
    assert main(command(corpus, out, 1, "--seed", "1", "--width", "32")) == 1
    assert "holds a study with other width, seed; choose another" in capsys.readouterr().err
    with FileLock(out / "tune.lock"):
        assert main(command(corpus, out, 2)) == 1
    assert "another `supratok tune` is running here" in capsys.readouterr().err
    assert main(command(corpus, tmp_path / "new", 1, "--space", "screen.min_pm=1")) == 1
    assert "no such value" in capsys.readouterr().err
    assert main(command(corpus, tmp_path / "new", 1, "--device", "abacus")) == 1
    assert "device='abacus': say cpu, cuda or auto" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()  # the estimate found it, before any work
    assert main(command(corpus, tmp_path / "new", 1, "--device", "abacus", "--quiet")) == 1
    assert "device='abacus': say cpu, cuda or auto" in capsys.readouterr().err
    states = [trial.state.name for trial in open_study(tmp_path / "new").trials]
    assert states == ["FAIL"]
    assert main(command(corpus, tmp_path / "new", 0)) == 1
    assert "trials=0: must be at least 1" in capsys.readouterr().err


def test_a_study_says_how_long_it_takes(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = Setting([corpus], "default", PAPER, tokens=1000, trials=5)
    large = Setting([corpus], "default", PAPER, tokens=2_000_000, trials=100)
    assert estimate_trial(large, 1e6, 2, True) > 100 * estimate_trial(small, 1e6, 2, True)
    assert estimate_trial(large, 1e6, 2, False) < 60  # without the model
    assert (models(small), models(large)) == (10, 111)  # eleven sizes, each with a reference
    out = tmp_path / "out"
    assert main(command(corpus, out, 1)) == 0
    said = capsys.readouterr().err
    assert said.startswith("1 trial in all (--trials), earlier runs included; a trial takes about ")
    assert "within a factor of two" in said.splitlines()[0]


def test_what_is_learnt_from_and_what_is_measured_on(corpus: Path) -> None:
    setting = Setting([corpus], "default", PAPER, tokens=100)
    texts, other = read_texts(setting), read_texts(setting, measuring=True)
    assert not any(is_held_out(digest(text)) for text in texts.learnt)
    assert 0 < sum(len(text.encode()) for text in texts.learnt) <= 1200
    assert all(is_held_out(digest(text)) for text in texts.held_out + other.held_out)
    assert not any(is_for_measuring(digest(text)) for text in texts.held_out)
    assert not set(texts.held_out) & set(other.held_out)


@pytest.mark.slow
def test_pruned_trials_are_those_below_the_median(corpus: Path, tmp_path: Path) -> None:
    """By a slow plain twin of the rule, on what the study itself has kept."""
    assert main(command(corpus, tmp_path / "out", 14, "--quiet")) == 0
    states = optuna.trial.TrialState
    trials = open_study(tmp_path / "out").trials
    pruned = [trial for trial in trials if trial.state == states.PRUNED]
    assert pruned, "of so many trials some are poor"
    for trial in pruned:
        before = [one for one in trials[: trial.number] if one.state == states.COMPLETE]
        assert len(before) >= 5 and 2 not in trial.intermediate_values
        rung = max(trial.intermediate_values)
        others = [one.intermediate_values[rung] for one in before if one.intermediate_values]
        assert max(trial.intermediate_values.values()) < statistics.median(others)


def test_what_matters_is_told_once_there_are_enough_trials(tmp_path: Path) -> None:
    study = open_study(tmp_path)
    study.sampler = optuna.samplers.RandomSampler(seed=1)
    for number in range(30):
        assert bool(importances(tmp_path)) == (number >= 10)
        trial = study.ask()
        size = trial.suggest_int("vocab_size", 400, 800)
        trial.suggest_float("screen.min_pmi", 0, 6)
        trial.suggest_int("held.still", 1, 1)
        study.tell(trial, size)
    found = importances(tmp_path)
    assert set(found) == {"vocab_size", "screen.min_pmi"}
    assert found["vocab_size"] > 0.7 and sum(found.values()) == pytest.approx(1)


@pytest.mark.slow
def test_the_script(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from run_scripts import script

    given = ["--corpus", corpus, "--out", tmp_path, "--trials", "3", "--threads", "1", "--best",
             "1", "--model-tokens", "2600", "--width", "16", "--device", "cpu", "--seeds", "2",
             "--space", "vocab_size=400:640:80", "--space", "crossover=1.0"]  # fmt: skip
    for _ in range(2):  # the second time all is there
        script("tuning").main([str(one) for one in given])
        said = capsys.readouterr()
        study, repeats = read(tmp_path / "study"), read(tmp_path / "repeats")
        assert len(study.lines) == 3 and len(repeats.lines) == 2
        assert said.out == study.markdown() + "\n" + repeats.markdown()
        assert repeats.lines[0][0] == study.lines[0][0]  # the best
        assert repeats.lines[0][2] == study.lines[0][-3] and repeats.lines[0][4].count(",") == 1
    assert "seed" not in said.err  # nothing was measured again
