"""Compare tokenizers on your own corpus: `supratok bench`.

    bench = Bench([Path("corpus.jsonl.zst")], Path("build/bench"))
    rows = [bench.row(entry) for entry in entries(["default", "BPE-Standard"], [50_000, 100_000])]

A row is a tokenizer of one size: a preset of ours, a baseline by its name (`lab.baselines`), or a
file. A fresh process trains it, so that its time and memory are its own. Rows are measured on
documents that no tokenizer has learnt from: the ones given, or the ones that training holds out of
the corpus. A finished row is kept (`measure.rows`) and not computed again.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...corpus import open_corpus
from ...corpus.split import digest, held_out_half, is_held_out
from ...formats.peer import Named, open_any
from ...learn.estimate import Estimate, estimate_training
from ...recipe import PRESETS, Recipe
from ...tokenizer import usable_threads
from ...train import train
from ..baselines import (
    BASELINES,
    Documents,
    estimate,
    losses,
    trained,
)
from ..measure.bootstrap import Difference
from ..measure.cost import Speed, speed, spent
from ..measure.counts import Counts, count
from ..measure.figures import figures, paired
from ..measure.rows import Figures, Rows, identity

HELD_OUT = "held out"
_SPEED = 1_000_000  # characters to time encoding on
_LOSSES = 2_000_000  # characters to count losses in

OURS: dict[str, Callable[[int], Recipe]] = {
    name: functools.partial(Recipe.from_preset, name) for name in PRESETS
}


@dataclass(frozen=True)
class Entry:
    """A row to compute. A file has its own size."""

    name: str  # a preset, a baseline or a file
    size: int | None = None

    @property
    def label(self) -> str:
        return self.name if self.size is None else f"{self.name} {self.size:,}"


def entries(
    names: Iterable[str], sizes: Iterable[int], recipes: Iterable[str] = PRESETS
) -> list[Entry]:
    """One entry for each name and size, size by size, and then one for each file."""
    names = list(dict.fromkeys(names))
    learnt = [name for name in names if name in BASELINES or name in recipes]
    files = [name for name in names if name not in learnt]
    for name in files:
        if not Path(name).is_file():
            known = ", ".join([*recipes, *BASELINES])
            raise ValueError(f"{name!r}: neither a file nor a known tokenizer: {known}")
    rows = [Entry(name, size) for size in dict.fromkeys(sizes) for name in learnt]
    return rows + [Entry(name) for name in files]


@dataclass(frozen=True)
class Row:
    """A finished row."""

    entry: Entry
    vocab_size: int
    measured: dict[str, Figures]  # by test: see measure.figures
    counts: dict[str, Counts]
    seconds: float | None  # of training; None for files
    peak_bytes: int | None
    lossy: str  # why the tokenizer loses text, or empty
    losses: Figures | None
    path: Path


class Bench:
    """A corpus, the documents to measure on, and the finished rows."""

    def __init__(
        self,
        corpus: list[Path],
        folder: Path,
        *,
        tests: Mapping[str, list[str]] | None = None,
        first: Mapping[str, int] | None = None,
        recipes: Mapping[str, Callable[[int], Recipe]] = OURS,
        threads: int | None = None,
        again: bool = False,
        checkout: Path | None = None,
        cache: Path | None = None,
    ) -> None:
        """`tests`: documents by name; without them, measure on the documents that training holds
        out, and train no baseline on those. `first`: the number of documents that a baseline learns
        from, if not all. `recipes`: ours, by name. `cache`: the folder of trained baselines, if
        several benches share it."""
        self.corpus, self.folder, self.threads = corpus, folder, threads
        self.recipes, self.cache = recipes, cache or folder / "baselines"
        self.first = dict(first or {})
        self.rows = Rows(folder, again, checkout)
        self._given = None if tests is None else dict(tests)

    @functools.cached_property
    def tests(self) -> dict[str, list[str]]:
        return self._given or {HELD_OUT: held_out(self.corpus)}

    @functools.cached_property
    def learnt_from(self) -> Figures:
        """The corpus that baselines learn from: its digest, documents and bytes."""
        return _documents(self.corpus, self._given is None).facts

    def estimate(self, entry: Entry) -> Estimate:
        """Time and memory to train a row, within a factor of two."""
        if entry.size is None:
            return Estimate(0.0, 0)
        size = self.learnt_from["bytes"]
        if entry.name in self.recipes:
            recipe = self.recipes[entry.name](entry.size)
            return estimate_training(size, recipe, usable_threads(self.threads))
        share = self.first.get(entry.name, self.learnt_from["documents"])
        part = min(1.0, share / max(1, self.learnt_from["documents"]))
        return estimate(entry.name, int(size * part), entry.size)

    def is_done(self, entry: Entry) -> bool:
        return self.rows.has(self._asked(entry))

    def row(self, entry: Entry) -> Row:
        """Train and measure a row, or return the finished one."""
        found = self.rows.get(self._asked(entry), lambda: self._compute(entry))
        paths = {name: self._counts(entry, name) for name in self.tests}
        for path in paths.values():
            if not path.exists():
                raise ValueError(
                    f"{path}: the counts of the row {entry.label} are missing; run with --again"
                )
        counts = {name: Counts.load(path) for name, path in paths.items()}
        return Row(entry=entry, counts=counts, **found | {"path": Path(found["path"])})

    def _asked(self, entry: Entry) -> Figures:
        asked: Figures = {
            "row": entry.label,
            "corpus": self.learnt_from,
            "tests": {name: _digest(texts) for name, texts in self.tests.items()},
        }
        if entry.size is None:
            return asked | {"file": identity(Path(entry.name))}
        if entry.name in self.recipes:
            return asked | {"recipe": self.recipes[entry.name](entry.size).to_dict()}
        settings = dict(BASELINES[entry.name].settings)
        return asked | {"settings": settings, "first": self.first.get(entry.name)}

    def _compute(self, entry: Entry) -> Figures:
        made = self._trained(entry)
        peer = open_any(made["path"])
        measured = {}
        for name, texts in self.tests.items():
            counts = count(peer, texts, self.threads)
            self._counts(entry, name).parent.mkdir(parents=True, exist_ok=True)
            counts.save(self._counts(entry, name))
            measured[name] = figures(counts)
        lossy = BASELINES[entry.name].loses if entry.name in BASELINES else ""
        lost = asdict(losses(peer, some(next(iter(self.tests.values())), _LOSSES)))
        return {"vocab_size": peer.vocab_size, "measured": measured, "lossy": lossy,
                "losses": lost, **made}  # fmt: skip

    def _trained(self, entry: Entry) -> Figures:
        if entry.size is None:
            return {"seconds": None, "peak_bytes": None, "path": entry.name}
        if entry.name in self.recipes:
            path = self.folder / f"{entry.name}-{entry.size}-{self._key(entry)}.json"
            recipe = self.recipes[entry.name](entry.size)
            done = spent(_train_ours, self.corpus, recipe, path, self.threads)
            return {"seconds": done.seconds, "peak_bytes": done.peak_bytes, "path": str(path)}
        done = spent(
            _train_baseline, self.corpus, self._given is None, entry.name, entry.size,
            self.cache, self.first.get(entry.name),
        )  # fmt: skip
        made: Figures = done.result
        return made

    def _counts(self, entry: Entry, test: str) -> Path:
        return self.folder / "counts" / f"{self._key(entry, test)}.npz"

    def _key(self, entry: Entry, *more: str) -> str:
        """A digest of all that a row depends on: a folder may hold rows of several corpora."""
        asked = json.dumps([self._asked(entry), *more], sort_keys=True)
        return hashlib.sha256(asked.encode()).hexdigest()[:16]

    def speeds(self, rows: list[Row]) -> dict[str, Speed]:
        """Encoding speed by label: all take turns on the same text, on one thread."""
        texts = some(next(iter(self.tests.values())), _SPEED)
        return speed([Named(row.entry.label, open_any(row.path)) for row in rows], texts)


def compared(row: Row, reference: Row, test: str) -> Difference | None:
    """How much denser a row is than another on the same documents; None for itself."""
    if row is reference:
        return None
    return paired(row.counts[test], reference.counts[test])


# --- Texts -----------------------------------------------------------------------------------


class NotHeldOut(Documents):
    """The documents that training does not hold out."""

    def __iter__(self) -> Iterator[str]:
        return (text for text in super().__iter__() if not is_held_out(digest(text)))


def _documents(corpus: list[Path], without_held_out: bool, first: int | None = None) -> Documents:
    return (NotHeldOut if without_held_out else Documents)(corpus, first)


def held_out(corpus: list[Path], *, measuring: bool = True) -> list[str]:
    """The half of the held-out documents that decides nothing, or the half that decides."""
    with open_corpus(corpus) as texts:
        documents = held_out_half(texts, measuring=measuring)
    if not any(documents):
        raise ValueError(
            "the corpus has too few documents to hold any out: add some (for `supratok bench`, or"
            " pass others with --test)"
        )
    return documents


def _digest(texts: list[str]) -> str:
    found = hashlib.sha256()
    for text in texts:
        found.update(f"{len(text)}:".encode() + text.encode())
    return found.hexdigest()


def some(texts: list[str], characters: int) -> list[str]:
    """The first documents that have so many characters together; at least one."""
    chosen: list[str] = []
    for text in texts:
        if chosen and characters < len(text):
            break
        chosen.append(text)
        characters -= len(text)
    return chosen


# --- In a fresh process ----------------------------------------------------------------------


def _train_ours(corpus: list[Path], recipe: Recipe, path: Path, threads: int | None) -> None:
    train(corpus, recipe, threads, progress=False).save(path)


def _train_baseline(
    corpus: list[Path], without_held_out: bool, name: str, size: int, cache: Path, first: int | None
) -> dict[str, Any]:
    done = trained(name, _documents(corpus, without_held_out, first), size, cache)
    made = {name: done.made[name] for name in ("seconds", "peak_bytes")}
    return made | {"path": str(done.path)}
