"""Refinement, surgery to convergence: pairs that would save more replace tokens that save little.

A round encodes the training text and counts tokens and neighbours. Joining a frequent pair saves a
token at each of its places; dropping a token costs the tokens that replace it. Rounds go on while
swaps save tokens on held-out text:

    used       " perspicacious" 12 times (3 tokens without it: costs 24)
    neighbours " as"+" well as" 310 times (saves 310)          -> swap

With a target (learn/target.py) its pairs are candidates too, and its uses weigh in each swap.

Under `fewest` any learnt token may go. Under `merges` only a leaf may: a token that no other is
made of; and a new token goes to the end of the list, so that no earlier token changes. There, if
the recipe asks for a share of the saving (`saving`), a phrase must save as many times what a word
saves as it did at the crossover: refinement does not bring back what the recipe left out.

Invariants, after each round: the number of tokens and the alphabet stay; each token encodes to
itself; under `merges` only leaves went. The rounds end when one accepts nothing, or saves no tokens
on the text that decides (held-out text and the target, by their shares); such a round is undone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..common.progress import Progress
from ..corpus.target import TargetText
from ..readings import Neighbours, TrainingText, Usage
from ..recipe import Recipe
from ..tokenizer import Token, alphabet_size, encoder_of_tokens
from .prune import HELD_OUT_WEIGHT, HeldOutText, prune
from .screen import Read
from .words import are_words, may_be_token

# Choice: ignore pairs rarer than the uses of the weakest tokens (this share of them).
_WEAKEST = 0.02


@dataclass
class Texts:
    """The texts that decide. `read` counts over the training text."""

    read: Read
    held_out: HeldOutText


def refine_tokens(
    tokens: list[Token],
    text: TrainingText,
    recipe: Recipe,
    rounds: int,
    threads: int,
    progress: Progress,
    target: TargetText | None = None,
) -> tuple[list[Token], list[dict[str, Any]]]:
    """`refine` on the training text, and on a target, which counts by the share of the recipe."""
    held_out = HeldOutText.of(text, threads, target, recipe.target_share)
    tokens, facts = refine(tokens, recipe, rounds, Texts(text.read, held_out))
    progress.end(accepted=sum(one["accepted"] for one in facts if one["kept"]))
    return tokens, facts


def refine(
    tokens: list[Token], recipe: Recipe, rounds: int, texts: Texts
) -> tuple[list[Token], list[dict[str, Any]]]:
    """The tokens after up to `rounds` rounds, as many as before, and the facts of each round.

    Without held-out text nothing can be decided, and the tokens stay."""
    facts: list[dict[str, Any]] = []
    before = _Cost.of(tokens, recipe, texts.held_out)
    for _ in range(rounds):
        found = _candidates(tokens, recipe, texts)
        swap = _swap_leaves if recipe.segmentation == "merges" else _swap_any
        changed, accepted = swap(tokens, found, recipe, texts)
        after = _Cost.of(changed, recipe, texts.held_out)
        facts.append(
            {
                "candidates": len(found.joins),
                "accepted": accepted,
                **before.facts("before"),
                **after.facts("after"),
                "kept": bool(accepted and after.total < before.total),
            }
        )
        if not facts[-1]["kept"]:
            break
        tokens, before = changed, after
    return tokens, facts


@dataclass(frozen=True)
class _Cost:
    """The tokens of the texts that decide."""

    held_out: int
    target: int | None
    total: float  # the mean, weighed by characters and by the share of the target

    @classmethod
    def of(cls, tokens: list[Token], recipe: Recipe, texts: HeldOutText) -> _Cost:
        encoder = _encoder(tokens, recipe)
        held_out = int(encoder.usage(texts.texts, texts.threads).sum())
        if (aim := texts.aim) is None:
            return cls(held_out, None, held_out)
        target = aim.tokens(encoder)
        rates = (held_out / _size(texts.texts), target / _size(aim.texts))
        return cls(held_out, target, (1 - aim.share) * rates[0] + aim.share * rates[1])

    def facts(self, when: str) -> dict[str, int]:
        target = {} if self.target is None else {f"target_tokens_{when}": self.target}
        return {f"held_out_tokens_{when}": self.held_out, **target}


def _size(texts: list[str]) -> int:
    return max(1, sum(map(len, texts)))


@dataclass
class _Found:
    """The uses of each token, and the joins of neighbours that may be a token: by falling worth,
    with their counts."""

    uses: NDArray[np.int64]
    joins: dict[str, int] = field(default_factory=dict)
    worth: dict[str, float] = field(default_factory=dict)
    parts: dict[str, tuple[int, int]] = field(default_factory=dict)


def _usage(tokens: list[Token], recipe: Recipe, *, pairs: bool = False) -> Usage:
    texts, counts = [token.text for token in tokens], [token.count for token in tokens]
    return Usage(texts, recipe.segmentation == "fewest", pairs, counts, "refining")


def _encoder(tokens: list[Token], recipe: Recipe) -> _core.Encoder:
    return encoder_of_tokens(tokens, recipe.segmentation == "fewest")


def _candidates(tokens: list[Token], recipe: Recipe, texts: Texts) -> _Found:
    """Two readings: the uses of tokens, then the neighbours that occur as often as the weakest of
    them is used."""
    usage = _usage(tokens, recipe, pairs=True)
    survey = texts.read(usage)
    uses = survey.uses()
    rows = texts.read(Neighbours(usage, survey, _floor(tokens, usage, uses, recipe, texts))).rows()
    worth = (1 + HELD_OUT_WEIGHT) * rows[2]
    if (aim := texts.held_out.aim) is not None:
        seen = aim.neighbours(_usage(tokens, recipe, pairs=True), max(2, recipe.min_count))
        rows, worth = aim.join(rows, seen, 1 + HELD_OUT_WEIGHT)
    found = _Found(uses)
    have = {token.text for token in tokens}
    for left, right, count, value in zip(*(c.tolist() for c in (*rows, worth)), strict=True):
        text = tokens[left].text + tokens[right].text
        if text in have or text in found.joins or not may_be_token(text, recipe, have):
            continue
        found.joins[text], found.worth[text] = count, value
        found.parts[text] = (left, right)
        if len(found.joins) >= len(tokens):
            break
    return found


def _floor(
    tokens: list[Token], usage: Usage, uses: NDArray[np.int64], recipe: Recipe, texts: Texts
) -> int:
    """How often neighbours must occur in the training text: as often as a token that is worth as
    much as the weakest."""
    learnt = np.array([token.born != "alphabet" for token in tokens])
    if not learnt.any():
        return recipe.min_count
    if (aim := texts.held_out.aim) is None:
        weakest = float(np.quantile(uses[learnt], _WEAKEST))
    else:
        worth = texts.held_out.worth(usage.encoder, uses)
        most = (1 + HELD_OUT_WEIGHT) * max(1e-9, 1 - aim.share)
        weakest = float(np.quantile(worth[learnt], _WEAKEST)) / most
    return max(recipe.min_count, int(min(weakest, 1 << 31)))  # the sketch counts no further


def _swap_any(
    tokens: list[Token], found: _Found, recipe: Recipe, texts: Texts
) -> tuple[list[Token], int]:
    """Under `fewest`: add all candidates, count the uses, and drop the least useful."""
    more = tokens + [Token(text, count, "refined") for text, count in found.joins.items()]
    uses = texts.read(_usage(more, recipe)).uses()
    kept = prune(
        [token.text for token in more],
        uses,
        alphabet=alphabet_size(tokens),
        keep=len(tokens),
        held_out=texts.held_out,
    )
    return [more[place] for place in kept], sum(place >= len(tokens) for place in kept)


def _swap_leaves(
    tokens: list[Token], found: _Found, recipe: Recipe, texts: Texts
) -> tuple[list[Token], int]:
    """Under `merges`: the most frequent pair takes the place of the least used leaf, the next pair
    that of the next leaf, while it saves more; except pairs that do not encode to themselves."""
    encoder = _encoder(tokens, recipe)
    price = phrase_price_of(tokens, recipe)
    worth = texts.held_out.worth(encoder, found.uses)
    worth = worth / _prices([token.text for token in tokens], price, recipe)
    values = np.array(list(found.worth.values())) / _prices(list(found.worth), price, recipe)
    value = dict(zip(found.worth, values.tolist(), strict=True))
    leaves = iter(sorted(find_leaves(encoder, tokens), key=lambda place: (worth[place], -place)))
    gone: set[int] = set()
    needed: set[int] = set()
    taken: list[Token] = []
    for text in sorted(value, key=lambda text: -value[text]):
        left, right = found.parts[text]
        if left in gone or right in gone:
            continue
        needed |= {left, right}
        leaf = next((place for place in leaves if place not in needed), None)
        if leaf is None or value[text] <= worth[leaf]:
            break
        gone.add(leaf)
        taken.append(Token(text, found.joins[text], "refined"))
    return _settle(tokens, gone, taken, recipe)


def phrase_price_of(tokens: list[Token], recipe: Recipe) -> float:
    """How many times what a word saves a phrase must save, by the rarest of both; 1 if the recipe
    does not ask for a share of the saving."""
    if recipe.fixed_price is not None or recipe.crossover is not None:
        return 1.0
    rarest = {born: _rarest(tokens, born) for born in ("traditional", "multiword")}
    return max(1.0, rarest["multiword"] / max(1.0, rarest["traditional"]))


def _rarest(tokens: list[Token], born: str) -> float:
    return min((float(token.count) for token in tokens if token.born == born), default=np.inf)


def _prices(texts: list[str], price: float, recipe: Recipe) -> NDArray[np.float64]:
    """The price of a phrase, and 1 for a word or a piece of one."""
    return np.where(are_words(texts, recipe), 1.0, price)


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
