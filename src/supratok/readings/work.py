"""The folder in which a run keeps what it has finished, so that the same command can go on.

    work/run.json               what the run is: recipe, corpus, options
    work/documents.blocks       the documents read so far, as numbers of words
    work/first.counts           how far the first reading is, and its totals
    work/runs-1f2e3d4c.counts   a finished reading, named by all that decides it

Every file appears whole or not at all, and only one process at a time uses the folder.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..common.files import write_whole
from ..common.locks import FolderLock
from ..corpus.split import Split
from ..counts import About, CountsFile, Member, read_counts, write_counts
from .first import FirstReading
from .plans import fingerprint
from .reading import Reading

_RUN, _FIRST = "run.json", "first.counts"
# What a run writes; ".part" ends the name of a file that came to no end.
_OURS = re.compile(r"run\.json|first\.counts|\w+-[0-9a-f]{16}\.counts|.*\.blocks|\..*\.part")


class WorkError(ValueError):
    """The folder belongs to another run, or to another program."""


class Work(contextlib.AbstractContextManager["Work"]):
    """The work folder of one run. `run` says all that decides the result; a folder with another
    one is refused."""

    def __init__(self, folder: Path, run: Mapping[str, Any]) -> None:
        self.folder, self._run = folder, json.loads(json.dumps(run))
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = FolderLock(folder)
        try:
            self._claim()
        except BaseException:
            self._lock.release()
            raise

    def _claim(self) -> None:
        path = self.folder / _RUN
        if not path.exists():
            names = {path.name for path in self.folder.iterdir()} - {self._lock.path.name}
            if others := sorted(name for name in names if not name.startswith(f".{_RUN}.")):
                raise WorkError(
                    f"{self.folder}: not a work folder of supratok (it holds {others[0]});"
                    " choose an empty or a new one"
                )
            write_whole(path, json.dumps(self._run, indent=1))
            return
        try:
            before = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            raise WorkError(f"{path}: not JSON; remove the folder to start again") from None
        if changed := list(_differences(before, self._run)):
            raise WorkError(
                f"{self.folder} keeps the work of another run: {'; '.join(changed[:3])}."
                " Give the same corpus and recipe to go on, or remove the folder to start again"
            )

    # --- The first reading ---------------------------------------------------------------------

    def first(self) -> CountsFile | None:
        """How far the first reading came; None if it did not begin."""
        path = self.folder / _FIRST
        return read_counts(path) if path.exists() else None

    def save_first(self, first: FirstReading, split: Split, documents_size: int) -> None:
        """Note how far the first reading is. Its words are counted again from the documents."""
        facts = {
            "ended": split.ended,
            "reached": {str(part): line for part, line in split.reached.items()},
            "documents_size": documents_size,
        }
        about = first.about({"run": str(self.folder)}, facts)
        write_counts(self.folder / _FIRST, about, first.samples() | first.language_rows())

    # --- Later readings ------------------------------------------------------------------------

    def about(self, reading: Reading[Any]) -> About:
        """What names the file of a reading, finished or not."""
        return About(reading.phase, fingerprint(reading), {"run": str(self.folder)})

    def _path(self, about: About) -> Path:
        return self.folder / f"{about.kind}-{about.fingerprint[:16]}.counts"

    def finished(self, about: About) -> CountsFile | None:
        path = self._path(about)
        return read_counts(path) if path.exists() else None

    def save(self, about: About, members: Mapping[str, Member]) -> None:
        write_counts(self._path(about), about, members)

    # --- The end -------------------------------------------------------------------------------

    def close(self) -> None:
        self._lock.release()

    def clear(self) -> None:
        """Remove the folder: its work is done. What others put there stays."""
        for path in self.folder.iterdir():
            if _OURS.fullmatch(path.name):
                path.unlink()
        self._lock.release()
        with contextlib.suppress(OSError):  # it is not empty
            self.folder.rmdir()

    def __exit__(self, *_: object) -> None:
        self.close()


def _differences(before: Any, now: Any, name: str = "") -> Iterator[str]:
    """What changed, in words: "recipe.vocab_size was 8000 and is 9000"."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted(before.keys() | now.keys()):
            inner = f"{name}.{key}" if name else key
            yield from _differences(before.get(key), now.get(key), inner)
    elif before != now:
        yield f"{name} was {_short(before)} and is {_short(now)}"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
