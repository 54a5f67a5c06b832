"""One group of shards: some inputs become NAME-00000.bin, NAME-00001.bin and so on.

A group depends on its own inputs alone, so that any process on any machine may write it, and a
process that is killed is continued by the next one. A shard appears whole; then the state of the
group, which says where the next one begins.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from ..common.files import whole_file
from ..corpus import Source
from .ahead import behind
from .encoding import Batch, Coding, Lines, Pieces, Place, Skipped, read
from .folder import Folder
from .formats import Writer


@dataclass(frozen=True)
class Group:
    name: str
    inputs: Sequence[Source]
    reading: dict[str, Any]  # the options of open_corpus
    writer: type[Writer]
    dtype: str
    shard_tokens: int


def write_group(
    group: Group, coding: Coding, folder: Folder, at: Callable[[int], None] = lambda done: None
) -> dict[str, Any]:
    """Write the shards of a group that are not there yet. Returns its state: "shards" are the rows
    of the manifest, "skipped" are counts by input. `at` gets the bytes read so far."""
    state = folder.read_state(group.name)
    shards = list(itertools.takewhile(folder.is_intact, state["shards"]))
    if len(shards) < len(state["shards"]):
        state["next"] = state["shards"][len(shards)]["begins"]
    if state["next"] is None:
        return state
    start, skipped = Place(*state["next"]), Skipped()
    state["skipped"] = {n: some for n, some in state["skipped"].items() if int(n) < start.input}
    state["shards"] = shards

    def note(place: Place | None) -> None:
        """The next shard begins at this place. Of an input that is not read to its end, the next
        process counts the skipped records again."""
        known = list(skipped.items())  # the reading thread adds to it
        ended = {
            str(number): dict(sorted(sum(counts, Counter()).items()))
            for number, counts in known
            if any(counts) and (place is None or number < place.input)
        }
        state.update(skipped=state["skipped"] | ended, next=place and list(place))
        folder.write_state(group.name, state)

    def write(batches: Iterator[Batch | Lines]) -> None:
        with contextlib.closing(Pieces(batches, coding)) as pieces:
            while pieces:
                shards.append(_write_shard(group, len(shards), pieces, folder))
                note(pieces.place if pieces else None)
            if state["next"] is not None:  # no document was left
                note(None)

    behind(read(group.inputs, start, group.reading, skipped, at), write)
    return state


def _write_shard(group: Group, number: int, pieces: Pieces, folder: Folder) -> dict[str, Any]:
    """Fill one shard: with at least a document, and with no more ids than fit unless that document
    alone has more."""
    documents = tokens = 0
    begins = pieces.place
    with contextlib.ExitStack() as stack:
        files: list[_Hashed] = []
        for suffix in reversed(group.writer.suffixes):  # so that the first is renamed first
            name = f"{group.name}-{number:05}{suffix}"
            files.insert(0, _Hashed(stack.enter_context(whole_file(folder / name)), name))
        writer = group.writer(cast("list[BinaryIO]", files), group.dtype)
        while pieces:
            ids, lengths = pieces.take(group.shard_tokens - tokens, 0 if documents else 1)
            if not len(lengths):
                break
            writer.add(ids, lengths)
            documents += len(lengths)
            tokens += len(ids)
        writer.finish()
    rows = [file.row() for file in files]
    return {"files": rows, "documents": documents, "tokens": tokens, "begins": list(begins)}


class _Hashed:
    """A file to write to that knows its size and its checksum."""

    closed = False

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file, self._name = file, name
        self._size, self._sha = 0, hashlib.sha256()

    def write(self, data: bytes | memoryview) -> int:
        self._file.write(data)
        self._sha.update(data)
        size = memoryview(data).nbytes
        self._size += size
        return size

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        pass

    def row(self) -> dict[str, Any]:
        return {"file": self._name, "bytes": self._size, "sha256": self._sha.hexdigest()}
