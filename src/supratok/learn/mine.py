"""Mine a corpus for phrases that hold together, with their figures (paper 3.3).

for phrase in mine("corpus/*.jsonl", Seeds(min_count=50)):
    print(phrase.text, phrase.count, phrase.pmi)
"""

from __future__ import annotations

import dataclasses
from typing import Any

from ..common.progress import Progress, make_progress
from ..common.threads import usable_threads
from ..corpus import Corpus, Source, open_corpus
from ..readings import LocalText, Units
from ..recipe import Recipe, Seeds
from .runs import count_runs
from .seeds import Phrase, mine_runs, total_words


def mine(
    documents_or_paths: Source,
    seeds: Seeds | None = None,
    recipe: Recipe | None = None,
    threads: int | None = None,
    progress: bool | Progress = True,
    **reading: Any,
) -> list[Phrase]:
    """The phrases, most frequent first. `seeds`: the limits (default: the paper's); `recipe` says
    which boundaries a phrase may cross. `reading`: see `open_corpus`."""
    workers = usable_threads(threads)
    with open_corpus(documents_or_paths, **reading) as corpus, make_progress(progress) as shown:
        return mine_corpus(corpus, seeds or Seeds(), recipe or Recipe(), workers, shown)[0]


def mine_corpus(
    corpus: Corpus, seeds: Seeds, recipe: Recipe, threads: int, progress: Progress
) -> tuple[list[Phrase], dict[str, Any]]:
    """The phrases and a report. Reads the whole corpus twice: counts its words, then the runs
    (stretches) of frequent words."""
    recipe = dataclasses.replace(recipe, curation=None)
    text = LocalText(corpus, None, threads, progress, hold_out=0)
    words, _ = text.words(recipe)
    known, counts = words.rows(seeds.min_count)
    floor = min(seeds.min_count, 1 << 31)  # the sketch counts no further
    runs, _ = count_runs(text, words, Units(recipe, known), floor)
    progress.start("phrases")
    phrases, report = mine_runs(runs, known, counts, total_words(words), seeds)
    progress.end(phrases=len(phrases))
    return phrases, report | {"skipped": text.totals.skipped}
