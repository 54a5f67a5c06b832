"""Which of the joins that the multiword pass learnt become tokens.

Phrases fill the room behind the traditional joins that are kept. The screen drops those that few
documents use, and those that end at no boundary.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict

from ..recipe import Recipe
from .merges import Join, Words, ranks_of, reachable, segment


def choose(
    learnt: list[Join], words: Words, keep: int, training: list[str], recipe: Recipe
) -> tuple[list[Join], int, bool]:
    """The phrases that fill the room behind the first `keep` traditional joins; `keep`, which grows
    where phrases are too few; and whether `learnt` was enough to choose from.

    Choice: where the screen may drop phrases, it tests a twentieth more than needed. If too few are
    left, words fill the room: phrases further down are rarer than those words."""
    base, needed = words.first(keep), words.room - keep
    documents, bits = wanted_use(recipe, len(training))
    screened = documents > 1 or bits > 0
    size = needed + needed // 20 if screened else needed
    pool = usable(learnt, base, recipe)[:size]
    enough = len(pool) >= size
    if not screened:
        return pool, keep, enough
    chosen = well_used(pool, base, learnt, training, recipe)[:needed]
    while True:
        while len(good := reachable([join.text for join in chosen], base, recipe)) < len(chosen):
            chosen = [join for join in chosen if join.text in good]
        missing = words.room - keep - len(chosen)
        if not missing or keep == len(words.joins):
            return chosen, keep, enough
        keep = min(keep + missing, len(words.joins))
        base = words.first(keep)
        still = usable(learnt, base, recipe)
        chosen = [join for join in chosen if join in still]


def usable(learnt: list[Join], base: list[str], recipe: Recipe) -> list[Join]:
    """The joins whose words are all tokens, whose text is new, and which encode to themselves."""
    known, first = set(base), dict[str, Join]()
    for join in learnt:
        first.setdefault(join.text, join)
    new = [join.text for join in first.values() if known.issuperset(join.symbol)]
    new = [text for text in new if text not in known]
    return [first[text] for text in reachable(new, base, recipe)]


def wanted_use(recipe: Recipe, documents: int) -> tuple[int, float]:
    """In how many documents a phrase must be used, and how many bits its boundaries must have.
    Choice: never in more than a hundredth of the documents."""
    if recipe.screen is None:
        return 1, 0.0
    least = min(recipe.screen.min_documents, max(1, documents // 100))
    return least, recipe.screen.min_boundary_entropy


def well_used(
    pool: list[Join], base: list[str], learnt: list[Join], training: list[str], recipe: Recipe
) -> list[Join]:
    """The phrases that are used in enough documents and end at boundaries, and their parts. One
    encoding, with the whole pool, decides on all."""
    ranks = ranks_of([*base, *(join.text for join in pool)])
    encoded = [segment(text, ranks, recipe) for text in training]
    spread = Counter(piece for pieces in encoded for piece in set(pieces))
    bounds = boundary_bits(encoded, set(ranks))
    documents, bits = wanted_use(recipe, len(training))
    stays = {
        join.symbol
        for join in pool
        if spread[join.text] >= documents and bounds.get(join.text, 0.0) >= bits
    }
    for join in reversed(learnt):
        if join.symbol in stays:
            stays |= {join.left, join.right}
    return [join for join in pool if join.symbol in stays]


def boundary_bits(encoded: list[list[str]], known: set[str]) -> dict[str, float]:
    """The boundary entropy of each token, in bits: the entropy of the tokens before it, or of those
    after it, whichever is lower. " in order" is nearly always followed by " to": it ends at no
    boundary.

    Choice: each edge of a document or a line is a neighbour that is seen once; so is a byte. Where
    phrases are very frequent, the fast code estimates the share of rare neighbours."""
    beside: dict[tuple[str, int], Counter[object]] = defaultdict(Counter)
    for pieces in encoded:
        for side, row in enumerate((pieces, pieces[::-1])):
            for piece, after in itertools.zip_longest(row, row[1:], fillvalue="\n"):
                plain = after in known and "\n" not in after and "\r" not in after
                beside[piece, side][after if plain else object()] += 1
    bits: dict[str, float] = {}
    for (piece, _), counts in beside.items():
        shares = [count / counts.total() for count in counts.values()]
        # Rounded, so that what is equal on paper is equal here.
        entropy = round(sum(share * -math.log2(share) for share in shares), 9)
        bits[piece] = min(entropy, bits.get(piece, math.inf))
    return bits
