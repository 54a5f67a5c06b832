"""Measure a tokenizer for tuning, and BPE-Standard of the same size.

    texts = read_texts(setting)
    found = measure(peer, texts, setting, report)

Tokenizers learn from the documents that `train` does not hold out. Tuning measures on one half of
the held-out documents, the half that decides; the other half measures the winner.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

from ...common.files import write_whole
from ...common.packages import package
from ...corpus.split import HeldOut, digest
from ...formats.peer import Peer, open_any
from ..baselines import trained
from ..bench import NotHeldOut, held_out, some
from .score import Measured, Weights
from .space import Space

REFERENCE = "BPE-Standard"
_SHARD = 500_000  # characters to time encoding on
_ROUNDS = 5
_BYTES = 12  # of text kept for each token of the budget: more than a token has


@dataclass(frozen=True)
class Setting:
    """The options of a study. All but `trials`, `jobs`, `threads` and `device` decide what a trial
    finds."""

    corpus: list[Path]
    preset: str
    space: Space
    weights: Weights = field(default_factory=Weights)
    tokens: int = 2_000_000  # the validation model learns from so many
    width: int = 256  # of the validation model
    seed: int = 0
    trials: int = 100
    jobs: int = 1
    threads: int | None = None  # of each job
    device: str = "auto"

    def __post_init__(self) -> None:
        for name in ("tokens", "width", "trials", "jobs"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)}: must be at least 1")


@dataclass(frozen=True)
class Texts:
    """The documents that models learn from, and those to measure on, sorted by digest."""

    learnt: list[str]
    held_out: list[str]


def read_texts(setting: Setting, *, measuring: bool = False) -> Texts:
    """`measuring`: take the half of the held-out documents that decides nothing."""
    learnt = HeldOut(setting.tokens * _BYTES)  # a sample of a bounded size
    for text in NotHeldOut(setting.corpus):
        learnt.add(text, digest(text))
    return Texts(learnt.documents, held_out(setting.corpus, measuring=measuring))


Report = Callable[[int, Measured], None]


def measure(
    peer: Peer,
    texts: Texts,
    setting: Setting,
    report: Report | None = None,
    against: Reference | None = None,
) -> Measured:
    """Compression, perplexity and latency of a tokenizer. Call `report` at each rung of the model's
    budget, the last included; it may raise to stop. `against`: see `_latency`."""
    from ..lm.validation import Lesson, device_of

    compression = _compression(peer, texts.held_out)
    latency = _latency(peer, some(texts.held_out, _SHARD), against)
    lesson = Lesson(
        texts.learnt,
        some(texts.held_out, setting.tokens // 2),  # characters: evaluation is to be short
        setting.tokens,
        setting.width,
        device_of(setting.device),
        setting.seed,
    )

    def at_rung(rung: int, perplexity: float) -> None:
        if report is not None:
            report(rung, Measured(compression, perplexity, latency))

    return Measured(compression, lesson.perplexity(peer, at_rung), latency)


def _compression(peer: Peer, texts: list[str]) -> float:
    return sum(map(len, texts)) / max(1, sum(len(peer.encode(text)) for text in texts))


def _latency(peer: Peer, shard: list[str], against: Reference | None) -> float:
    """Milliseconds of processor time of one thread to encode the shard.

    Choice: the reference has the time of its fastest round. A trial takes turns with the reference;
    the ratio of their times counts, in the milliseconds of the reference. A machine that others use
    may be half as fast for minutes: plain times would move all trials of one size by more than they
    differ.
    """
    if against is None:
        return min(_milliseconds(peer, shard) for _ in range(_ROUNDS))
    other = open_any(against.path)
    rounds = [_milliseconds(peer, shard) / _milliseconds(other, shard) for _ in range(1 + _ROUNDS)]
    return median(rounds[1:]) * against.rungs[-1].latency  # the first round fills caches


def _milliseconds(peer: Peer, shard: list[str]) -> float:
    """By a clock that stops while other programs have the processor."""
    start = time.thread_time()
    for text in shard:
        peer.encode(text)
    return (time.thread_time() - start) * 1e3


# --- The reference ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Reference:
    """BPE-Standard of one size: its file, and its figures at each rung."""

    path: Path
    rungs: list[Measured]


def reference(size: int, texts: Texts, setting: Setting, folder: Path) -> Reference:
    """Train and measure it once, and keep it in the folder. If several processes want it at once,
    one makes it and the others wait."""
    with package("filelock", "lm").FileLock(folder / f"reference-{size}.lock"):
        if not _kept(folder, size).exists():
            documents = NotHeldOut(setting.corpus)
            peer = trained(REFERENCE, documents, size, folder / "baselines")
            rungs: list[Measured] = []
            measure(peer, texts, setting, lambda _, now: rungs.append(now))
            kept = {"path": peer.path.relative_to(folder).as_posix(), "rungs": rungs}
            write_whole(_kept(folder, size), json.dumps(kept, default=asdict))
    return read_reference(folder, size)


def read_reference(folder: Path, size: int) -> Reference:
    """The reference of a size that a trial has had."""
    kept = json.loads(_kept(folder, size).read_text(encoding="utf-8"))
    return Reference(folder / kept["path"], [Measured(**one) for one in kept["rungs"]])


def _kept(folder: Path, size: int) -> Path:
    return folder / f"reference-{size}.json"
