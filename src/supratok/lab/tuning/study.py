"""The study on disk: what it was begun as, and the trials that are over.

study = open_study(Path("study"))
best(finished(study)).values
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import supratok

from ...common.packages import package
from ..baselines.catalogue import Documents
from ..measure.rows import code
from .measure import Setting
from .score import Measured
from .space import Value

STORAGE = "study.db"
_NAME = "supratok"
_FIRST = 5  # trials that none is measured against


@dataclass(frozen=True)
class Trial:
    """A trial that is over. Of one that was given up, `measured` and `score` are as of then."""

    number: int
    values: dict[str, Value]
    measured: Measured
    score: float
    pruned: bool
    seconds: float
    same_as: int | None = None  # an earlier trial with the same values, whose figures these are


def best(trials: list[Trial]) -> Trial:
    """The trial with the highest score, of those that were not given up."""
    whole = [trial for trial in trials if not trial.pruned]
    if not whole:
        raise ValueError("no trial is finished; ask for more --trials")
    return max(whole, key=lambda trial: (trial.score, -trial.number))


def open_study(folder: Path) -> Any:
    """The study of a folder, made unless it is there."""
    optuna = package("optuna", "lm")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    patient = {"connect_args": {"timeout": 100}}  # while another process writes
    url = f"sqlite:///{(folder / STORAGE).resolve().as_posix()}"
    return optuna.create_study(
        storage=optuna.storages.RDBStorage(url, engine_kwargs=patient),
        study_name=_NAME,
        direction="maximize",
        pruner=optuna.pruners.MedianPruner(n_startup_trials=_FIRST),
        load_if_exists=True,
    )


def finished(study: Any) -> list[Trial]:
    """The trials that are over, in the order in which they began."""
    states = package("optuna", "lm").trial.TrialState
    over = study.get_trials(deepcopy=False, states=(states.COMPLETE, states.PRUNED))
    return [
        Trial(
            number=trial.number,
            values=values_of(trial),
            measured=Measured(**trial.user_attrs["measured"]),
            score=trial.value,
            pruned=trial.state == states.PRUNED,
            seconds=trial.duration.total_seconds(),
            same_as=trial.user_attrs.get("same_as"),
        )
        for trial in over
    ]


def values_of(trial: Any) -> dict[str, Value]:
    """As a person would write them: steps of 0.1 leave dust behind the tenth digit."""
    return {
        name: round(value, 10) if isinstance(value, float) else value
        for name, value in trial.params.items()
    }


def same_or_refuse(study: Any, setting: Setting, folder: Path) -> None:
    """A study goes on only as what it was begun as."""
    asked = {
        "corpus": Documents(setting.corpus).facts,
        "preset": setting.preset,
        "space": {name: str(found) for name, found in setting.space.items()},
        "weights": asdict(setting.weights),
        "model-tokens": setting.tokens,
        "width": setting.width,
        "seed": setting.seed,
        "program": [supratok.__version__, code()],
    }
    before = study.user_attrs.get("asked", asked)
    if other := [name for name in asked if asked[name] != before.get(name)]:
        raise ValueError(
            f"{folder}: holds a study with other {', '.join(other)}; choose another folder, or"
            " remove this one"
        )
    study.set_user_attr("asked", asked)


def forget_unfinished(study: Any) -> None:
    """What a run that was stopped has left half done counts for nothing."""
    states = package("optuna", "lm").trial.TrialState
    for trial in study.get_trials(deepcopy=False, states=(states.RUNNING,)):
        study.tell(trial.number, state=states.FAIL)
