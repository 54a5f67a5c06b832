"""The folder of a run: whose it is, who may write to it, and what belongs there.

manifest.json    what the folder holds; it appears when all shards are there
.plan.json       until then: the plan of the run
.NAME.json       until then: the finished shards of a group, and where they begin
.lock            while a process writes
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..common.files import refuse_unwritable, write_whole
from ..common.locks import FolderLock
from ..common.shapes import check_shape
from .formats import FORMATS
from .plan import FORMAT, PLAN, VERSION, changes

MANIFEST, _PLAN, _LOCK = "manifest.json", ".plan.json", ".lock"

_FILE = {"file": str, "bytes": int, "sha256": str}
SHARD = {"files": [_FILE], "documents": int, "tokens": int, "begins": (int, int)}
_WHOLE = PLAN | {
    "documents": int,
    "tokens": int,
    "bytes": int,
    "skipped": {str: int},
    "shards": [SHARD],
}

_AGAIN = (
    "choose another folder, or pass --restart / restart=True, which removes its shards and begins"
    " again"
)


class Folder:
    """The folder to write shards to."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    # --- Before the work

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder, and keep other processes out."""
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"{self.path}: a file, and shards are written to a folder")
        there = next(p for p in (self.path, *self.path.absolute().parents) if p.exists())
        refuse_unwritable(there / "any", str(self.path))
        self.path.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(self.path)
        try:
            yield
        finally:
            lock.release()

    def begin(self, plan: dict[str, Any], restart: bool) -> dict[str, Any] | None:
        """Make the folder that of this plan. Returns the manifest if everything is there already;
        refuses a folder with other files, or with shards of another plan."""
        held = self._read(MANIFEST, _WHOLE) or self._read(_PLAN, PLAN)
        if held is None:
            self._refuse_others()
            write_whole(self / _PLAN, _json(plan))
            return None
        if restart or not (MANIFEST in self._names() or self._names(_shards(held))):
            # At each moment a manifest or a plan says whose folder this is.
            write_whole(self / _PLAN, _json({name: held[name] for name in plan}))
            self._remove(_halves(held), _states(held), _shards(held), re.escape(MANIFEST))
            write_whole(self / _PLAN, _json(plan))
            return None
        if differences := changes(held, plan):
            raise ValueError(
                f"{self.path}: holds shards of another run: {'; '.join(differences)}. Run the same"
                f" command as before, {_AGAIN}"
            )
        if "shards" in held:
            self.finish(held)
            self.refuse_damaged(held)
            return held
        self._remove(_halves(held))
        return None

    def _refuse_others(self) -> None:
        self._remove(_HALF.format(re.escape(_PLAN)))
        if others := set(self._names()) - {_LOCK}:
            raise ValueError(
                f"{self.path}: holds other files ({min(others)}); name a new or an empty folder"
            )

    def _names(self, pattern: str = ".*") -> list[str]:
        """Of the files in the folder."""
        return [path.name for path in self.path.iterdir() if re.fullmatch(pattern, path.name)]

    def _remove(self, *patterns: str) -> None:
        for name in self._names("|".join(patterns)):
            (self / name).unlink()

    # --- Files in it

    def manifest(self) -> dict[str, Any]:
        """Of a folder whose shards are all there."""
        held = self._read(MANIFEST, _WHOLE)
        if held is None and self._read(_PLAN, PLAN):
            raise ValueError(f"{self.path}: not finished; run the command that began it again")
        if held is None:
            raise ValueError(f"{self.path}: no folder of shards, since it has no {MANIFEST}")
        return held

    def finish(self, manifest: dict[str, Any]) -> None:
        """Write the manifest, if it is not there, and remove what only an unfinished run needs."""
        if not (self / MANIFEST).exists():
            write_whole(self / MANIFEST, _json(manifest))
        self._remove(_halves(manifest), _states(manifest), re.escape(_PLAN))

    def read_state(self, group: str) -> dict[str, Any]:
        """What is done of a group: its finished shards, the skipped records by input, and where the
        next shard begins: None if there is none."""
        shape = {"shards": [SHARD], "skipped": {str: {str: int}}, "next?": (int, int)}
        found = self._read(f".{group}.json", shape)
        return {"shards": [], "skipped": {}, "next": (0, 0)} if found is None else found

    def write_state(self, group: str, state: dict[str, Any]) -> None:
        write_whole(self / f".{group}.json", _json(state))

    def is_intact(self, shard: dict[str, Any]) -> bool:
        """Whether the files of a shard are there, in their sizes."""
        return all(self._size(file["file"]) == file["bytes"] for file in shard["files"])

    def refuse_damaged(self, manifest: dict[str, Any]) -> None:
        for shard in manifest["shards"]:
            for file in shard["files"]:
                size = self._size(file["file"])
                if size != file["bytes"]:
                    found = "is missing" if size is None else f"has {size:,} bytes"
                    raise ValueError(
                        f"{self / file['file']}: {found}, where the manifest says"
                        f" {file['bytes']:,} bytes; {_AGAIN}"
                    )

    def _size(self, name: str) -> int | None:
        with contextlib.suppress(OSError):
            return (self / name).stat().st_size
        return None

    def _read(self, name: str, shape: dict[str, Any]) -> dict[str, Any] | None:
        """A file of our own; None if it is not there."""
        try:
            text = (self / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            value = json.loads(text)
            check_shape(value, shape)
            if "format" in shape and value["format"] != FORMAT:
                raise ValueError(f"its format is {value['format']!r:.40}")
            if value.get("output_format", "numpy") not in FORMATS:
                raise ValueError(f"its output_format is {value['output_format']!r:.40}")
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"{self / name}: not written by supratok tokenize, or damaged ({error}); choose"
                " another folder, or remove this one"
            ) from error
        if "format" in shape and value["version"] != VERSION:
            raise ValueError(
                f"{self / name}: version {value['version']!r:.20}, and this supratok reads"
                f" {VERSION}; install the supratok that wrote it, or a later one"
            )
        found: dict[str, Any] = value
        return found


# --- The names of files, as patterns -----------------------------------------------------------

_HALF = r"\.{}.*\.[0-9a-f]{{16}}\.part"  # what `whole_file` writes to; a killed process leaves it


def _halves(held: dict[str, Any]) -> str:
    groups = (name for group in held["groups"] for name in (f"{group}-", f".{group}.json"))
    starts = (re.escape(name[:50]) for name in (*groups, _PLAN, MANIFEST))
    return _HALF.format(f"({'|'.join(starts)})")


def _states(held: dict[str, Any]) -> str:
    return rf"\.({'|'.join(map(re.escape, held['groups']))})\.json"


def _shards(held: dict[str, Any]) -> str:
    groups = "|".join(map(re.escape, held["groups"]))
    suffixes = "|".join(map(re.escape, FORMATS[held["output_format"]].suffixes))
    return rf"({groups})-\d{{5,}}({suffixes})"


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
