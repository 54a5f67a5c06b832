"""The study on disk: its options and its trials.

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
_FIRST = 5  # trials before any is pruned


@dataclass(frozen=True)
class Trial:
    """A finished or pruned trial; `measured` and `score` are those of its last rung."""

    number: int
    values: dict[str, Value]
    measured: Measured
    score: float
    pruned: bool
    seconds: float
    same_as: int | None = None  # an earlier trial with the same values and therefore these figures


def best(trials: list[Trial]) -> Trial:
    """The trial with the highest score among those not pruned."""
    whole = [trial for trial in trials if not trial.pruned]
    if not whole:
        raise ValueError("no trial is finished; raise --trials")
    return max(whole, key=lambda trial: (trial.score, -trial.number))


def open_study(folder: Path) -> Any:
    """Open the study of a folder, or create it."""
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
    """The finished and pruned trials, in the order in which they began."""
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
    """The values as a person would write them: steps of 0.1 leave rounding errors."""
    return {
        name: round(value, 10) if isinstance(value, float) else value
        for name, value in trial.params.items()
    }


def same_or_refuse(study: Any, setting: Setting, folder: Path) -> None:
    """Refuse to resume a study with other options."""
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
    """Mark the trials that an interrupted run has left unfinished as failed."""
    states = package("optuna", "lm").trial.TrialState
    for trial in study.get_trials(deepcopy=False, states=(states.RUNNING,)):
        study.tell(trial.number, state=states.FAIL)
