"""What tuning measures of one tokenizer, and of BPE-Standard at the same size.

    texts = read_texts([Path("corpus.jsonl.zst")], setting)
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

from ..compare import Peer
from ..corpus import open_corpus
from ..files import write_whole
from ..heldout import HeldOut, digest, is_for_measuring, is_held_out
from .baselines import trained
from .bench import NotHeldOut, some
from .tuning_score import Measured, Weights
from .tuning_space import Space

REFERENCE = "BPE-Standard"
_SHARD = 500_000  # characters that are encoded against the clock
_REPEATS = 5
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


def measure(peer: Peer, texts: Texts, setting: Setting, told: Told | None = None) -> Measured:
    """`told` is given what is known at each rung of the model's budget, the last included, and may
    end it all by an exception."""
    from .lm.validation import Lesson, device_of

    compression, latency = _compression(peer, texts.held_out), _latency(peer, texts.held_out)
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


def _latency(peer: Peer, texts: list[str]) -> float:
    """Milliseconds of processor time of this thread for the shard, the median of some rounds. The
    clock stands still while others have the processor."""
    shard = some(texts, _SHARD)

    def once() -> float:
        start = time.thread_time()
        for text in shard:
            peer.encode(text)
        return (time.thread_time() - start) * 1e3

    return median([once() for _ in range(1 + _REPEATS)][1:])  # the first fills caches


# --- The reference ---------------------------------------------------------------------------


def reference(size: int, texts: Texts, setting: Setting, folder: Path) -> list[Measured]:
    """BPE-Standard of this size, measured at each rung: once, and then kept in the folder. Of
    processes that want it at the same time one makes it, and the others wait."""
    path = folder / f"reference-{size}.json"
    with alone(folder / f"reference-{size}.lock"):
        if not path.exists():
            documents = NotHeldOut(setting.corpus)
            peer = trained(REFERENCE, documents, size, folder / "baselines")
            found: list[Measured] = []
            measure(peer, texts, setting, lambda _, now: found.append(now))
            write_whole(path, json.dumps([asdict(one) for one in found]))
    return read_reference(path)


def read_reference(path: Path) -> list[Measured]:
    return [Measured(**one) for one in json.loads(path.read_text(encoding="utf-8"))]


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
