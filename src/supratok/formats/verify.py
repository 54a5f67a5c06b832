"""Does every runtime give the same ids, and every text come back?

    verification = verify("folder")
    verification.good

Text is encoded by our own encoder (or, in a folder without `supratok.json`, by the first runtime
that opens) and by every runtime that is installed; ids are compared, and texts with what decoding
gives. Texts that a format cannot hold, such as a literal U+2581 in SentencePiece, are counted and
left out.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from .hostile import hostile_texts
from .runtimes import Ours, Runtime, runtimes_for

_PORTION = 1000  # texts at a time
_EXAMPLES = 3  # that are kept of each runtime


@dataclass
class Checked:
    """What one runtime made of the texts."""

    runtime: str
    version: str
    texts: int = 0
    tokens: int = 0
    different: int = 0  # texts whose ids are not those of the first runtime
    lost: int = 0  # texts that decoding did not give back
    left_out: int = 0  # texts that its format cannot hold
    not_returned: int = 0  # texts of which it has the ids, but cannot print them
    seconds: float = 0.0  # for encoding
    examples: list[str] = field(default_factory=list)


@dataclass
class Verification:
    folder: str
    rows: list[Checked]
    missing: dict[str, str]  # runtimes that were not asked, and why

    @property
    def good(self) -> bool:
        return not any(row.different or row.lost for row in self.rows)

    def notes(self) -> list[str]:
        """What the figures do not say."""
        said = [f"{name} was not asked: {reason}" for name, reason in self.missing.items()]
        return said + [
            f"{row.runtime} has the ids of {row.not_returned:,} texts that it cannot print as they"
            " were (see docs/exports.md)"
            for row in self.rows
            if row.not_returned
        ]

    def problem(self) -> str:
        """What went wrong, in a line."""
        bad = [row for row in self.rows if row.different or row.lost]
        said = (
            f"{row.runtime} {row.version} encodes {row.different:,} of {row.texts:,} texts"
            f" differently and loses {row.lost:,}, such as {', '.join(row.examples)}"
            for row in bad
        )
        return "; ".join(said)


def verify(
    folder: str | os.PathLike[str],
    texts: Iterable[str] = (),
    *,
    runtimes: list[str] | None = None,
    watch: Callable[[int], None] = lambda done: None,
) -> Verification:
    """Hostile texts, and those given, in every runtime (or those named). `watch` is told how many
    texts are done."""
    path = Path(folder)
    if not path.is_dir():
        raise ValueError(f"{folder}: no folder; pass one that `supratok export` wrote")
    found = runtimes_for(path, runtimes)
    if not found.openers:
        why = "; ".join(f"{name}: {reason}" for name, reason in found.missing.items())
        raise ValueError(f"{folder}: nothing to verify ({why or 'no tokenizer files in it'})")
    with contextlib.ExitStack() as stack:
        ready = [stack.enter_context(open_it()) for open_it in found.openers]
        rows = [Checked(runtime.name, runtime.version) for runtime in ready]
        stream = itertools.chain(_hostile(ready[0]), texts)
        done = 0
        while portion := list(itertools.islice(stream, _PORTION)):
            _check(portion, ready, rows)
            done += len(portion)
            watch(done)
    return Verification(str(folder), rows, found.missing)


def _hostile(first: Runtime) -> list[str]:
    """Made of our own tokens where they are known."""
    if not isinstance(first, Ours):
        return hostile_texts([], [])
    always = first.tokenizer.layout.always if first.tokenizer.layout else ()
    return hostile_texts(first.tokenizer.texts, [*first.tokenizer.special_tokens, *always])


def _check(texts: list[str], runtimes: list[Runtime], rows: list[Checked]) -> None:
    wanted: dict[int, list[int]] = {}  # by place among the texts, what the first runtime says
    for runtime, row in zip(runtimes, rows, strict=True):
        asked = {place: text for place, text in enumerate(texts) if runtime.can_hold(text)}
        before = time.perf_counter()
        found = runtime.encode_batch(list(asked.values()))
        row.seconds += time.perf_counter() - before
        row.texts += len(asked)
        row.left_out += len(texts) - len(asked)
        row.tokens += sum(map(len, found))
        wanted = wanted or dict(zip(asked, found, strict=True))
        decoded = runtime.decode_batch(found)
        for (place, text), ids, back in zip(asked.items(), found, decoded, strict=True):
            different = ids != wanted.get(place, ids)
            lost = back != text and runtime.can_return(text)
            row.different += different
            row.lost += lost
            row.not_returned += back != text and not lost
            if (different or lost) and len(row.examples) < _EXAMPLES:
                row.examples.append(repr(text[:60]))
