"""Logits processors: what engines take that have `logits_processor` and nothing else.

They follow the protocol of `transformers` (input_ids and scores to scores) and need nothing of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..tokenizer import Tokenizer
from .chances import Prompt
from .masks import Masks
from .reading import Ids, Tensor, torch


class CanonicalLogits:
    """Keeps generation canonical: ids that may not come next get the logit -inf, so that all ids
    together are what `encode` gives for their text. Special tokens always may come.

    >>> model.generate(ids, logits_processor=[CanonicalLogits(tokenizer)])      # doctest: +SKIP

    `begun`: the ids of each row at the first call, without padding; then one object serves one
    call of `generate`. It need not be given if the padding is a special token."""

    def __init__(self, tokenizer: Tokenizer, begun: Sequence[Sequence[int]] | None = None) -> None:
        self._masks, self._begun = Masks(tokenizer), begun
        self._width: int | None = None

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        rows = input_ids.tolist()
        if self._begun is not None:
            width = self._width = self._width or input_ids.shape[1]
            times = len(rows) // len(self._begun)  # beams have several rows of each prompt
            rows = [[*self._begun[at // times], *row[width:]] for at, row in enumerate(rows)]
        may = [self._masks.after(ids, scores[row]) for row, ids in enumerate(rows)]
        return scores.masked_fill(~torch.stack(may), -math.inf)


class ApproximateHealing:
    """Approximate, since it weighs no covers against each other: it masks step by step, so a first
    id counts by its own probability, not by that of the whole prompt behind it. `begin` is exact.

    It makes each text begin with its prompt, also where the prompt ends inside a token. The engine
    starts from `ids`, the ids of each prompt that nothing can change, and may only choose what
    spells the rest:

    >>> healing = ApproximateHealing(tokenizer, ["in New"])      # doctest: +SKIP
    >>> model.generate(tensor(healing.ids), logits_processor=[healing])      # doctest: +SKIP

    One object serves one call: it takes the first width that it sees for that of the beginning."""

    def __init__(
        self, tokenizer: Tokenizer, prompts: Sequence[str], *, allow_special: bool = False
    ) -> None:
        self._tokenizer = tokenizer
        self._prompts = [Prompt(tokenizer, text, allow_special) for text in prompts]
        self.ids = [prompt.stable for prompt in self._prompts]
        self._width: int | None = None

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        if self._width is None:
            self._width = input_ids.shape[1]
        times = max(1, len(scores) // len(self._prompts))
        scores = scores.clone()
        for row, ids in enumerate(input_ids[:, self._width :].tolist()):
            allowed = self._allowed(self._prompts[row // times], tuple(ids))
            if allowed:
                kept = scores[row, allowed].clone()
                scores[row] = -math.inf
                scores[row, allowed] = kept
        return scores

    def _allowed(self, prompt: Prompt, node: Ids) -> list[int]:
        """What may come behind the ids that were chosen so far; nothing: whatever will."""
        found = set[int]()
        for cover in prompt.covers:
            tail = prompt.tail(cover)
            if tail == node and cover.rest:
                found.update(self._tokenizer.may_come(cover).tolist())
            elif len(tail) > len(node) and tail[: len(node)] == node:
                found.add(tail[len(node)])
        return sorted(found)
