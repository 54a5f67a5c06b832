"""What tuning measures of one tokenizer, and of BPE-Standard at the same size.

    texts = read_texts(setting)
    found = measure(peer, texts, setting, told)

Tokenizers learn from the corpus as `train` does: without the documents it holds out. Of those, the
half that decides is what everything here is measured on; the other half stays untouched, to measure
what comes of it.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

from ...common.files import write_whole
from ...corpus import open_corpus
from ...corpus.split import HeldOut, digest, is_for_measuring, is_held_out
from ...formats.peer import Peer, open_any
from ..baselines import trained
from ..bench import NotHeldOut, some
from .score import Measured, Weights
from .space import Space

REFERENCE = "BPE-Standard"
_SHARD = 500_000  # characters that are encoded against the clock
_ROUNDS = 5
_BYTES = 12  # of text kept for a token of the budget: longer than tokens are


@dataclass(frozen=True)
class Setting:
    """All that a study is asked for. `trials`, `jobs`, `threads` and `device` do not decide what a
    trial finds, the others do."""

    corpus: list[Path]
    preset: str
    space: Space
    weights: Weights = field(default_factory=Weights)
    tokens: int = 2_000_000  # that the validation model learns from
    width: int = 256  # of it
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
    """What models learn from, and what all is measured on: documents by their digests."""

    learnt: list[str]
    held_out: list[str]


def read_texts(setting: Setting, *, measuring: bool = False) -> Texts:
    """By one reading. `measuring`: hold against the half of the held-out text that decides
    nothing."""
    learnt, held_out = HeldOut(setting.tokens * _BYTES), HeldOut()
    with open_corpus(setting.corpus) as corpus:
        for text in corpus:
            code = digest(text)
            if not is_held_out(code):
                learnt.add(text, code)
            elif is_for_measuring(code) == measuring:
                held_out.add(text, code)
    if not sum(map(len, held_out.documents)) or not learnt.documents:
        raise ValueError("no document of the corpus is held out, there are too few: give more text")
    return Texts(learnt.documents, held_out.documents)


Told = Callable[[int, Measured], None]


def measure(
    peer: Peer,
    texts: Texts,
    setting: Setting,
    told: Told | None = None,
    against: Reference | None = None,
) -> Measured:
    """`told` is given what is known at each rung of the model's budget, the last included, and may
    end it all by an exception. `against`: see `_latency`."""
    from ..lm.validation import Lesson, device_of

    compression = _compression(peer, texts.held_out)
    latency = _latency(peer, some(texts.held_out, _SHARD), against)
    lesson = Lesson(
        texts.learnt,
        some(texts.held_out, setting.tokens // 2),  # characters: asking is to be short
        setting.tokens,
        setting.width,
        device_of(setting.device),
        setting.seed,
    )

    def tell(rung: int, perplexity: float) -> None:
        if told is not None:
            told(rung, Measured(compression, perplexity, latency))

    return Measured(compression, lesson.perplexity(peer, tell), latency)


def _compression(peer: Peer, texts: list[str]) -> float:
    return sum(map(len, texts)) / max(1, sum(len(peer.encode(text)) for text in texts))


def _latency(peer: Peer, shard: list[str], against: Reference | None) -> float:
    """Milliseconds of processor time of one thread for the shard.

    Choice: the reference is timed by its fastest round. A trial is timed in turn with the
    reference; what counts is how many times as long it takes, and that is told in the milliseconds
    of the reference. A machine that others use may be half as fast for minutes: a clock alone would
    move all trials of one size, by more than they differ.
    """
    if against is None:
        return min(_milliseconds(peer, shard) for _ in range(_ROUNDS))
    other = open_any(against.path)
    rounds = [_milliseconds(peer, shard) / _milliseconds(other, shard) for _ in range(1 + _ROUNDS)]
    return median(rounds[1:]) * against.rungs[-1].latency  # the first round fills caches


def _milliseconds(peer: Peer, shard: list[str]) -> float:
    """By a clock that stands still while others have the processor."""
    start = time.thread_time()
    for text in shard:
        peer.encode(text)
    return (time.thread_time() - start) * 1e3


# --- The reference ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Reference:
    """BPE-Standard of one size: its file, and what was measured at each rung."""

    path: Path
    rungs: list[Measured]


def reference(size: int, texts: Texts, setting: Setting, folder: Path) -> Reference:
    """Made and measured once, and then kept in the folder. Of processes that want it at the same
    time one makes it, and the others wait."""
    with alone(folder / f"reference-{size}.lock"):
        if not _kept(folder, size).exists():
            documents = NotHeldOut(setting.corpus)
            peer = trained(REFERENCE, documents, size, folder / "baselines")
            rungs: list[Measured] = []
            measure(peer, texts, setting, lambda _, now: rungs.append(now))
            kept = {"path": peer.path.relative_to(folder).as_posix(), "rungs": rungs}
            write_whole(_kept(folder, size), json.dumps(kept, default=asdict))
    return read_reference(folder, size)


def read_reference(folder: Path, size: int) -> Reference:
    """Of a size for which there is one."""
    kept = json.loads(_kept(folder, size).read_text(encoding="utf-8"))
    return Reference(folder / kept["path"], [Measured(**one) for one in kept["rungs"]])


def _kept(folder: Path, size: int) -> Path:
    return folder / f"reference-{size}.json"


@contextmanager
def alone(path: Path, seconds: float = 1e6, busy: str = "busy") -> Iterator[None]:
    """While this lasts no other process gets past it with the same file. The lock is a transaction
    of sqlite, so it is gone when its process is, however that ends. `busy` is the error after so
    many seconds."""
    database = sqlite3.connect(path, timeout=seconds, isolation_level=None)
    try:
        database.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        raise ValueError(f"{path}: {busy} ({error})") from error
    else:
        try:
            yield
        finally:
            database.execute("ROLLBACK")
    finally:
        database.close()
