"""Which phrases of the multiword pass become tokens.

A merge becomes a token if its words are complete at the crossover, if it encodes to itself, and if
the screen accepts it: it is used in enough documents and ends at boundaries. If too few phrases
remain to fill the vocabulary, words take the free places, and the crossover moves back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..common.progress import Progress
from ..readings import TrainingText
from ..recipe import Recipe
from .merging import PhraseMerges, encodable
from .screen import Wanted
from .traditional import Words
from .words import are_words


@dataclass
class Chooser:
    """Chooses among the merges; `facts` says what it dropped."""

    words: Words
    merges: PhraseMerges
    text: TrainingText
    recipe: Recipe
    threads: int
    progress: Progress
    facts: dict[str, Any] = field(default_factory=dict)

    def choose(self, crossover: int) -> tuple[list[int], int, bool]:
        """The phrases that fill the room after the crossover; the crossover, which moves back if
        there are too few of them; and whether there were enough to choose from.

        Choice: if the screen may drop some, consider a twentieth more than needed. Words take the
        places that are still free: phrases further down are rarer than those words."""
        wanted = Wanted.of(self.recipe, self.text.totals.training_documents)
        needed = self.words.room - crossover
        considered = needed + needed // 20 if wanted else needed
        pool = self._usable(crossover, considered)[:considered]
        enough = len(pool) >= considered
        if not wanted:
            return pool, crossover, enough
        chosen = self._screened(crossover, pool, wanted)[:needed]
        return *self._filled(crossover, chosen), enough

    def _usable(self, crossover: int, needed: int) -> list[int]:
        """The phrases that can be tokens; merges more until there are as many as needed. Drops
        those with a word that is complete only after the crossover, those whose text is a token,
        and, under `merges`, those that do not encode to themselves."""
        base, merger = self.words.base(crossover), self.merges.merger
        known, complete = set(base), sum(are_words(base, self.recipe))
        while True:
            texts, rarest = merger.texts(), self.merges.rarest_units()
            chosen = [
                place
                for place in self.merges.first_of_each_text()
                if rarest[place] < complete and texts[place] not in known
            ]
            if self.recipe.segmentation == "merges":
                good = encodable(base, [texts[place] for place in chosen])
                chosen = [chosen[i] for i in good]
            if len(chosen) >= needed or merger.run(needed - len(chosen)) == 0:
                return chosen

    def _screened(self, crossover: int, pool: list[int], wanted: Wanted) -> list[int]:
        """Those of the pool that the screen accepts, and their parts. It judges all by one
        encoding, with the whole pool in it."""
        base, texts = self.words.base(crossover), self.merges.merger.texts()
        entries = base + [texts[place] for place in pool]
        fewest = self.recipe.segmentation == "fewest"
        spread, bounded = wanted.judge(entries, len(base), fewest, self.text.read)
        stays = self.merges.with_parts(pool[i] for i in np.flatnonzero(spread & bounded))
        gone = np.array([place not in stays for place in pool], dtype=np.bool_)
        if wanted.documents > 1:
            self.facts["too_few_documents"] = int((gone & ~spread).sum())
        if wanted.bits > 0:
            self.facts["blurred_boundaries"] = int((gone & spread).sum())
        self.progress.end(dropped=int(gone.sum()))
        return [place for place in pool if place in stays]

    def _filled(self, crossover: int, chosen: list[int]) -> tuple[list[int], int]:
        """Give free places to words: the phrases that remain, and the new crossover. A new word may
        keep a phrase from encoding to itself, which frees one more place."""
        while True:
            chosen = self._reachable(crossover, chosen)
            missing = self.words.room - crossover - len(chosen)
            if not missing or crossover == len(self.words.texts):
                return chosen, crossover
            crossover = min(crossover + missing, len(self.words.texts))
            usable = set(self._usable(crossover, 0))
            chosen = [place for place in chosen if place in usable]

    def _reachable(self, crossover: int, chosen: list[int]) -> list[int]:
        """Those that encode to themselves, under `merges`, without the dropped ones. Each that goes
        may be a part of another, so repeat until none goes."""
        if self.recipe.segmentation != "merges":
            return chosen
        base, texts = self.words.base(crossover), self.merges.merger.texts()
        while len(good := encodable(base, [texts[place] for place in chosen])) < len(chosen):
            chosen = [chosen[i] for i in good]
        return chosen
