"""Tuning (paper 3.5, Appendix B): Optuna looks for the recipe with the best score.

    setting = Setting([Path("corpus.jsonl.zst")], "default", read_space([]), trials=100)
    trials = tune(setting, Path("study"))
    best(trials).values

A trial trains a tokenizer, measures it (`tuning_measure`), and is scored against BPE-Standard of
its size (`tuning_score`). Its small model is asked several times on the way, and a trial that then
stands below the median of the others is given up; it stays in the study as such.

The study is a file of sqlite in the folder. Processes share it, and a study that was stopped goes
on where it was. With one job the same seed gives the same trials, stopped or not, as far as their
scores are the same: the clock has a part in them, unless its weight is 0.
"""

from __future__ import annotations

import multiprocessing
import signal
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np

from ...common.packages import package
from ...common.progress import Progress, make_progress
from ...formats.peer import open_any
from ...tokenizer import usable_threads
from ...train import train
from .measure import (
    Setting,
    Texts,
    alone,
    measure,
    read_texts,
    reference,
)
from .score import Measured, score
from .space import recipe_of
from .study import (
    Trial,
    best,
    finished,
    forget_unfinished,
    open_study,
    same_or_refuse,
    values_of,
)

_EVERY = 1.0  # seconds between two looks at the study


def tune(setting: Setting, folder: Path, progress: bool | Progress = False) -> list[Trial]:
    """Go on until there are `setting.trials` trials in the folder, and return all."""
    folder.mkdir(parents=True, exist_ok=True)
    busy = "another `supratok tune` is at work here; wait for it, or choose another folder"
    with alone(folder / "tune.lock", seconds=0.0, busy=busy):
        study = open_study(folder)
        same_or_refuse(study, setting, folder)
        forget_unfinished(study)
        with make_progress(progress) as shown:
            _until_enough(study, setting, folder, shown)
    return finished(study)


# --- Processes -------------------------------------------------------------------------------


def _until_enough(study: Any, setting: Setting, folder: Path, progress: Progress) -> None:
    """Work, or let others work, until there are enough trials, and tell how it goes."""
    before = len(finished(study))
    if before >= setting.trials:
        return
    progress.start("trials", total=setting.trials - before, unit="trials")

    def tell() -> None:
        trials = finished(study)
        progress.note(", ".join(f"{name} {value}" for name, value in _facts(trials).items()))
        progress.at(len(trials) - before)

    if setting.jobs == 1:
        _work(setting, folder, 0, tell)
    else:
        _in_processes(setting, folder, tell)
    progress.end(**_facts(finished(study)))


def _in_processes(setting: Setting, folder: Path, tell: Callable[[], None]) -> None:
    """An error in one ends all."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    jobs: list[BaseProcess] = [
        context.Process(target=_job, args=(there, setting, folder, number))
        for number in range(setting.jobs)
    ]
    for job in jobs:
        job.start()
    there.close()  # so that the end of the last job is the end of the pipe
    try:
        while any(job.is_alive() for job in jobs):
            connection.wait([job.sentinel for job in jobs if job.is_alive()], _EVERY)
            _raise_error(here)
            tell()
        _raise_error(here)
        _check_ended(jobs)
    finally:
        for job in jobs:
            job.terminate()
            job.join()


def _raise_error(pipe: connection.Connection) -> None:
    with suppress(EOFError):
        if pipe.poll():
            raise pipe.recv()


def _check_ended(jobs: list[BaseProcess]) -> None:
    for job in jobs:
        if job.exitcode:
            raise ValueError(
                f"a job ended with code {job.exitcode}; -9 says that it was killed, most often for"
                " memory: use fewer --jobs or a smaller corpus. The finished trials are kept"
            )


def _facts(trials: list[Trial]) -> dict[str, str]:
    """The best so far, and how many were given up."""
    if all(trial.pruned for trial in trials):
        return {}
    found = best(trials)
    values = " ".join(f"{name}={value:g}" for name, value in found.values.items())
    pruned = sum(trial.pruned for trial in trials)
    return {"best": f"{found.score:.4f} ({values})", "given up": str(pruned)}


def _job(errors: connection.Connection, setting: Setting, folder: Path, number: int) -> None:
    """What a process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that began this one hears it
    try:
        _work(setting, folder, number)
    except Exception as error:
        errors.send(error)


def _work(
    setting: Setting, folder: Path, number: int, tell: Callable[[], None] | None = None
) -> None:
    """Trial after trial, until there are enough; `tell` is called after each."""
    from ..lm.validation import with_threads  # torch is wanted here for the first time

    threads = setting.threads or max(1, usable_threads(None) // setting.jobs)
    texts, study = read_texts(setting), open_study(folder)
    with with_threads(threads):
        while (trial := _next(study, setting, folder, number)) is not None:
            _Attempt(study, trial, texts, setting, folder, threads).run()
            if tell is not None:
                tell()


def _next(study: Any, setting: Setting, folder: Path, number: int) -> Any:
    """A new trial, or None if there are enough. What it will try depends on the seed, the job and
    the trials that are over: not on when the study was stopped."""
    optuna = package("optuna", "lm")
    states = optuna.trial.TrialState
    with alone(folder / "next.lock"):
        over = len(finished(study))
        running = len(study.get_trials(deepcopy=False, states=(states.RUNNING,)))
        if over + running >= setting.trials:
            return None
        (seed,) = np.random.SeedSequence([setting.seed, number, over]).generate_state(1)
        study.sampler = optuna.samplers.TPESampler(seed=int(seed))
        return study.ask()


@dataclass
class _Attempt:
    """One trial from its values to its score."""

    study: Any
    trial: Any
    texts: Texts
    setting: Setting
    folder: Path
    threads: int

    def run(self) -> None:
        optuna = package("optuna", "lm")
        states = optuna.trial.TrialState
        try:
            for name, found in self.setting.space.items():
                found.suggest(self.trial, name)
            value = self._known()
            self.study.tell(self.trial, self._measured() if value is None else value)
        except optuna.TrialPruned:
            self.study.tell(self.trial, state=states.PRUNED)
        except BaseException:
            self.study.tell(self.trial, state=states.FAIL)
            raise

    def _known(self) -> float | None:
        """The score of an earlier trial with the same values: it need not be found again."""
        values = values_of(self.trial)
        for other in finished(self.study):
            if other.values == values and not other.pruned:
                self._keep(other.measured, same_as=other.number)
                return other.score
        return None

    def _measured(self) -> float:
        values = values_of(self.trial)
        recipe = recipe_of(self.setting.preset, values)
        held = reference(recipe.vocab_size, self.texts, self.setting, self.folder)
        last = len(held.rungs) - 1

        def told(rung: int, now: Measured) -> None:
            self._keep(now)
            self.trial.report(score(now, held.rungs[rung], self.setting.weights), rung)
            if rung < last and self.trial.should_prune():
                raise package("optuna", "lm").TrialPruned

        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            path = Path(folder, "trial.json")
            train(self.setting.corpus, recipe, self.threads, progress=False).save(path)
            found = measure(open_any(path), self.texts, self.setting, told, held)
        return score(found, held.rungs[last], self.setting.weights)

    def _keep(self, found: Measured, **more: int) -> None:
        facts: Mapping[str, object] = {"measured": asdict(found), **more}
        for name, value in facts.items():
            self.trial.set_user_attr(name, value)
