"""What goes wrong around the core, each in a process of its own: `python faults.py SCENE SEED`.

    exit       the interpreter exits while daemon threads work
    threads    threads cannot be started
    memory     memory runs out
    interrupt  signals come while the core works

A scene prints one word. Its process must end with 0, and with nothing on standard error.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import supratok
from supratok import Recipe, Token, Tokenizer
from supratok.common import _core

Work = Callable[[], object]
WORDS = ["the", "of", "and", "to", "cat", "house", "日本", "über", "straße", "12", "345", ",", ";"]


def texts(number: int) -> list[str]:
    rng = random.Random(number)
    return [" ".join(rng.choices(WORDS, k=60)) for _ in range(number)]


def made(tokens: int) -> Tokenizer:
    """A tokenizer with so many tokens, without training."""
    alphabet = sorted({*"".join(WORDS), *" 0123456789"})
    phrases = [f" {word} {number}" for number in range(tokens // len(WORDS)) for word in WORDS]
    rows = [Token(char, 1, "alphabet") for char in alphabet]
    rows += [Token(text, 1, "multiword") for text in phrases]
    return Tokenizer(rows, Recipe(vocab_size=tokens + 1000, segmentation="fewest"))


def work_of(name: str, size: int, threads: int = 3) -> Work:
    """What a thread may be doing, on `size` texts."""
    some = texts(size)
    if name == "train":
        recipe = Recipe(vocab_size=330, refine=1)
        supratok.train(texts(3), recipe, progress=False)  # imports what it needs
        return lambda: supratok.train(some, recipe, threads, progress=False).texts
    if name == "load":
        saved = Path(tempfile.mkdtemp()) / "saved.json"
        made(size * 10).save(saved)
        return lambda: Tokenizer.load(saved).texts
    tokenizer, long = made(200), " ".join(some)
    works: dict[str, Work] = {
        "encode": lambda: tokenizer.encode(long),
        "count": lambda: tokenizer.count(long),
        "batch": lambda: tokenizer.encode_batch(some, threads),
        "arrays": lambda: sum(map(len, tokenizer.encode_batch(some, threads, numpy=True))),
        "usage": lambda: tokenizer.usage(some, threads).tolist(),
        "covers": lambda: tokenizer.covers(long),
        "stream": lambda: _streamed(tokenizer, [*some, *long[:500]]),
        "dropout": lambda: tokenizer.encode_batch(some, threads, dropout=0.5, seed=1),
    }
    return works[name]


def _streamed(tokenizer: Tokenizer, pieces: list[str]) -> list[int]:
    stream = tokenizer.encode_stream()
    for piece in pieces:
        stream.append(piece)
    return stream.ids


# --- Scenes


def exit_while(name: str, seed: int) -> str:
    """Threads work, and nobody waits for them."""
    rng = random.Random(seed)
    work = work_of(name, 300)
    started = threading.Barrier(3)

    def forever() -> None:
        started.wait()
        while True:
            work()

    for _ in range(2):
        threading.Thread(target=forever, daemon=True).start()
    started.wait()
    time.sleep(rng.random() * 0.03)
    return "left"


def without_threads(name: str, seed: int) -> str:
    """A thread asks for a stack of 4 GB, as the process was told at its start, and there is room
    for 0 to 2 of them. The result is the same."""
    if "ALONE" not in os.environ:
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 32, resource.RLIM_INFINITY))
        alone = os.environ | {"ALONE": "1"}
        return subprocess.run(
            [sys.executable, __file__, "threads", name, str(seed)],
            env=alone, check=True, stdout=subprocess.PIPE, text=True,
        ).stdout.strip()  # fmt: skip
    expected = work_of(name, 3000)()
    work = work_of(name, 3000, threads=100_000)
    limit((1 << 30) + seed % 3 * (1 << 32))
    assert work() == expected
    return "same"


def without_memory(name: str, seed: int) -> str:
    """The limit is anywhere between nothing and enough."""
    rng = random.Random(seed)
    work = work_of(name, 2000 if name == "train" else 6000)
    limit(int(2 ** rng.uniform(26, 29) if name == "train" else 2 ** rng.uniform(10, 27)))
    try:
        work()
        outcome = "enough"
    except MemoryError:
        outcome = "MemoryError"
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    work()
    return outcome


def limit(more: int) -> None:
    """From now on the process gets so many bytes more."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


class Alarm(Exception):
    pass


def interrupt(name: str, seed: int) -> str:
    """The second signal ends the work. It is sent once the first is handled: after the work, if the
    core does not look."""
    work, again = LONG[name]()
    tokenizer = made(200)
    expected = tokenizer.encode_batch(["a b"] * 3, 2)
    seen = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal seen
        seen += 1
        assert tokenizer.encode_batch(["a b"] * 3, 2) == expected  # a handler may use the core
        if seen == 2:
            signal.setitimer(signal.ITIMER_REAL, 0)  # or handlers may fill all the time there is
            raise Alarm
        signal.setitimer(signal.ITIMER_REAL, 0.01)  # once: handlers must not fill all the time

    signal.signal(signal.SIGALRM, handle)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        work()
    except Alarm:
        again()
        return "stopped"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return f"finished after {seen}"


# --- Long works, and what is done after them


def _quadratic() -> _core.Encoder:
    """It tries 1,024 bytes at each place of a text of a's."""
    return _core.Encoder(["a", "a" * 1024], [1, 1], fewest=True, first_id=0)


def _over_texts(call: Callable[[_core.Encoder, list[str]], Any]) -> Callable[[], tuple[Work, Work]]:
    def make() -> tuple[Work, Work]:
        core = _quadratic()
        return lambda: call(core, ["a" * 4_000_000] * 90), lambda: call(core, ["aa"])

    return make


def _over_words(call: Callable[[_core.WordTable], Any]) -> Callable[[], tuple[Work, Work]]:
    def make() -> tuple[Work, Work]:
        words = _core.WordTable(10)
        rng = np.random.default_rng(0)
        for _ in range(6):
            numbers = rng.integers(0, 26**8, 250_000).tolist()
            words.count([" ".join(map(_spelled, numbers))], 2)
        few = _core.WordTable(10)
        few.count(["a few words of a few words"], 1)
        return lambda: call(words), lambda: call(few)

    return make


def _spelled(number: int) -> str:
    return "".join(chr(97 + number // 26**place % 26) for place in range(8))


def _merged(words: _core.WordTable, threads: int = 1) -> int:
    codes = [ord(char) for char in " abcdefghijklmnopqrstuvwxyz"]
    sequences = _core.Sequences.of_words(words, codes)
    limits = _core.Limits(bytes=64)
    return _core.Merger.over_characters(sequences, codes, limits, 1, threads, 64).run(10**9)


def _endless() -> tuple[Work, Work]:
    """The core counts a list; Python has no say in between."""
    words = _core.WordTable(10)
    return lambda: words.count(["a b c d " * 1000] * 200_000, 2), lambda: words.count(["a"], 2)


def _built(size: int) -> _core.Encoder:
    entries = [chr(97 + i) for i in range(26)] + [_spelled(i * 7919) for i in range(size)]
    return _core.Encoder(entries, [1] * len(entries), fewest=True, first_id=0)


def _at_ends(call: Callable[[_core.Boundaries, str], Any]) -> Callable[[], tuple[Work, Work]]:
    """Each place of a text of a's has 1,024 tokens that end there."""

    def make() -> tuple[Work, Work]:
        entries = ["a" * size for size in range(1, 1025)]
        core = _core.Encoder(entries, [1] * len(entries), fewest=True, first_id=0)
        ends = _core.Boundaries(core, [], [])
        return lambda: call(ends, "a" * 3_000_000), lambda: call(ends, "aa")

    return make


def _appended(ends: _core.Boundaries, text: str) -> None:
    """A stream that was stopped goes on as if nothing had come."""
    stream = _core.TextStream(ends, tuple)
    stream.append("aaa")
    try:
        stream.append(text)
    except Alarm:
        assert (stream.bytes(), len(stream.ids())) == (3, 1)
        assert stream.append("a") == (0, [256 + 3])
        raise


LONG: dict[str, Callable[[], tuple[Work, Work]]] = {
    "batch": _over_texts(lambda core, some: core.encode_batch(some, 2, False)),
    "arrays": _over_texts(lambda core, some: core.encode_batch(some, 1, True)),
    "usage": _over_texts(lambda core, some: core.usage(some, 2)),
    "encode": _over_texts(lambda core, some: core.encode(some[0])),
    "count": _over_texts(lambda core, some: core.count(some[0])),
    "covers": _at_ends(lambda ends, text: ends.covers(text)),
    "stream": _at_ends(_appended),
    "merges": _over_words(_merged),
    "merges on threads": _over_words(lambda words: _merged(words, 3)),
    "list": _endless,
    "build": lambda: (lambda: _built(600_000), lambda: _built(10)),
}
SCENES: dict[str, Callable[[str, int], str]] = {
    "exit": exit_while,
    "threads": without_threads,
    "memory": without_memory,
    "interrupt": interrupt,
}

if __name__ == "__main__":
    print(SCENES[sys.argv[1]](sys.argv[2], int(sys.argv[3])), flush=True)
