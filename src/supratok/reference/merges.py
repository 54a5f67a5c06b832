"""The merge loop, which learns tokens, and the two rules that encode with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from ..recipe import Recipe

Symbols = tuple[str, ...]  # a sequence of texts that may join with their neighbours


class Join(NamedTuple):
    """One step of the merge loop: two neighbours, and how often they were seen side by side."""

    left: str
    right: str
    count: int  # type: ignore[assignment]  # and not the method of tuples

    @property
    def text(self) -> str:
        return self.left + self.right


def merge_loop(
    sequences: Counter[Symbols],
    merges: int,
    min_count: int,
    may_join: Callable[[str, str], bool],
    admits: Callable[[str, str, int], bool] = lambda left, right, count: True,
) -> tuple[list[Join], Counter[Symbols]]:
    """Join the most frequent pair of neighbours, again and again.

        l o w (5 times), l o w e r (2 times)   ->   lo w (5), lo w e r (2)   ->   low (5), ...

    Ties go to the shorter text, then to code-point order, then to the shorter left part. A pair
    that `admits` refuses when it is first frequent enough never joins. Returns the joins, and the
    sequences after them."""
    learnt: list[Join] = []
    admitted: dict[tuple[str, str], bool] = {}
    while len(learnt) < merges:
        pairs: Counter[tuple[str, str]] = Counter()
        for sequence, weight in sequences.items():
            for pair in zip(sequence, sequence[1:], strict=False):
                pairs[pair] += weight
        allowed = [
            Join(*pair, count)
            for pair, count in pairs.items()
            if count >= min_count and may_join(*pair)
            if admitted.setdefault(pair, admits(*pair, count))
        ]
        if not allowed:
            break
        best = min(
            allowed, key=lambda j: (-j.count, len(j.text.encode()), j.text, len(j.left.encode()))
        )
        learnt.append(best)
        joined: Counter[Symbols] = Counter()
        for sequence, weight in sequences.items():
            joined[_joined(sequence, best)] += weight
        sequences = joined
    return learnt, sequences


def _joined(sequence: Symbols, pair: Join) -> Symbols:
    """The sequence with the pair joined, leftmost first."""
    out: list[str] = []
    place = 0
    while place < len(sequence):
        if sequence[place : place + 2] == (pair.left, pair.right):
            out.append(pair.text)
            place += 2
        else:
            out.append(sequence[place])
            place += 1
    return tuple(out)


def count_symbols(sequences: Counter[Symbols]) -> Counter[str]:
    """How often each symbol stands in the sequences."""
    uses: Counter[str] = Counter()
    for sequence, weight in sequences.items():
        for symbol in sequence:
            uses[symbol] += weight
    return uses


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
    """The tokens of a text, and the characters that are none, by the rule of the recipe."""
    if recipe.segmentation == "merges":
        return encode_by_merges(text, ranks)
    return encode_by_fewest(text, set(ranks))


def encode_by_merges(text: str, ranks: dict[str, int]) -> list[str]:
    """Join the neighbours whose joined text has the lowest rank, leftmost first, until none has."""
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
    """The fewest tokens; of equals, at each end the longest last token."""
    best: list[tuple[int, int]] = [(0, 0)]  # by end: the number of tokens, the last one's start
    longest = max(map(len, tokens), default=1)
    for end in range(1, len(text) + 1):
        starts = range(max(0, end - longest), end)
        fits = [start for start in starts if text[start:end] in tokens]
        if not fits:  # an unknown character
            fits = [end - 1]
        best.append(min((best[start][0] + 1, start) for start in fits))
    pieces: list[str] = []
    end = len(text)
    while end:
        start = best[end][1]
        pieces.append(text[start:end])
        end = start
    return pieces[::-1]
