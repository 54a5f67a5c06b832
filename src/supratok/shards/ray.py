"""Groups of shards as tasks of a Ray cluster.

A group depends on its own file alone, and its bytes on nothing else. So a task whose machine dies
runs again elsewhere and goes on with the shards that are whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..common.progress import Progress
from ..readings.ray import RETRIES, start_ray
from ..readings.tally import absolute
from .encoding import Coding
from .folder import Folder
from .group import Group, write_group


def write_on_ray(
    groups: list[Group], coding: Coding, folder: Folder, progress: Progress, address: str | None
) -> Iterator[dict[str, Any]]:
    """The states of the groups, in their order."""
    start_ray(address)
    import ray

    shared, one = ray.put(replace(coding, threads=1)), Folder(folder.path.absolute())

    @ray.remote(num_cpus=1, max_retries=RETRIES)
    def written(group: Group, coding: Coding) -> dict[str, Any] | Exception:
        try:
            return write_group(group, coding, one)
        except (ValueError, OSError, MemoryError) as error:  # not one of Ray's: it is ours
            return error

    sizes = [sum(_size(one) for one in group.inputs) for group in groups]
    tasks = [written.remote(_from_anywhere(group), shared) for group in groups]
    waiting, states, done = list(tasks), dict[int, dict[str, Any]](), 0
    while waiting:
        (ended,), waiting = ray.wait(waiting, num_returns=1)
        number, state = tasks.index(ended), ray.get(ended)
        if isinstance(state, Exception):
            raise state
        states[number] = state
        done += sizes[number]
        progress.at(done)
    yield from (states[number] for number in range(len(groups)))


def _from_anywhere(group: Group) -> Group:
    return replace(group, inputs=[Path(absolute(str(one))) for one in group.inputs])


def _size(source: object) -> int:
    return source.stat().st_size if isinstance(source, Path) and source.exists() else 0
