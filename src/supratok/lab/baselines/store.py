"""The baselines of the paper's Appendix C, and five others: trained once, and kept in a cache.

    peer = trained("SuperBPE", "corpus.jsonl.zst", 100_000, Path("build/baselines"))
    peer.encode("as well as")

The cache has a folder for each, named by all that the tokenizer depends on: settings, corpus, size
and versions of packages. Its file is of the package's own format (`tokenizer.json`,
`tokenizer.model`), which `open_any` opens too.

The same corpus gives the same file, with any number of threads.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...common.files import write_whole
from ...common.machine import memory
from ...common.progress import Progress, make_progress
from ...corpus import Source
from ...formats.peer import Named, Peer, open_any
from ...learn.estimate import Estimate
from ..measure.cost import peak_bytes
from .catalogue import BASELINES, Baseline, Documents, Facts, Job

__all__ = ["BASELINES", "Baseline", "Documents", "Estimate", "Losses", "Trained", "estimate",
           "losses", "trained"]  # fmt: skip

_MADE = "made.json"
_PROGRAM = 400_000_000  # bytes of memory for Python, packages and a batch of text


# --- Training --------------------------------------------------------------------------------


@dataclass
class Trained(Named):
    """A trained baseline: a `Peer`, and how it was made.

    `made` has the corpus, `seconds` (without the extra work that makes results reproducible),
    `peak_bytes` (of the whole process, so far), `lines_dropped` and versions.
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
    `documents`). Pass `Documents` to digest a corpus once for many calls."""
    baseline = known(name)
    if isinstance(corpus, Documents) and documents is not None:
        raise ValueError("documents= goes with a corpus; here pass Documents(corpus, number)")
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
    """The baseline of this name, or an error that lists all names."""
    if name not in BASELINES:
        raise ValueError(f"{name!r}: no such baseline; choose one of {', '.join(BASELINES)}")
    return BASELINES[name]


def _train(baseline: Baseline, job: Job) -> Facts:
    began = time.monotonic()
    facts = baseline.train(job, baseline.settings)
    seconds = time.monotonic() - began
    seconds += facts.pop("seconds_before", 0.0) - facts.pop("seconds_apart", 0.0)
    found = open_any(job.file).vocab_size
    short = "" if found == job.vocab_size else "the corpus has no more pairs to merge"
    if found > job.vocab_size:
        short = "the corpus has more characters than that"
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
    """Show the reading of the texts by `progress`."""
    with make_progress(progress) as watching:
        watching.start(phase, unit="B")
        texts.progress = watching
        try:
            yield
        finally:
            texts.progress = Progress()
        watching.end()


# --- Estimates -------------------------------------------------------------------------------


def estimate(name: str, size: int, vocab_size: int) -> Estimate:
    """Time and memory to train on so many bytes of text, on a machine like that of the measurements
    (see `catalogue.Cost`); within a factor of two, as texts differ."""
    cost = known(name).cost
    seconds = cost.seconds_per_megabyte * size / 1e6
    seconds += cost.seconds_per_thousand_tokens * vocab_size / 1e3
    return Estimate(seconds, _PROGRAM + int(cost.bytes_per_byte * size))


def _refuse_early(baseline: Baseline, corpus: Facts, vocab_size: int) -> None:
    """Fail now rather than be killed in an hour."""
    needed, free = estimate(baseline.name, corpus["bytes"], vocab_size).peak_bytes, memory().usable
    if free is not None and needed > free:
        share = max(0.0, (free - _PROGRAM) / (needed - _PROGRAM))
        raise ValueError(
            f"{baseline.name} needs about {needed / 1e9:.1f} GB of memory for"
            f" {corpus['bytes'] / 1e6:,.0f} MB of text, and {free / 1e9:.1f} GB are free; train it"
            f" on the first {int(corpus['documents'] * share):,} documents, or on a larger machine"
        )


def _peak() -> int | None:
    """The peak memory of this process in bytes; None if unknown."""
    with contextlib.suppress(ImportError):
        return peak_bytes()
    return None


# --- Losses ----------------------------------------------------------------------------------


@dataclass
class Losses:
    """The text that decoding does not restore, and the lines that training dropped."""

    texts: int = 0
    changed: int = 0  # texts that decode to another text, if only by a space
    characters: int = 0
    characters_lost: int = 0  # occurrences in the text beyond those in the decoded one
    lines_dropped: int = 0  # in training: too long for SentencePiece
    bytes_dropped: int = 0


def losses(peer: Peer, texts: Iterable[str]) -> Losses:
    """Encode and decode each text, and count the missing characters."""
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
