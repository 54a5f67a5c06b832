"""Add counts files up, in a fixed amount of memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ..common import _core
from ..common.progress import Progress
from .about import About, merged_about
from .archive import Array, CountsFile, Member, add_array, read_counts, write_counts
from .sample import Sample, merged_sample

_AT_ONCE = 64  # files: a block of a megabyte of each is in memory


def merge_counts(
    paths: Sequence[Path], out: Path, progress: Progress | None = None, *, at_once: int = _AT_ONCE
) -> About:
    """Write the sum of counts files, as one would get it by counting all their sources at once.

    Raises a ValueError, before it writes, if the files differ in kind or were counted differently,
    or if two of them count the same source.
    """
    shown = progress or Progress()
    files = [read_counts(path) for path in paths]
    if not files:
        raise ValueError("no counts files to merge; name at least one")
    about = merged_about([(file.path, file.about) for file in files])
    for file in files[1:]:
        _refuse_other_members(files[0], file)
    shown.start("merge", sum(sum(file.sizes.values()) for file in files), "B")
    _merge(files, out, about, _Meter(shown), at_once)
    shown.end(files=len(files))
    return about


def _refuse_other_members(one: CountsFile, other: CountsFile) -> None:
    """A file may lack rows, which then are none; but not a sketch, whose bounds would be wrong."""
    here, there = ({name for name in f.sizes if not name.endswith(".rows")} for f in (one, other))
    if here != there:
        raise ValueError(
            f"{one.path} has {_listed(here)}, but {other.path} has {_listed(there)}, besides rows;"
            " count both in the same way"
        )


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"


class _Meter:
    """How many bytes were read."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._done = progress, 0

    def add(self, size: int) -> None:
        self._done += size
        self._progress.at(self._done)

    def blocks(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        for block in blocks:
            self.add(len(block))
            yield block


def _merge(files: list[CountsFile], out: Path, about: About, meter: _Meter, at_once: int) -> None:
    if len(files) <= at_once:
        names = {name for file in files for name in file.sizes}
        write_counts(out, about, {name: _merged(files, name, meter) for name in names})
        return
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name[:50]}.") as folder:
        parts = []
        for start in range(0, len(files), at_once):
            some = files[start : start + at_once]
            part = Path(folder, f"{start}.counts")
            _merge(some, part, merged_about([(f.path, f.about) for f in some]), meter, at_once)
            parts.append(read_counts(part))
        _merge(parts, out, about, _Meter(Progress()), at_once)


def _merged(files: list[CountsFile], name: str, meter: _Meter) -> Member:
    stem, _, kind = name.partition(".")
    if kind == "rows":
        holders = [file for file in files if name in file.sizes]
        return _core.merge_rows([meter.blocks(file.rows(stem)) for file in holders])
    if kind == "docs":
        return _sum_of_samples(files, stem, meter)
    return _sum_of_arrays(files, stem, meter)


def _sum_of_samples(files: list[CountsFile], stem: str, meter: _Meter) -> Sample:
    sample = merged_sample([file.streamed_sample(stem) for file in files])
    meter.add(sum(file.sizes[f"{stem}.docs"] for file in files))
    return sample


def _sum_of_arrays(files: list[CountsFile], stem: str, meter: _Meter) -> Array:
    total = files[0].array(stem)
    for file in files[1:]:
        more = file.array(stem)
        try:
            add_array(total, more)
        except ValueError as error:
            raise ValueError(f"{files[0].path} and {file.path}: {stem}: {error}") from error
        meter.add(more.nbytes)
    return total
