"""The tokenizers that ours is held against, as Appendix C of the paper describes them, and three
beyond it.

    peer = trained("SuperBPE", "corpus.jsonl.zst", 100_000, Path("build/baselines"))
    peer.encode("as well as")

A finished one is kept as a file of its kind (`tokenizer.json`, `tokenizer.model`) in a folder of
the cache that is named by everything it depends on: settings, corpus, size and versions of
packages. It is not trained again; `compare.open_any` opens the file too.

The same corpus gives the same file. What `tokenizers` and SentencePiece do with threads does not
change it.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ...common.files import write_whole
from ...common.progress import Progress, make_progress
from ...corpus import Source
from ...formats.peer import Named, Peer, open_any
from ..measure.cost import peak_bytes
from .catalogue import BASELINES, Baseline, Documents, Facts, Job

__all__ = ["BASELINES", "Baseline", "Documents", "Estimate", "Losses", "Trained", "estimate",
           "losses", "trained"]  # fmt: skip

_MADE = "made.json"
_PROGRAM = 400_000_000  # bytes of memory for Python, packages and a batch of text, whatever comes


# --- Trained once ----------------------------------------------------------------------------


@dataclass
class Trained(Named):
    """A baseline that has been trained: a `Peer`, with what is known of its making.

    `made` has the corpus, `seconds` (without what is done only so that results repeat),
    `peak_bytes` (of the whole process, so far), `lines_dropped`, versions and date.
    """

    baseline: Baseline
    path: Path
    made: Facts


def trained(
    name: str,
    corpus: Source | Documents,
    vocab_size: int,
    cache: Path,
    *,
    documents: int | None = None,
    progress: bool | Progress = False,
) -> Trained:
    """The baseline of this name, from the cache or trained now on the corpus (or on its first
    `documents`). Pass `Documents` to have a corpus digested once for many calls."""
    baseline = known(name)
    if isinstance(corpus, Documents) and documents is not None:
        raise ValueError("the number of documents is for a corpus; pass Documents(corpus, number)")
    texts = corpus if isinstance(corpus, Documents) else Documents(corpus, documents)
    with _watched(texts, f"{name}: reading", progress):
        asked = _asked(baseline, texts.facts, vocab_size)
    key = _digest(asked)
    folder = cache / f"{name}-{vocab_size}-{key[:12]}"
    if not (folder / _MADE).exists():
        _refuse_early(baseline, texts.facts, vocab_size)
        folder.mkdir(parents=True, exist_ok=True)
        common = _digest({**asked, "vocab_size": None})[:12]
        job = Job(texts, vocab_size, folder / baseline.file, cache / f"{name}-{common}.json")
        with _watched(texts, f"{name}: training", progress):
            made = _train(baseline, job)
        write_whole(folder / _MADE, json.dumps({**asked, **made}, indent=1))
    made = json.loads((folder / _MADE).read_text(encoding="utf-8"))
    path = folder / baseline.file
    return Trained(name, open_any(path), baseline, path, made)


def known(name: str) -> Baseline:
    """The baseline of this name, or an error with all names."""
    if name not in BASELINES:
        raise ValueError(f"{name!r}: no such baseline; there are {', '.join(BASELINES)}")
    return BASELINES[name]


def _train(baseline: Baseline, job: Job) -> Facts:
    began = time.monotonic()
    facts = baseline.train(job, baseline.settings)
    seconds = time.monotonic() - began
    seconds += facts.pop("seconds_before", 0.0) - facts.pop("seconds_apart", 0.0)
    found = open_any(job.file).vocab_size
    short = "" if found == job.vocab_size else "the corpus has no more pairs to merge"
    if found > job.vocab_size:
        short = "the characters of the corpus alone are more"
    return {"seconds": seconds, "peak_bytes": _peak(), "tokens": found, "short": short, **facts}


def _asked(baseline: Baseline, corpus: Facts, vocab_size: int) -> Facts:
    versions = {name: importlib.metadata.version(name) for name in baseline.packages}
    return {
        "name": baseline.name,
        "settings": dict(baseline.settings),
        "corpus": corpus,
        "vocab_size": vocab_size,
        "versions": versions,
    }


def _digest(asked: Facts) -> str:
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


@contextlib.contextmanager
def _watched(texts: Documents, phase: str, progress: bool | Progress) -> Iterator[None]:
    """While this lasts, readings of the texts are told to `progress`."""
    with make_progress(progress) as watching:
        watching.start(phase, unit="B")
        texts.progress = watching
        try:
            yield
        finally:
            texts.progress = Progress()
        watching.end()


# --- What it will take -----------------------------------------------------------------------


class Estimate(NamedTuple):
    seconds: float
    peak_bytes: int


def estimate(name: str, size: int, vocab_size: int) -> Estimate:
    """What training on so many bytes of text will take, on a machine like the one where it was
    measured (see `catalogue.Cost`). Good to a factor of two: texts differ."""
    cost = known(name).cost
    seconds = cost.seconds_per_megabyte * size / 1e6
    seconds += cost.seconds_per_thousand_tokens * vocab_size / 1e3
    return Estimate(seconds, _PROGRAM + int(cost.bytes_per_byte * size))


def _refuse_early(baseline: Baseline, corpus: Facts, vocab_size: int) -> None:
    """An error now rather than a process killed in an hour."""
    needed, free = estimate(baseline.name, corpus["bytes"], vocab_size).peak_bytes, _free()
    if free is not None and needed > free:
        share = max(0.0, (free - _PROGRAM) / (needed - _PROGRAM))
        raise ValueError(
            f"{baseline.name} would take about {needed / 1e9:.1f} GB of memory for"
            f" {corpus['bytes'] / 1e6:,.0f} MB of text, and {free / 1e9:.1f} GB are free; train it"
            f" on the first {int(corpus['documents'] * share):,} documents, or where there is more"
        )


def _free() -> int | None:
    """Bytes of memory that can be had; None where nobody says."""
    with contextlib.suppress(OSError):
        found = re.search(r"MemAvailable:\s*(\d+) kB", Path("/proc/meminfo").read_text())
        if found:
            return int(found[1]) * 1024
    with contextlib.suppress(ValueError, OSError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _peak() -> int | None:
    """The most memory that this process has had, in bytes; None where nobody says."""
    with contextlib.suppress(ImportError):
        return peak_bytes()
    return None


# --- What is lost ----------------------------------------------------------------------------


@dataclass
class Losses:
    """What does not come back from a tokenizer, and what it did not learn from."""

    texts: int = 0
    changed: int = 0  # texts that come back otherwise, if only by a blank
    characters: int = 0
    characters_lost: int = 0  # that a text has more often than what comes back has
    lines_dropped: int = 0  # in training: too long for SentencePiece
    bytes_dropped: int = 0


def losses(peer: Peer, texts: Iterable[str]) -> Losses:
    """Encode and decode each text, and count what is missing."""
    made: dict[str, Any] = peer.made if isinstance(peer, Trained) else {}
    found = Losses(
        lines_dropped=made.get("lines_dropped", 0), bytes_dropped=made.get("bytes_dropped", 0)
    )
    for text in texts:
        back = peer.decode(peer.encode(text))
        found.texts += 1
        found.characters += len(text)
        if back != text:
            found.changed += 1
            found.characters_lost += (Counter(text) - Counter(back)).total()
    return found
