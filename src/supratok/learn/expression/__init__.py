"""The expression pass (paper 3.3, Appendix A): spans of words that earn their place.

    tokens ─held-out text→ spans ─figures→ scores ─rejections→ ─leaf surgery→ tokens

The vocabulary keeps its size: what a span takes, others give. Where there is room left, spans fill
it first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...common import _core
from ...common.progress import Progress
from ...recipe import Recipe
from ...tokenizer import BYTES, Token, alphabet_size
from .spans import Candidates, Documents, find_candidates
from .surgery import Evidence, Patients, Ward, operate, report


def express(
    tokens: list[Token],
    documents: Documents,
    held_out: list[str],
    words: _core.WordTable,
    recipe: Recipe,
    threads: int,
    progress: Progress,
) -> tuple[list[Token], dict[str, Any]]:
    """The tokens after the pass, and what it did.

    `documents` gives a fresh reading of the training documents, `words` is the table of their
    words."""
    options = recipe.expressions
    if options is None or not held_out:
        return tokens, {}
    ward = Ward(
        tokens,
        np.zeros(len(tokens)),
        alphabet=alphabet_size(tokens),
        size=max(len(tokens), recipe.vocab_size - len(recipe.special_tokens) - BYTES),
        fewest=recipe.segmentation == "fewest",
        options=options,
        evidence=Evidence(held_out, threads, options.training_share),
    )
    encoder = ward.encoder()
    found = find_candidates(words, held_out, documents, encoder, recipe, options, threads, progress)
    progress.start("surgery")
    ward.evidence.scale = sum(map(len, held_out)) / max(1, found.training_characters)
    if options.training_share:
        survey = _core.Survey(encoder, 0)
        survey.count(documents(), threads)
        ward.uses = survey.uses().astype(np.float64)
    tokens = operate(ward, _patients(found, options.training_share, ward.evidence.scale))
    progress.end(accepted=ward.facts["accepted"], displaced=ward.facts["displaced"])
    return tokens, found.report | report(ward)


def _patients(found: Candidates, share: float, scale: float) -> Patients:
    """The spans with the counts of A(s): of held-out text, mixed with the training text's."""
    spans = found.spans
    return Patients(
        found.texts,
        spans.counts,
        spans.held_out_counts,
        spans.held_out_documents,
        (1 - share) * spans.held_out_counts + share * scale * spans.counts,
        (1 - share) * spans.held_out_documents + share * scale * found.documents,
        found.scores.s,
    )
