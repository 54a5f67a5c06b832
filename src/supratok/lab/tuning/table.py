"""A study as a table with pictures, and its winner as a recipe file.

write_outcome(setting, trials, Path("study"))   # table.*, *.svg, recipe.toml, report.html
"""

from __future__ import annotations

import datetime
import itertools
import os
from pathlib import Path

from ...common.files import write_whole
from ...common.packages import package
from ...pages.look import INK
from ..measure.rows import cpu_model
from ..report.page import RECIPE, page, section
from ..report.pictures import bars
from ..report.style import add_legend, house_style, new_figure, styles, svg
from ..report.tables import NOTHING, Table
from .measure import REFERENCE, Setting, read_reference
from .score import Measured, terms
from .space import Value, recipe_of
from .study import Trial, best, open_study

WINNER, REPORT = RECIPE, "report.html"
_ENOUGH = 10  # trials to compute importances from


def write_outcome(setting: Setting, trials: list[Trial], folder: Path) -> Table:
    """Write the table, the pictures, the winner and a page of all beside the study."""
    importance = importances(folder)
    pictures = {"history.svg": history(trials)}
    if importance:
        pictures["importance.svg"] = bars(
            {name: {"importance": share} for name, share in importance.items()},
            title="Importance of each value for the score",
            form=".0%",
        )
    for name, picture in pictures.items():
        write_whole(folder / name, picture)
    table = tuning_table(setting, trials, folder, importance, list(pictures))
    table.write(folder)
    write_whole(folder / WINNER, winner(setting, best(trials)))
    write_whole(folder / REPORT, page([section(folder)]))
    return table


def winner(setting: Setting, trial: Trial) -> str:
    """The recipe of a trial as a file for `supratok train --recipe`."""
    corpus = ", ".join(path.name for path in setting.corpus)
    origin = f"# Trial {trial.number}, score {trial.score:.4f}, of `supratok tune` on {corpus}"
    return f"{origin}\n{recipe_of(setting.preset, trial.values).to_toml()}"


def importances(folder: Path) -> dict[str, float]:
    """The importance of each value for the score, as shares of 1; empty if there are few trials or
    only one value varies.

    By PED-ANOVA, which compares the values of the best tenth with those of all trials. It needs no
    further package, and does not tell the direction.
    """
    optuna = package("optuna", "lm")
    study = open_study(folder)
    states = optuna.trial.TrialState
    whole = study.get_trials(deepcopy=False, states=(states.COMPLETE,))
    names = {name for trial in whole for name in trial.params}
    varying = {name for name in names if len({trial.params[name] for trial in whole}) > 1}
    if len(whole) < _ENOUGH or len(varying) < 2:
        return {}
    evaluator = optuna.importance.PedAnovaImportanceEvaluator()
    found = optuna.importance.get_param_importances(study, evaluator=evaluator)
    return {name: float(share) for name, share in found.items() if name in varying}


# --- The table -------------------------------------------------------------------------------


def tuning_table(
    setting: Setting,
    trials: list[Trial],
    folder: Path,
    importance: dict[str, float],
    pictures: list[str],
) -> Table:
    """A line for each trial, the best first and the pruned ones last."""
    order = sorted(trials, key=lambda trial: (trial.pruned, -trial.score, trial.number))
    names = list(setting.space)
    head = ["trial", *names, "C/T", "perplexity", "bits/character", "encoding ms", "C_norm",
            "P_norm", "L_norm", "score", "s", ""]  # fmt: skip
    at = len(names) + 1
    found = best(trials)
    return Table(
        title=f"Tuning on {', '.join(path.name for path in setting.corpus)}",
        claim=f"The best of {len(trials)} trials scores {found.score:.4f} by Equation 4, against"
        f" {REFERENCE} of the same size ({_written(found.values)}).",
        head=head,
        lines=[_line(trial, names, folder) for trial in order],
        notes=[*_references(folder, trials), *_notes(setting, importance)],
        pictures=pictures,
        higher=[at + 7, at],  # the score leads
        lower=[at + 2, at + 3],
        aside=[place for place, trial in enumerate(order) if trial.pruned],
    )


def _line(trial: Trial, names: list[str], folder: Path) -> list[str]:
    reference = read_reference(folder, int(trial.values["vocab_size"])).rungs[-1]
    remark = "pruned" if trial.pruned else ""
    if trial.same_as is not None:
        remark = f"as trial {trial.same_as}"
    return [
        str(trial.number),
        *(_cell(trial.values[name]) for name in names),
        *_figures(trial.measured),
        *(NOTHING if trial.pruned else f"{term:+.4f}" for term in terms(trial.measured, reference)),
        f"{trial.score:.4f}",
        f"{trial.seconds:,.0f}",
        remark,
    ]


def _figures(found: Measured) -> list[str]:
    return [
        f"{found.compression:.3f}",
        f"{found.perplexity:,.1f}",
        f"{found.bits_per_character:.3f}",
        f"{found.latency:,.1f}",
    ]


def _cell(value: Value) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _written(values: dict[str, Value]) -> str:
    return ", ".join(f"{name} {_cell(value)}" for name, value in values.items())


def _references(folder: Path, trials: list[Trial]) -> list[str]:
    """The figures of BPE-Standard at each size of the trials."""
    notes = []
    for size in sorted({int(trial.values["vocab_size"]) for trial in trials}):
        found = read_reference(folder, size).rungs[-1]
        compression, perplexity, bits, latency = _figures(found)
        notes.append(
            f"{REFERENCE} at {size:,}: {compression} characters per token, perplexity {perplexity}"
            f" ({bits} bits per character), {latency} ms"
        )
    return notes


def _notes(setting: Setting, importance: dict[str, float]) -> list[str]:
    weights, space = setting.weights, setting.space
    shares = ", ".join(f"{name} {share:.0%}" for name, share in importance.items())
    return [
        f"importance by PED-ANOVA (the best tenth against all): {shares}"
        if shares
        else f"importance needs {_ENOUGH} finished trials and two values that vary",
        f"preset {setting.preset}; space "
        + ", ".join(f"{name}={found}" for name, found in space.items()),
        f"weights {weights.compression:g} {weights.perplexity:g} {weights.latency:g}; validation"
        f" model of 3 layers, width {setting.width}, {setting.tokens:,} tokens; seed"
        f" {setting.seed}; measured on the half of the held-out documents that decides",
        "pruned: below the median of the other trials at the same rung of the model's budget; the"
        " figures are those of that rung",
        f"supratok {package('supratok', 'lm').__version__}; machine {cpu_model()},"
        f" {os.cpu_count()} cores; date {datetime.datetime.now(datetime.UTC).date().isoformat()}",
    ]


# --- The picture -----------------------------------------------------------------------------


@house_style()
def history(trials: list[Trial]) -> str:
    """A marker for the score of each trial, hollow if it was pruned, and a line for the best score
    so far."""
    figure, axes = new_figure(320)
    drawn = []
    for name, style in styles(["finished", "pruned"], paper=["pruned"]).items():
        some = [trial for trial in trials if trial.pruned == (name == "pruned")]
        numbers, scores = [trial.number for trial in some], [trial.score for trial in some]
        drawn += axes.plot(numbers, scores, zorder=3, **{**style, "linestyle": "none"})
    whole = [trial for trial in trials if not trial.pruned]
    bests = itertools.accumulate((trial.score for trial in whole), max)
    drawn += axes.step([trial.number for trial in whole], list(bests), where="post", color=INK)
    axes.margins(0.05)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set(title="score", xlabel="trial")
    add_legend(figure, drawn, ["finished", "pruned", "best so far"])
    in_words = ", ".join(f"trial {trial.number}: {trial.score:.4f}" for trial in trials)
    return svg(figure, "Scores of the trials", in_words)
