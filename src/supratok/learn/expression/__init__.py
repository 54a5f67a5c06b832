"""The expression pass (paper 3.3, Appendix A): spans of words that earn their place.

    tokens ─held-out text→ spans ─figures→ scores ─rejections→ ─leaf surgery→ tokens

The vocabulary keeps its size: a span replaces other tokens. If there is free room, spans fill it
first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...common import _core
from ...common.progress import Progress
from ...corpus.target import TargetText
from ...readings import TrainingText
from ...recipe import Recipe
from ...tokenizer import Token, alphabet_size
from .deciding import Deciding
from .spans import Documents, ScoredSpans, find_candidates
from .surgery import Candidates, Surgery, Usage


def learn_expressions(
    tokens: list[Token],
    words: _core.WordTable,
    text: TrainingText,
    recipe: Recipe,
    threads: int,
    progress: Progress,
    target: TargetText | None = None,
) -> tuple[list[Token], dict[str, Any]]:
    """`express` on the training text, and on a target, which counts by the share of the recipe."""
    return express(
        tokens,
        lambda: text.again("expressions"),
        Deciding.of(text.deciding_texts(), target, recipe.target_share),
        words,
        recipe,
        threads,
        progress,
    )


def express(
    tokens: list[Token],
    documents: Documents,
    held_out: Deciding,
    words: _core.WordTable,
    recipe: Recipe,
    threads: int,
    progress: Progress,
) -> tuple[list[Token], dict[str, Any]]:
    """The tokens after the pass, and facts for the report.

    `documents` starts a new reading of the training documents, `words` counts their words."""
    options = recipe.expressions
    if options is None or not held_out.texts:
        return tokens, {}
    surgery = Surgery(
        tokens,
        np.zeros(len(tokens)),
        alphabet=alphabet_size(tokens),
        size=max(len(tokens), recipe.room(recipe.vocab_size)),
        fewest=recipe.segmentation == "fewest",
        options=options,
        usage=Usage(held_out, threads, options.training_share),
    )
    encoder = surgery.encoder()
    found = find_candidates(words, held_out, documents, encoder, recipe, options, threads, progress)
    progress.start("surgery")
    surgery.usage.scale = held_out.characters / max(1, found.training_characters)
    if options.training_share:
        survey = _core.Survey(encoder, 0)
        survey.count(documents(), threads)
        surgery.uses = survey.uses().astype(np.float64)
    tokens = surgery.run(_candidates(found, options.training_share, surgery.usage.scale))
    progress.end(accepted=surgery.facts["accepted"], displaced=surgery.facts["displaced"])
    return tokens, found.report | surgery.report()


def _candidates(found: ScoredSpans, share: float, scale: float) -> Candidates:
    """The spans with the counts of A(s): of held-out text, mixed with the training text's."""
    spans = found.spans
    return Candidates(
        found.texts,
        spans.counts,
        spans.held_out_counts,
        spans.held_out_documents,
        (1 - share) * spans.held_out_counts + share * scale * spans.counts,
        (1 - share) * spans.held_out_documents + share * scale * found.documents,
        found.scores.s,
    )
