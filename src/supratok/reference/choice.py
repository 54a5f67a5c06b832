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
    """The phrases for the room behind `keep`; `keep`, which grows where they are too few; and
    whether the joins learnt were enough to choose from.

    Choice: where some may be dropped, the pool is a twentieth larger. Words take the places that
    stay free."""
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
    """The joins whose words are all tokens, whose text is new, and which encode to themselves under
    the merges rule."""
    known, new = set(base), dict[str, Join]()
    made: dict[str, bool] = {}  # by text: whether all words it was joined from are tokens
    for join in learnt:
        made[join.text] = made.get(join.left, join.left in known) and made.get(
            join.right, join.right in known
        )
        if join.text not in known and made[join.text]:
            new.setdefault(join.text, join)
    return [new[text] for text in reachable(list(new), base, recipe)]


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
        join.text
        for join in pool
        if spread[join.text] >= documents and bounds.get(join.text, 0.0) >= bits
    }
    for join in reversed(learnt):
        if join.text in stays:
            stays |= {join.left, join.right}
    return [join for join in pool if join.text in stays]


def boundary_bits(encoded: list[list[str]], known: set[str]) -> dict[str, float]:
    """The boundary entropy of each token: of the tokens before it or of those after it, the lesser.
    " in order" is nearly always followed by " to", and ends at no boundary.

    Choice: each edge of a document or a line counts as a neighbour seen once; so does a byte. Where
    phrases are very frequent, the fast code counts rare neighbours in lots."""
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
