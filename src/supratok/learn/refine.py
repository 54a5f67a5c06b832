"""Surgery to convergence: tokens that save little give their places to pairs that would save more.

A round looks at the training text as it is encoded now: which tokens are used how often, and which
stand side by side how often. Joining a frequent pair saves a token at each of its places; dropping
a token costs what its text takes without it. Rounds go on while swaps save tokens on held-out text:

    used     " perspicacious" 12 times (3 tokens without it: costs 24)
    neighbours " as"+" well as" 310 times (saves 310)          -> swap

Under `fewest` any learnt token may go. Under `merges` only a leaf may: a token that no other is
made of; and a new token goes to the end of the list, so that nothing made before it changes.

Invariants, after each round: there are exactly as many tokens as before; the alphabet is the same;
each token encodes to itself; under `merges` only leaves are gone. The rounds end when one accepts
nothing, or does not save tokens on the held-out text that decides; such a round is taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..recipe import Recipe
from ..tokenizer import Token, alphabet_size, encoder_of_tokens
from .count import SKETCH_BITS
from .prune import HELD_OUT_WEIGHT, HeldOutText, prune
from .words import may_be_token

# Choice: pairs rarer than what the weakest tokens (this share of them) save are not looked at.
_WEAKEST = 0.02


@dataclass
class Evidence:
    """The text that surgery decides by. `documents` starts a fresh reading of the training text."""

    documents: Callable[[], Iterable[str]]
    held_out: HeldOutText

    @property
    def threads(self) -> int:
        return self.held_out.threads


def refine(
    tokens: list[Token], recipe: Recipe, rounds: int, evidence: Evidence
) -> tuple[list[Token], list[dict[str, Any]]]:
    """The tokens after up to `rounds` rounds, as many as before, and what each round did.

    Without held-out text nothing can be decided, and the tokens stay as they are."""
    story: list[dict[str, Any]] = []
    before = _held_out_tokens(tokens, recipe, evidence)
    for _ in range(rounds):
        found = _candidates(tokens, recipe, evidence)
        swap = _swap_leaves if recipe.segmentation == "merges" else _swap_any
        changed, accepted = swap(tokens, found, recipe, evidence)
        after = _held_out_tokens(changed, recipe, evidence)
        story.append(
            {
                "candidates": len(found.joins),
                "accepted": accepted,
                "held_out_tokens_before": before,
                "held_out_tokens_after": after,
                "kept": bool(accepted and after < before),
            }
        )
        if not story[-1]["kept"]:
            break
        tokens, before = changed, after
    return tokens, story


@dataclass
class _Found:
    """What a round saw: uses by token, and the joins of neighbours that may be a token."""

    uses: NDArray[np.int64]
    joins: dict[str, int]  # by falling count
    parts: dict[str, tuple[int, int]]


def _encoder(tokens: list[Token], recipe: Recipe) -> _core.Encoder:
    return encoder_of_tokens(tokens, recipe.segmentation == "fewest")


def _held_out_tokens(tokens: list[Token], recipe: Recipe, evidence: Evidence) -> int:
    return int(_encoder(tokens, recipe).usage(evidence.held_out.texts, evidence.threads).sum())


def _candidates(tokens: list[Token], recipe: Recipe, evidence: Evidence) -> _Found:
    """Two readings: the uses of tokens, then the neighbours that are worth as much as the weakest
    of them."""
    encoder = _encoder(tokens, recipe)
    survey = _core.Survey(encoder, SKETCH_BITS)
    survey.count(evidence.documents(), evidence.threads)
    uses = survey.uses()
    learnt = np.array([token.born != "alphabet" for token in tokens])
    weakest = float(np.quantile(uses[learnt], _WEAKEST)) if learnt.any() else 0.0
    neighbours = _core.Neighbours(survey, max(recipe.min_count, int(weakest)))
    neighbours.count(evidence.documents(), evidence.threads)
    found = _Found(uses, {}, {})
    have = {token.text for token in tokens}
    for left, right, count in zip(*(column.tolist() for column in neighbours.rows()), strict=True):
        text = tokens[left].text + tokens[right].text
        if text in have or text in found.joins or not may_be_token(text, recipe, have):
            continue
        found.joins[text] = count
        found.parts[text] = (left, right)
        if len(found.joins) >= len(tokens):
            break
    return found


def _swap_any(
    tokens: list[Token], found: _Found, recipe: Recipe, evidence: Evidence
) -> tuple[list[Token], int]:
    """Under `fewest`: take all candidates in, see what is used, and drop the least useful."""
    more = tokens + [Token(text, count, "refined") for text, count in found.joins.items()]
    survey = _core.Survey(_encoder(more, recipe), 0)
    survey.count(evidence.documents(), evidence.threads)
    kept = prune(
        [token.text for token in more],
        survey.uses(),
        alphabet=alphabet_size(tokens),
        keep=len(tokens),
        held_out=evidence.held_out,
    )
    return [more[place] for place in kept], sum(place >= len(tokens) for place in kept)


def _swap_leaves(
    tokens: list[Token], found: _Found, recipe: Recipe, evidence: Evidence
) -> tuple[list[Token], int]:
    """Under `merges`: the most frequent pair takes the place of the least used leaf, the next that
    of the next, while it saves more. What does not encode to itself afterwards is taken back."""
    encoder = _encoder(tokens, recipe)
    worth = evidence.held_out.worth(encoder, found.uses)
    leaves = iter(sorted(find_leaves(encoder, tokens), key=lambda place: (worth[place], -place)))
    gone: set[int] = set()
    needed: set[int] = set()
    taken: list[Token] = []
    for text, count in found.joins.items():
        left, right = found.parts[text]
        if left in gone or right in gone:
            continue
        needed |= {left, right}
        leaf = next((place for place in leaves if place not in needed), None)
        if leaf is None or (1 + HELD_OUT_WEIGHT) * count <= worth[leaf]:
            break
        gone.add(leaf)
        taken.append(Token(text, count, "refined"))
    return _settle(tokens, gone, taken, recipe)


def _settle(
    tokens: list[Token], gone: set[int], taken: list[Token], recipe: Recipe
) -> tuple[list[Token], int]:
    """The new list, without new tokens that do not encode to themselves; for each of those, the
    earliest of the dropped tokens stays."""
    back = sorted(gone)
    while True:
        stay = [token for place, token in enumerate(tokens) if place not in gone]
        changed = stay + taken
        bad = np.flatnonzero(_encoder(changed, recipe).states()).tolist()
        if not bad:
            return changed, len(taken)
        if any(place < len(stay) for place in bad):
            raise AssertionError(f"surgery broke the token {changed[bad[0]].text!r}")
        refused = {place - len(stay) for place in bad}
        taken = [token for place, token in enumerate(taken) if place not in refused]
        gone -= set(back[: len(refused)])
        back = back[len(refused) :]


def find_leaves(encoder: _core.Encoder, tokens: list[Token]) -> list[int]:
    """The places of the learnt tokens that no other token is made of, under `merges`."""
    used: set[int] = set()
    for place in range(len(tokens)):
        used.update(encoder.parts(place) or ())
    return [
        place
        for place, token in enumerate(tokens)
        if token.born != "alphabet" and place not in used
    ]
