"""Paper 3.2: bin documents by the entropy of their character bigrams, and keep a share of each bin.

A text that repeats itself has few different pairs of neighbouring characters: "abab..." has 1 bit,
boilerplate little more, prose 7 to 8 bits. Each document falls into one of three bins, low, medium
or high; the curator keeps a share of each:

    kept = list(curate("corpus/*.jsonl", Curation(keep=(0.0, 0.5, 1.0))))

The choice depends on the texts alone, not on the run or the order, and is independent of which
documents are held out.
"""

from __future__ import annotations

import array
import dataclasses
import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..common.progress import Progress, make_progress
from ..common.threads import usable_threads
from ..recipe import Curation
from .stream import Corpus, Source, open_corpus

BINS = ("low", "medium", "high")
STEPS = 10  # of the histogram, per bit
_BATCH = 1 << 20  # characters in a batch


def curate(
    documents_or_paths: Source,
    curation: Curation | None = None,
    threads: int | None = None,
    progress: bool | Progress = False,
    **reading: Any,
) -> Iterator[str]:
    """The documents to keep, in their order, one at a time. `curation`: default the paper's
    thresholds and shares. `reading`: see `open_corpus`."""
    workers = usable_threads(threads)
    with open_corpus(documents_or_paths, **reading) as corpus, make_progress(progress) as shown:
        curator = Curator(find_thresholds(corpus, curation or Curation(), workers, shown))
        for batch in with_entropies(corpus, workers, "curating", shown):
            for text, bits in zip(batch.texts, batch.bits.tolist(), strict=True):
                if curator.decide(bits, digest(text)):
                    yield text


class Curator:
    """Decides which documents to keep, and counts them by bin."""

    def __init__(self, curation: Curation) -> None:
        if curation.by_quantile:
            raise ValueError(
                "by_quantile=True: a Curator needs thresholds in bits; pass it the curation that"
                " find_thresholds returns"
            )
        self.curation = curation
        self._limits = [share * 2**64 for share in curation.keep]
        # By bin: the dropped and the kept documents, by their step of the histogram.
        self._steps = [(Counter[int](), Counter[int]()) for _ in BINS]
        self._characters = [[0, 0] for _ in BINS]

    def bin_of(self, bits: float) -> int:
        """0 low, 1 medium, 2 high. Paper 3.2: a document on a threshold is medium."""
        return 0 if bits < self.curation.low else 2 if bits > self.curation.high else 1

    def keeps(self, text: str, digest: int, *, record: bool = True) -> bool:
        """Whether to keep a text with this `split.digest`. Pass `record=False` in a second reading
        of the same documents, so that the report counts each once."""
        bits = _core.bigram_entropy(text)
        kept = self.decide(bits, digest)
        if record:
            self.record(bits, len(text), kept)
        return kept

    def decide(self, bits: float, digest: int) -> bool:
        return chance(digest) < self._limits[self.bin_of(bits)]

    def record(self, bits: float, characters: int, kept: bool) -> None:
        """Count a document in the report."""
        place = self.bin_of(bits)
        self._steps[place][kept][int(bits * STEPS)] += 1
        self._characters[place][kept] += characters

    def sums(self) -> dict[str, dict[str, int]]:
        """All that was recorded, as numbers that add up; `add` takes them."""
        found = {}
        for name, steps, sizes in zip(BINS, self._steps, self._characters, strict=True):
            for kept, (counter, size) in enumerate(zip(steps, sizes, strict=True)):
                rows = {str(step): count for step, count in sorted(counter.items())}
                found[f"{name} {kept}"] = {**rows, "characters": size}
        return found

    def add(self, sums: Mapping[str, Mapping[str, int]]) -> None:
        """Add what another curator with this curation recorded."""
        for place, name in enumerate(BINS):
            for kept in (0, 1):
                rows = dict(sums.get(f"{name} {kept}", {}))
                self._characters[place][kept] += rows.pop("characters", 0)
                self._steps[place][kept].update({int(step): n for step, n in rows.items()})

    def report(self) -> dict[str, Any]:
        """Documents and characters by bin, and a histogram, as plain JSON values."""
        return {
            "low": self.curation.low,
            "high": self.curation.high,
            "keep": list(self.curation.keep),
            "bins": {name: self._bin_report(place) for place, name in enumerate(BINS)},
            "histogram": self._histogram(),
        }

    def _bin_report(self, place: int) -> dict[str, int]:
        dropped, kept = (counter.total() for counter in self._steps[place])
        dropped_characters, kept_characters = self._characters[place]
        return {
            "documents": dropped + kept,
            "kept": kept,
            "characters": dropped_characters + kept_characters,
            "kept_characters": kept_characters,
        }

    def _histogram(self) -> dict[str, Any]:
        """Documents by bin and steps of a tenth of a bit, the first of which begins at `start`."""
        seen = [step for pair in self._steps for counter in pair for step in counter]
        steps = range(min(seen), max(seen) + 1) if seen else range(0)
        rows = {
            name: {
                "dropped": [dropped[step] for step in steps],
                "kept": [kept[step] for step in steps],
            }
            for name, (dropped, kept) in zip(BINS, self._steps, strict=True)
        }
        return {"start": steps.start / STEPS, "step": 1 / STEPS, **rows}


def curator_of(curation: Curation | None) -> Curator | None:
    """A curator, if documents are curated."""
    return None if curation is None else Curator(curation)


def digest(text: str) -> int:
    """A number below 2**64 that depends on the text alone: the same in every run and order. It is
    the first 8 bytes of BLAKE2b: hashlib.blake2b(text.encode(), digest_size=8)."""
    return _core.digest(text)


def chance(digest: int) -> int:
    """A number below 2**64 that depends on the text alone and is independent of its digest: the
    digest already decides which documents are held out."""
    code = hashlib.blake2b(digest.to_bytes(8, "big"), digest_size=8, person=b"curation")
    return int.from_bytes(code.digest(), "big")


def find_thresholds(
    corpus: Corpus, curation: Curation, threads: int = 1, progress: Progress | None = None
) -> Curation:
    """The curation with thresholds in bits. If they are shares of the documents, this reads the
    whole corpus; the result does not depend on the order."""
    if not curation.by_quantile:
        return curation
    found = array.array("d")
    shown = progress or Progress()
    for batch in with_entropies(corpus, threads, "entropies", shown):
        found.frombytes(batch.bits.tobytes())
    if not found:
        corpus.refuse_empty()
    low, high = thresholds(np.frombuffer(found), curation.low, curation.high)
    shown.end(documents=len(found), low=low, high=high)
    return dataclasses.replace(curation, low=low, high=high, by_quantile=False)


def thresholds(bits: NDArray[np.float64], low: float, high: float) -> tuple[float, float]:
    """Two thresholds in bits: the share `low` of the documents lies below the first, the share
    `high` at or below the second. Documents of equal entropy fall into the same bin."""
    ordered = np.sort(bits)
    # Rounded first: 0.07 * 100 is 7.000000000000001.
    below = math.floor(round(low * len(bits), 6))
    not_above = math.ceil(round(high * len(bits), 6))
    first = ordered[below] if below < len(bits) else np.nextafter(ordered[-1], np.inf)
    return float(first), float(max(first, ordered[max(not_above - 1, 0)]))


class Batch(NamedTuple):
    """Some documents, the lines of JSON that hold them (None in other formats), and their bits."""

    texts: list[str]
    lines: list[bytes | None]
    bits: NDArray[np.float64]


def with_entropies(corpus: Corpus, threads: int, phase: str, progress: Progress) -> Iterator[Batch]:
    """All documents in batches, with their entropies; updates the progress."""
    sized = corpus.bytes_total is not None
    progress.start(phase, corpus.bytes_total, "B" if sized else "documents")
    done = 0
    for texts, lines in _batches(corpus):
        yield Batch(texts, lines, _core.bigram_entropies(texts, threads))
        done += len(texts)
        progress.at(corpus.bytes_read if sized else done, corpus.bytes_total)


def _batches(corpus: Corpus) -> Iterator[tuple[list[str], list[bytes | None]]]:
    texts: list[str] = []
    lines: list[bytes | None] = []
    size = 0
    for text in corpus:
        texts.append(text)
        lines.append(corpus.line)
        size += len(text) + 1
        if size >= _BATCH:
            yield texts, lines
            texts, lines, size = [], [], 0
    if texts:
        yield texts, lines
