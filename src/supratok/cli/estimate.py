"""One line before long work: the size of the corpus, and roughly the time and the memory."""

from __future__ import annotations

import sys

from ..common.machine import memory
from ..common.threads import usable_threads
from ..corpus import Source, open_corpus
from ..recipe import Recipe
from .common import Job

FACTOR = "within a factor of two"


def announce_training(job: Job, recipe: Recipe, *, sample: bool = False) -> None:
    """Print what training takes. Standard input has no known size, and no line."""
    from ..learn.estimate import estimate_training, text_bytes

    sizes = job.corpus.sizes()
    if sizes is None or not job.speaks:
        return
    on_disk, text = sizes.total(), text_bytes(sizes)
    workers = usable_threads(job.options["threads"])
    seconds, peak = estimate_training(text, recipe, workers)
    note(
        f"{_corpus(on_disk, text)}; training takes about {rough_time(seconds)} and"
        f" {rough_size(peak)} of memory on {count(workers, 'core')}, {FACTOR}"
    )
    warn_of_memory(peak)


def corpus_text(files: Source) -> float | None:
    """Roughly the bytes of text in these files; None if unknown."""
    from ..learn.estimate import text_bytes

    with open_corpus(files) as corpus:
        sizes = corpus.sizes()
    return None if sizes is None else text_bytes(sizes)


def warn_of_memory(needed: float) -> None:
    room = memory().usable
    if room is not None and needed > room:
        note(
            f"warning: about {rough_size(needed)} of memory are needed and {rough_size(room)} are"
            " available; use less text or a larger machine"
        )


def _corpus(on_disk: int, text: float) -> str:
    packed = "" if on_disk == text else f", about {rough_size(text)} of text"
    return f"corpus: {rough_size(on_disk)} on disk{packed}"


def note(line: str) -> None:
    print(line, file=sys.stderr)


def count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def rough_time(seconds: float) -> str:
    """5 s, 12 min, 3.5 h, 6.2 days."""
    for unit, size, most in (("s", 1, 120), ("min", 60, 7_200), ("h", 3_600, 172_800)):
        if seconds < most:
            digits = 1 if unit == "h" else 0
            return f"{max(seconds / size, 1):,.{digits}f} {unit}"
    return f"{seconds / 86_400:,.1f} days"


def rough_size(size: float) -> str:
    """3 MB, 0.3 GB, 2.1 GB."""
    if size < 1e5:
        return f"{size / 1e3:,.1f} kB"
    return f"{size / 1e6:,.1f} MB" if size < 1e8 else f"{size / 1e9:,.1f} GB"
