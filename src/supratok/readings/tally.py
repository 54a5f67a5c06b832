"""Count a part of the text into a counts file, on the machine where the text is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..common.progress import Progress
from ..corpus import Corpus, open_corpus
from ..corpus.remote import is_url
from ..corpus.split import HOLD_OUT
from ..counts import About, write_counts
from ..recipe import Curation, Recipe
from .first import FirstReading
from .local import Keeping, LocalText
from .plans import fingerprint
from .reading import Reading


@dataclass(frozen=True)
class Part:
    """Some files of a corpus, how to read them, and which of their documents train."""

    files: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)  # of `open_corpus`
    curation: Curation | None = None  # with thresholds in bits
    hold_out: float = HOLD_OUT
    limit: int | None = None  # of the sample of the whole corpus

    def open(self) -> Corpus:
        # As paths: a missing file is refused, and never read as a text.
        corpus = open_corpus([Path(name) for name in self.files], **self.options)
        if self.limit is not None:
            corpus.limit = self.limit
        return corpus


def parts_of(
    corpus: Corpus, options: Mapping[str, Any], curation: Curation | None, hold_out: float
) -> list[tuple[Part, int]]:
    """A part for each file, with its size: files are what tasks divide among themselves."""
    options = {**options, "max_documents": None, "max_bytes": None}  # the limit stands for them
    return [
        (
            Part((absolute(str(name)),), options, curation, hold_out, corpus.limit),
            size if isinstance(size, int) else 0,
        )
        for name, size, _ in corpus.identity()
    ]


def absolute(name: str) -> str:
    """The name of a file, for a process that works in another folder."""
    return name if is_url(name) else str(Path(name).absolute())


def tally_words(
    part: Part, recipe: Recipe, out: Path, threads: int, progress: Progress, keeping: Keeping
) -> FirstReading:
    """The first reading of a part, as a counts file."""
    with part.open() as corpus:
        sources = _sources(corpus)
        first = _text(part, corpus, threads, progress, keeping).count_first(recipe)
        write_counts(out, first.about(sources), first.members())
    return first


def tally(
    part: Part,
    reading: Reading[Any],
    out: Path,
    threads: int,
    progress: Progress,
    keeping: Keeping,
) -> None:
    """A later reading of a part, as a counts file."""
    with part.open() as corpus:
        about = About(reading.phase, fingerprint(reading), _sources(corpus))
        table = _text(part, corpus, threads, progress, keeping).read(reading)
        write_counts(out, about, reading.members(table))


def _text(
    part: Part, corpus: Corpus, threads: int, progress: Progress, keeping: Keeping
) -> LocalText:
    keeping = replace(keeping, reread=True)  # each text is read once here
    return LocalText(
        corpus, part.curation, threads, progress,
        hold_out=part.hold_out, is_part=True, keeping=keeping,
    )  # fmt: skip


def _sources(corpus: Corpus) -> dict[str, str]:
    """What is counted, by an identity: the same text must not count twice."""
    found = corpus.identity()
    codes = (hashlib.sha256(json.dumps(one[:2]).encode()).hexdigest()[:16] for one in found)
    return dict(zip(codes, (str(one[0]) for one in found), strict=True))
