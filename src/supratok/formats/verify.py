"""Does every runtime give the same ids, and return every text?

    verification = verify("folder")
    verification.good

A runtime is a program that reads one of the files of an export. All that are installed encode the
same texts; `verify` compares their ids with those of our own encoder (without `supratok.json`: of
the first runtime) and each text with its decoded ids. It counts and skips texts that a format
cannot hold, such as a literal U+2581 in SentencePiece.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import itertools
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ..common.packages import install_hint
from ..tokenizer.file import FILE
from .gguf.llama_cpp import open_vocabulary
from .hostile import hostile_texts
from .huggingface.run import HuggingFace, Transformers
from .runtime import Ours, Runtime
from .sentencepiece.run import SentencePiece

_PORTION = 1000  # texts at a time
_EXAMPLES = 3  # kept for each runtime


class _Reader(NamedTuple):
    file: str  # that the program reads
    packages: tuple[str, ...]  # one of them must be installed
    open: Callable[[Path], Runtime]


_READERS = {
    "supratok": _Reader(FILE, ("supratok",), Ours.load),
    "tokenizers": _Reader("tokenizer.json", ("tokenizers",), HuggingFace.load),
    "transformers": _Reader("tokenizer.json", ("transformers",), Transformers),
    "sentencepiece": _Reader("tokenizer.model", ("sentencepiece",), SentencePiece.load),
    "llama.cpp": _Reader("tokenizer.gguf", ("xllamacpp", "llama_cpp"), open_vocabulary),
}
NAMES = tuple(_READERS)


@dataclass
class Checked:
    """The counts of one runtime."""

    runtime: str
    version: str
    texts: int = 0
    tokens: int = 0
    different: int = 0  # texts whose ids are not those of the first runtime
    lost: int = 0  # texts that decoding did not return
    left_out: int = 0  # texts that its format cannot hold
    not_returned: int = 0  # texts that it encodes, but cannot print
    seconds: float = 0.0  # for encoding
    examples: list[str] = field(default_factory=list)


@dataclass
class Verification:
    folder: str
    rows: list[Checked]
    missing: dict[str, str]  # runtimes that did not run, with the reason

    @property
    def good(self) -> bool:
        return not any(row.different or row.lost for row in self.rows)

    def notes(self) -> list[str]:
        """Remarks on the counts, one a line."""
        said = [f"{name} did not run: {reason}" for name, reason in self.missing.items()]
        return said + [
            f"{row.runtime} gives the right ids for {row.not_returned:,} texts that it cannot print"
            " unchanged (see docs/exports.md)"
            for row in self.rows
            if row.not_returned
        ]

    def problem(self) -> str:
        """The differences, in a line."""
        said = (
            f"{row.runtime} {row.version} encodes {row.different:,} of {row.texts:,} texts"
            f" differently and loses {row.lost:,}, such as {', '.join(row.examples)}"
            for row in self.rows
            if row.different or row.lost
        )
        return "; ".join(said)


def verify(
    folder: str | os.PathLike[str],
    texts: Iterable[str] = (),
    *,
    runtimes: list[str] | None = None,
    watch: Callable[[int], None] = lambda done: None,
) -> Verification:
    """Try hostile texts and `texts` in every installed runtime, or in those of `runtimes`. Calls
    `watch` with the number of texts done."""
    path = Path(folder)
    if not path.is_dir():
        raise ValueError(f"{folder}: no folder; pass one that `supratok export` wrote")
    openers, missing = _runtimes(path, runtimes)
    if not openers:
        why = "; ".join(f"{name}: {reason}" for name, reason in missing.items())
        raise ValueError(f"{folder}: nothing to verify ({why or 'no tokenizer files in it'})")
    with contextlib.ExitStack() as stack:
        ready = [stack.enter_context(open_it()) for open_it in openers]
        rows = [Checked(runtime.program, runtime.version) for runtime in ready]
        stream = itertools.chain(_hostile(ready[0]), texts)
        done = 0
        while portion := list(itertools.islice(stream, _PORTION)):
            _check(portion, ready, rows)
            done += len(portion)
            watch(done)
    return Verification(str(folder), rows, missing)


def _runtimes(
    folder: Path, only: list[str] | None
) -> tuple[list[Callable[[], Runtime]], dict[str, str]]:
    """Every runtime that is installed and finds its file, ours first and always; and the reasons
    why others are missing."""
    openers: list[Callable[[], Runtime]] = []
    missing: dict[str, str] = {}
    for name, reader in _READERS.items():
        if only and name not in only and name != "supratok":
            continue
        if not (folder / reader.file).exists():
            if only and name in only:
                missing[name] = f"no {reader.file} in the folder"
        elif not any(map(importlib.util.find_spec, reader.packages)):
            missing[name] = (
                f"{reader.packages[0]} is not installed:"
                f" {install_hint('verify', reader.packages[0])}"
            )
        else:
            openers.append(functools.partial(reader.open, folder / reader.file))
    return openers, missing


def _hostile(first: Runtime) -> list[str]:
    """Made of our tokens, if the folder has them."""
    if not isinstance(first, Ours):
        return hostile_texts([], [])
    always = first.tokenizer.layout.always if first.tokenizer.layout else ()
    return hostile_texts(first.tokenizer.texts, [*first.tokenizer.special_tokens, *always])


def _check(texts: list[str], runtimes: list[Runtime], rows: list[Checked]) -> None:
    wanted: dict[int, list[int]] = {}  # the ids of the first runtime, by place among the texts
    for runtime, row in zip(runtimes, rows, strict=True):
        asked = {place: text for place, text in enumerate(texts) if runtime.can_hold(text)}
        before = time.perf_counter()
        found = [list(map(int, ids)) for ids in runtime.encode_batch(list(asked.values()))]
        row.seconds += time.perf_counter() - before
        row.texts += len(asked)
        row.left_out += len(texts) - len(asked)
        row.tokens += sum(map(len, found))
        wanted = wanted or dict(zip(asked, found, strict=True))
        for (place, text), ids in zip(asked.items(), found, strict=True):
            _compare(row, runtime, text, ids, wanted.get(place, ids))


def _compare(row: Checked, runtime: Runtime, text: str, ids: list[int], wanted: list[int]) -> None:
    returned = runtime.decode(ids) == text
    different = ids != wanted
    lost = not returned and runtime.can_return(text)
    row.different += different
    row.lost += lost
    row.not_returned += not returned and not lost
    if (different or lost) and len(row.examples) < _EXAMPLES:
        row.examples.append(repr(text[:60]))
