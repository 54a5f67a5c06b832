"""Tuning (paper 3.5, Appendix B): Optuna looks for the recipe with the best score.

    setting = Setting([Path("corpus.jsonl.zst")], "default", read_space([]), trials=100)
    trials = tune(setting, Path("study"))
    best(trials).values

A trial trains a tokenizer, measures it (`measure`), and scores it against BPE-Standard of its size
(`score`). At several rungs of its small model's training the trial reports a score; Optuna prunes a
trial below the median of the others, and keeps it in the study as pruned.

The study is an sqlite file in the folder. Processes share it, and an interrupted study resumes.
With one job the same seed gives the same trials, interrupted or not, if the scores are the same:
time enters them, unless the weight of latency is 0.
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

_EVERY = 1.0  # seconds between two readings of the study


def tune(setting: Setting, folder: Path, progress: bool | Progress = False) -> list[Trial]:
    """Run trials until the folder has `setting.trials` of them, and return all."""
    folder.mkdir(parents=True, exist_ok=True)
    filelock = package("filelock", "lm")
    try:
        with filelock.FileLock(folder / "tune.lock", timeout=0), make_progress(progress) as shown:
            study = open_study(folder)
            same_or_refuse(study, setting, folder)
            forget_unfinished(study)
            _until_enough(study, setting, folder, shown)
    except filelock.Timeout as error:
        raise ValueError(
            f"{folder}: another `supratok tune` is running here; wait for it, or choose another"
            " folder"
        ) from error
    return finished(study)


# --- Processes -------------------------------------------------------------------------------


def _until_enough(study: Any, setting: Setting, folder: Path, progress: Progress) -> None:
    """Run the missing trials here or in other processes, and show the progress."""
    before = len(finished(study))
    if before >= setting.trials:
        return
    progress.start("trials", total=setting.trials - before, unit="trials")

    def show() -> None:
        trials = finished(study)
        progress.note(", ".join(f"{name} {value}" for name, value in _facts(trials).items()))
        progress.at(len(trials) - before)

    if setting.jobs == 1:
        _work(setting, folder, 0, show)
    else:
        _in_processes(setting, folder, show)
    progress.end(**_facts(finished(study)))


def _in_processes(setting: Setting, folder: Path, show: Callable[[], None]) -> None:
    """Run the jobs; an error in one ends all."""
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
            show()
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
                f"a job ended with code {job.exitcode}; -9 means killed, most often for lack of"
                " memory: use fewer --jobs or a smaller corpus. The finished trials are kept"
            )


def _facts(trials: list[Trial]) -> dict[str, str]:
    """The best trial so far, and the number of pruned ones."""
    if all(trial.pruned for trial in trials):
        return {}
    found = best(trials)
    values = " ".join(f"{name}={value:g}" for name, value in found.values.items())
    pruned = sum(trial.pruned for trial in trials)
    return {"best": f"{found.score:.4f} ({values})", "pruned": str(pruned)}


def _job(errors: connection.Connection, setting: Setting, folder: Path, number: int) -> None:
    """Work in a process of its own, and send an error to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it
    try:
        _work(setting, folder, number)
    except Exception as error:
        errors.send(error)


def _work(
    setting: Setting, folder: Path, number: int, show: Callable[[], None] | None = None
) -> None:
    """Run trial after trial until there are enough; call `show` after each."""
    from ..lm.validation import with_threads  # imports torch

    threads = setting.threads or max(1, usable_threads(None) // setting.jobs)
    texts, study = read_texts(setting), open_study(folder)
    with with_threads(threads):
        while (trial := _next(study, setting, folder, number)) is not None:
            _Attempt(study, trial, texts, setting, folder, threads).run()
            if show is not None:
                show()


def _next(study: Any, setting: Setting, folder: Path, number: int) -> Any:
    """A new trial, or None if there are enough. Its values depend on the seed, the job and the
    finished trials, not on interruptions."""
    optuna = package("optuna", "lm")
    states = optuna.trial.TrialState
    with package("filelock", "lm").FileLock(folder / "next.lock"):
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
        """The score of an earlier trial with the same values, if there is one."""
        values = values_of(self.trial)
        for other in finished(self.study):
            if other.values == values and not other.pruned:
                self._keep(other.measured, same_as=other.number)
                return other.score
        return None

    def _measured(self) -> float:
        values = values_of(self.trial)
        recipe = recipe_of(self.setting.preset, values)
        against = reference(recipe.vocab_size, self.texts, self.setting, self.folder)
        last = len(against.rungs) - 1

        def report(rung: int, now: Measured) -> None:
            self._keep(now)
            self.trial.report(score(now, against.rungs[rung], self.setting.weights), rung)
            if rung < last and self.trial.should_prune():
                raise package("optuna", "lm").TrialPruned

        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            path = Path(folder, "trial.json")
            train(self.setting.corpus, recipe, self.threads, progress=False).save(path)
            found = measure(open_any(path), self.texts, self.setting, report, against)
        return score(found, against.rungs[last], self.setting.weights)

    def _keep(self, found: Measured, **more: int) -> None:
        facts: Mapping[str, object] = {"measured": asdict(found), **more}
        for name, value in facts.items():
            self.trial.set_user_attr(name, value)
