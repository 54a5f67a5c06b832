"""Shared by target, target_share and leaking: what the training text teaches is learnt once, and
tokens are chosen from it again and again, by recipes that differ in who decides.

    taught = Taught(corpus, Recipe.dense(100_000), threads)
    with_target = taught.tokenizer(target=target, target_share=0.2)
    without = taught.tokenizer()

The tokens are those of `supratok.train` (tests/runs/test_target_runs.py).
"""

from __future__ import annotations

import contextlib
import functools
import sys
import time
from dataclasses import replace
from types import TracebackType
from typing import Any

from rows import percent, ratio
from supratok import Recipe, Tokenizer
from supratok.common import _core
from supratok.common.progress import make_progress
from supratok.common.threads import usable_threads
from supratok.corpus import Source, open_corpus
from supratok.corpus.target import TargetText
from supratok.learn.merging import Learnt
from supratok.readings import TrainingText
from supratok.readings.open import open_text
from supratok.train import choose_tokens, learn_tokens


class Taught(contextlib.AbstractContextManager["Taught"]):
    """What a corpus teaches by a recipe; nothing is read before the first tokenizer."""

    def __init__(self, corpus: Source, recipe: Recipe, threads: int | None) -> None:
        self.recipe = recipe
        self._corpus, self._threads = corpus, usable_threads(threads)
        self._open = contextlib.ExitStack()

    @functools.cached_property
    def _read(self) -> tuple[TrainingText, Learnt, _core.WordTable]:
        enter = self._open.enter_context
        self._shown = enter(make_progress(sys.stderr.isatty()))
        corpus = enter(open_corpus(self._corpus))
        text = enter(open_text(corpus, self.recipe, {}, self._threads, self._shown, hold_out=0.05))
        return (text, *learn_tokens(text, self.recipe, self._threads, self._shown))

    @property
    def text(self) -> TrainingText:
        return self._read[0]

    @property
    def learnt(self) -> Learnt:
        return self._read[1]

    @property
    def words(self) -> _core.WordTable:
        return self._read[2]

    def tokenizer(
        self, learnt: Learnt | None = None, target: TargetText | None = None, **changes: Any
    ) -> Tokenizer:
        """The tokenizer whose tokens are chosen from `learnt`, by the recipe with these changes;
        they must not touch what was learnt."""
        text, taught, words = self._read
        recipe = replace(self.recipe, **changes)
        tokens, _ = choose_tokens(
            learnt or taught, words, text, recipe, target, self._threads, self._shown
        )
        return Tokenizer(tokens, recipe)

    @functools.cached_property
    def plain(self) -> Tokenizer:
        """Without a target."""
        return self.tokenizer()

    def gain(self, target: TargetText, share: float) -> dict[str, float]:
        """Characters per token on the half of a target that measures and on held-out documents,
        with the target and without; and the seconds that choosing by it took."""
        plain, began = self.plain, time.monotonic()
        aimed = self.tokenizer(target=target, target_share=share)
        found = {"seconds": time.monotonic() - began}
        held_out = self.text.measuring_texts()
        for which, texts in (("measuring", target.measuring), ("held_out", held_out)):
            for kind, one in (("with", aimed), ("without", plain)):
                tokens = int(one.usage(texts, self._threads).sum())
                found[f"{which} {kind}"] = ratio(texts, tokens)
        return found

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.__exit__(kind, error, trace)


def sizes(target: TargetText) -> list[str]:
    """The characters of both halves, as cells."""
    return [f"{sum(map(len, half)):,}" for half in (target.deciding, target.measuring)]


def cells(row: dict[str, float]) -> list[str]:
    """Of both texts: characters per token without the target and with it, and the change."""
    found = []
    for which in ("measuring", "held_out"):
        before, after = row[f"{which} without"], row[f"{which} with"]
        found += [f"{before:.3f}", f"{after:.3f}", percent(after, before)]
    return [*found, f"{row['seconds']:.0f}"]
