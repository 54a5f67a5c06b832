"""Check a folder of shards against its manifest."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from ..common.progress import Progress, make_progress
from .folder import Folder

_BLOCK = 1 << 20


def check(folder: str | os.PathLike[str], progress: bool | Progress = True) -> dict[str, Any]:
    """The manifest of a folder, if every file has the size and the checksum that it says; a
    ValueError that names the file if not."""
    place = Folder(Path(folder))
    manifest = place.manifest()
    place.refuse_damaged(manifest)
    done = 0
    with make_progress(progress) as shown:
        shown.start("checking", manifest["bytes"], "B")
        for file in (file for shard in manifest["shards"] for file in shard["files"]):
            sha = hashlib.sha256()
            with open(place / file["file"], "rb") as data:
                while block := data.read(_BLOCK):
                    sha.update(block)
                    done += len(block)
                    shown.at(done)
            if sha.hexdigest() != file["sha256"]:
                raise ValueError(
                    f"{place / file['file']}: damaged, since its content does not fit the checksum"
                    " in the manifest; write the shards again with --restart / restart=True"
                )
        shown.end(shards=len(manifest["shards"]))
    return manifest
