"""Time and memory of encoding, and of any function in a fresh process.

speed([ours, theirs], texts)             # megabytes per second, in turn, on one thread
spent(train_it, "corpus.jsonl.zst")      # seconds, peak memory, and the result
"""

from __future__ import annotations

import multiprocessing
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from operator import truediv
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from ...formats.peer import Peer

# --- Encoding


@dataclass(frozen=True)
class Speed:
    """The encoding speed of one tokenizer on some documents, by round."""

    bytes: int  # of the documents
    seconds: tuple[float, ...]
    ratios: tuple[float, ...]  # how many times as fast as the first tokenizer in the same round

    @property
    def megabytes_per_second(self) -> float:
        return self.bytes / 1e6 / median(self.seconds)

    @property
    def spread(self) -> tuple[float, float]:
        """The slowest and the fastest round, in megabytes per second."""
        return self.bytes / 1e6 / max(self.seconds), self.bytes / 1e6 / min(self.seconds)

    @property
    def ratio(self) -> float:
        return median(self.ratios)


def speed(peers: Sequence[Peer], documents: Sequence[str], repeats: int = 5) -> dict[str, Speed]:
    """Time `encode`, document by document, on one thread. The tokenizers take turns in each round,
    so that a slow machine slows all of them; a first round fills caches and does not count."""
    names = [peer.name for peer in peers]
    size = sum(len(text.encode()) for text in documents)
    if len(set(names)) < len(names) or not size or repeats < 1:
        raise ValueError(
            f"tokenizers {names}, {size} bytes of text, repeats={repeats}: give each tokenizer a"
            " different name, pass some text, and repeat at least once"
        )
    rounds = [[_seconds(peer, documents) for peer in peers] for _ in range(1 + repeats)][1:]
    by_peer = list(zip(*rounds, strict=True))
    return {
        name: Speed(size, took, tuple(map(truediv, by_peer[0], took)))
        for name, took in zip(names, by_peer, strict=True)
    }


def _seconds(peer: Peer, documents: Sequence[str]) -> float:
    encode = peer.encode
    start = perf_counter()
    for text in documents:
        encode(text)
    return perf_counter() - start


# --- Anything


@dataclass(frozen=True)
class Spent:
    """The time, memory and result of a call."""

    seconds: float
    peak_bytes: int  # of the process, Python and packages included
    result: Any


def spent(work: Callable[..., Any], *arguments: Any) -> Spent:
    """Call a function in a fresh process, so that the peak memory is its own. The time is that of
    the call only. `work` is a function of a module; arguments and result can be pickled."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_spend, args=(there, work, arguments))
    process.start()
    there.close()
    try:
        answer = here.recv()
    except EOFError:
        answer = None
    process.join()
    if answer is None:
        raise RuntimeError(
            f"{work.__qualname__} ended with code {process.exitcode} and no result; -9 means"
            " killed, most often for lack of memory: use a smaller corpus"
        )
    if isinstance(answer, BaseException):
        raise answer
    return Spent(*answer)


def _spend(answer: Connection, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    start = perf_counter()
    try:
        result = work(*arguments)
        took = perf_counter() - start
        answer.send((took, peak_bytes(), result))
    except Exception as error:
        answer.send(error)


def peak_bytes() -> int:
    """The peak memory of this process. On Linux `getrusage` starts from the parent's peak, so there
    we read /proc instead."""
    status = Path("/proc/self/status")
    if status.exists() and (found := re.search(r"VmHWM:\s*(\d+) kB", status.read_text())):
        return int(found[1]) * 1024
    import resource  # not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
