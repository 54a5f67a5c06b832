"""Readings on the machines of a Ray cluster.

A task counts a part of the text (a file, or some small ones) and returns a counts file; other tasks
merge such files; this process learns from the sums. A task whose machine dies runs again elsewhere.
The sums stay the same, since every part counts once, whoever counts it.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ..common.packages import install_hint, is_installed
from ..common.progress import Progress
from ..corpus.curate import curator_of
from ..counts import merge_counts, read_counts
from ..recipe import Recipe
from .first import FirstReading
from .local import Keeping
from .plans import SplitRule, pack, unpack
from .reading import Reading, Room, Table
from .tally import Part, tally, tally_words
from .text import TrainingText, Words

if TYPE_CHECKING:
    from ray import ObjectRef

    # By the error of a task, or None: its file, and how many bytes of text it counts.
    _Tasks = dict[ObjectRef[Exception | None], tuple[ObjectRef[bytes], int]]

_MERGED = 8  # counts files that one task merges
RETRIES = 20  # of a task whose machine dies


class RayText(TrainingText):
    """The text of these parts, counted by the tasks of a cluster."""

    def __init__(
        self,
        parts: Sequence[tuple[Part, int]],
        progress: Progress,
        *,
        task_threads: int = 1,
        keeping: Keeping | None = None,
        room: Room | None = None,
    ) -> None:
        super().__init__()
        self._parts, self._progress = parts, progress
        self._threads, self._keeping = task_threads, keeping or Keeping(reread=True)
        self._room = room or Room()

    def words(self, recipe: Recipe) -> Words:
        part = self._parts[0][0]
        first = FirstReading(recipe, curator_of(part.curation), self._room, part.hold_out)
        values, threads, keeping = recipe.to_dict(), self._threads, self._keeping

        def count(part: Part, out: Path) -> None:
            tally_words(part, Recipe.from_dict(values), out, threads, Progress(), keeping)

        self._over_parts("words", count, first.add)
        first.check()
        self.share(first)
        self._progress.end(words=len(first.table), documents=self.totals.documents)
        return first.table, first.by_language

    def read(self, reading: Reading[Table]) -> Table:
        import ray

        part = self._parts[0][0]
        plan = ray.put(pack(reading, SplitRule(part.curation, part.hold_out)))
        threads, keeping = self._threads, self._keeping

        def count(part: Part, out: Path) -> None:
            tally(part, unpack(ray.get(plan))[0], out, threads, Progress(), keeping)

        table = reading.table(self._room)
        self._over_parts(reading.phase, count, lambda file: reading.add(table, file))
        self._progress.end(**reading.facts(table))
        return table

    def _over_parts(
        self,
        phase: str,
        count: Callable[[Part, Path], None],
        add: Callable[[Any], None],
    ) -> None:
        """Count every part, merge the counts, and add the sum."""
        import ray

        @ray.remote(num_cpus=self._threads, num_returns=2, max_retries=RETRIES)
        def counted(part: Part) -> tuple[Exception | None, bytes]:
            with tempfile.TemporaryDirectory(prefix="supratok-") as folder:
                try:
                    count(part, out := Path(folder, "part.counts"))
                except (ValueError, OSError, MemoryError) as error:  # not one of Ray's: it is ours
                    return error, b""
                return None, out.read_bytes()

        task: Any = counted  # typed with one result

        self._progress.start(phase, sum(size for _, size in self._parts), "B")
        # The largest first: none of them is then left to the end.
        order = sorted(self._parts, key=lambda one: -one[1])
        tasks: _Tasks = {}
        for part, size in order:
            end, file = task.remote(part)
            tasks[end] = file, size
        files = self._merged(tasks)
        with tempfile.TemporaryDirectory(prefix="supratok-") as folder:
            for number, file in enumerate(files):
                path = Path(folder, f"{number}.counts")
                path.write_bytes(_result(file))
                add(read_counts(path))

    def _merged(self, tasks: _Tasks) -> list[ObjectRef[bytes]]:
        """One file, or a few, of all: merges those that are there while others are counted."""
        import ray

        @ray.remote(num_cpus=1, num_returns=2, max_retries=RETRIES)
        def merged(*files: bytes) -> tuple[None, bytes]:
            with tempfile.TemporaryDirectory(prefix="supratok-") as folder:
                paths = [Path(folder, f"{number}.counts") for number in range(len(files))]
                for path, data in zip(paths, files, strict=True):
                    path.write_bytes(data)
                merge_counts(paths, out := Path(folder, "sum.counts"))
                return None, out.read_bytes()

        task: Any = merged
        waiting, ready, done = list(tasks), list[Any](), 0
        while waiting:
            (finished,), waiting = ray.wait(waiting, num_returns=1)
            if (error := _result(finished)) is not None:
                raise error
            file, size = tasks.pop(finished)
            done += size
            self._progress.at(done)
            ready.append(file)
            if len(ready) == _MERGED:
                end, file = task.remote(*ready)
                tasks[end] = file, 0
                waiting.append(end)
                ready = []
        return ready

    def again(self, phase: str) -> NoReturn:
        raise AssertionError(phase)  # refused at the start


def start_ray(address: str | None) -> None:
    """Connect to the cluster, or start one on this machine."""
    if not is_installed("ray"):
        raise ValueError(f"engine='ray' needs the package 'ray': {install_hint('ray', 'ray')}")
    import ray

    if not ray.is_initialized():
        try:
            ray.init(
                address=address,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        except (ConnectionError, RuntimeError) as error:
            raise ValueError(
                f"address={address!r}: no Ray cluster answers there ({_first_line(error)}); start"
                " one with `ray start --head`, or leave the address out"
            ) from error


def _result(reference: ObjectRef[Any]) -> Any:
    """What a task returns."""
    import ray

    try:
        return ray.get(reference)
    except ray.exceptions.RayError as error:
        raise ValueError(f"Ray could not count ({_first_line(error)})") from error


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
