"""The merge loop, which learns tokens, and the two rules that encode with them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from ..recipe import Recipe

# A symbol is the units that it was joined from: characters in the traditional pass, words in the
# multiword pass. Two symbols may have the same text.
Symbol = tuple[str, ...]


class Join(NamedTuple):
    """One step of the merge loop: two neighbours, and how often they were seen side by side."""

    left: Symbol
    right: Symbol
    count: int  # type: ignore[assignment]  # and not the method of tuples

    @property
    def symbol(self) -> Symbol:
        return self.left + self.right

    @property
    def text(self) -> str:
        return "".join(self.symbol)


def merge_loop(
    sequences: Counter[tuple[str, ...]],
    merges: int,
    min_count: int,
    may_join: Callable[[Symbol, Symbol], bool],
    admits: Callable[[Symbol, Symbol, int], bool] = lambda left, right, count: True,
) -> tuple[list[Join], Counter[Symbol]]:
    """Join the most frequent pair of neighbours, again and again.

        l o w (5 times), l o w e r (2 times)   ->   lo w (5), lo w e r (2)   ->   low (5), ...

    Ties go to the shorter text, then to code-point order, then to the shorter left part. A pair
    that `admits` refuses when it first appears never joins. Returns the joins, and how often each
    symbol occurs in the sequences after them."""
    learnt: list[Join] = []
    admitted: dict[tuple[Symbol, Symbol], bool] = {}
    rows: list[tuple[list[Symbol], int]] = [
        ([(unit,) for unit in sequence], count) for sequence, count in sequences.items()
    ]
    while len(learnt) < merges:
        pairs: Counter[tuple[Symbol, Symbol]] = Counter()
        for row, count in rows:
            for pair in itertools.pairwise(row):
                pairs[pair] += count
        allowed = [
            Join(*pair, count)
            for pair, count in pairs.items()
            if count >= min_count and may_join(*pair)
            if admitted.setdefault(pair, admits(*pair, count))
        ]
        if not allowed:
            break
        best = min(allowed, key=order)
        learnt.append(best)
        rows = [(joined(row, best), count) for row, count in rows]
    uses: Counter[Symbol] = Counter()
    for row, count in rows:
        for symbol in row:
            uses[symbol] += count
    return learnt, uses


def order(join: Join) -> tuple[int, int, str, int]:
    text, left = join.text, "".join(join.left)
    return -join.count, len(text.encode()), text, len(left.encode())


def joined(row: list[Symbol], join: Join) -> list[Symbol]:
    """The row with the pair joined, leftmost first."""
    out: list[Symbol] = []
    place = 0
    while place < len(row):
        if row[place] == join.left and row[place + 1 : place + 2] == [join.right]:
            out.append(join.symbol)
            place += 2
        else:
            out.append(row[place])
            place += 1
    return out


def learnt_size(recipe: Recipe) -> int:
    """How large a vocabulary training learns, before it prunes."""
    fewest = recipe.segmentation == "fewest"
    return int(recipe.vocab_size * recipe.oversize) if fewest else recipe.vocab_size


class Words(NamedTuple):
    """The result of the traditional pass. It learns to the full size, and all its joins compete
    with phrases for the room."""

    alphabet: list[str]
    joins: list[Join]
    room: int  # how many tokens the two passes learn together

    def first(self, keep: int) -> list[str]:
        """The tokens, where so many joins are kept."""
        return self.alphabet + [join.text for join in self.joins[:keep]]


# --- Encoding


def ranks_of(texts: list[str]) -> dict[str, int]:
    return {text: rank for rank, text in enumerate(texts)}


def segment(text: str, ranks: dict[str, int], recipe: Recipe) -> list[str]:
    """Cut a text into tokens by the rule of the recipe; an unknown character is a piece too."""
    if recipe.segmentation == "merges":
        return encode_by_merges(text, ranks)
    return encode_by_fewest(text, set(ranks))


def encode_by_merges(text: str, ranks: dict[str, int]) -> list[str]:
    """Join the neighbours whose joined text has the lowest rank, leftmost first, until none has.

    Ranks ab, bc, abc, cd: "abcd" -> ab c d -> abc d."""
    pieces = list(text)
    while True:
        joins = [
            (ranks[left + right], place)
            for place, (left, right) in enumerate(zip(pieces, pieces[1:], strict=False))
            if left in ranks and right in ranks and left + right in ranks
        ]
        if not joins:
            return pieces
        _, place = min(joins)
        pieces[place : place + 2] = [pieces[place] + pieces[place + 1]]


def reachable(texts: list[str], base: list[str], recipe: Recipe) -> list[str]:
    """Those of the texts that encode to themselves, ranked behind `base`. Under `fewest` all do."""
    if recipe.segmentation == "fewest":
        return texts
    ranks = ranks_of([*base, *texts])
    return [text for text in texts if encode_by_merges(text, ranks) == [text]]


def encode_by_fewest(text: str, tokens: set[str]) -> list[str]:
    """The fewest tokens; of equals, at each end the longest last token. An unknown character is a
    piece that takes as many tokens as it has bytes.

    Tokens ab, abc, cd: "abcd" -> ab cd, and not abc d."""
    best: list[tuple[int, int]] = [(0, 0)]  # by end: the number of tokens, the last one's start
    longest = max(map(len, tokens), default=1)
    for end in range(1, len(text) + 1):
        starts = range(max(0, end - longest), end)
        fits = [(best[start][0] + 1, start) for start in starts if text[start:end] in tokens]
        if (char := text[end - 1]) not in tokens:
            fits.append((best[end - 1][0] + len(char.encode()), end - 1))
        best.append(min(fits))
    pieces: list[str] = []
    end = len(text)
    while end:
        start = best[end][1]
        pieces.append(text[start:end])
        end = start
    return pieces[::-1]
