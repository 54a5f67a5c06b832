"""The multiword pass, slow and plain: what multiword.py must equal."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable

import numpy as np

from ..common import _core
from ..learn.count import SKETCH_BITS, joints
from ..learn.crossover import expected_crossover
from ..learn.multiword import with_chains
from ..learn.screen import Wanted, breaks_line
from ..learn.scripts import UNSPACED
from ..learn.seeds import mine
from ..recipe import Recipe
from .parts import (
    LETTER,
    NUMBER,
    PUNCT,
    Join,
    Symbols,
    count_runs,
    encode_by_fewest,
    encode_by_merges,
    kind_of,
    learn,
    learnt_size,
    script_of,
    split_words,
)

Learnt = tuple[int, list[Join], Counter[str]]


def learn_phrases(
    training: list[str], alphabet: list[str], traditional: list[Join], room: int, recipe: Recipe
) -> Learnt:
    """The multiword pass: the traditional merges to keep, the phrases that take the rest of the
    room, and how both changed the uses of complete words and phrases in the runs."""
    if recipe.crossover == 1.0:
        return len(traditional), [], Counter()
    wanted = None
    if recipe.crossover is not None:
        wanted = min(int(recipe.crossover * learnt_size(recipe)), room, len(traditional))

    cut = None
    if joins_pieces(training, recipe):
        cut = _expected(training, traditional, room, recipe) if wanted is None else wanted
    return _look(training, alphabet, traditional, room, recipe, wanted, cut)


def _expected(training: list[str], traditional: list[Join], room: int, recipe: Recipe) -> int:
    """A guess from the sketch of pairs, whose counters the reference takes as given."""
    table = _core.WordTable(SKETCH_BITS, recipe.scripts is not None)
    table.count(training, 1)
    counts = np.array([join.count for join in traditional], dtype=np.int64)
    return expected_crossover(table, counts, room, recipe)


def joins_pieces(training: list[str], recipe: Recipe) -> bool:
    if not recipe.boundaries.whole_words:
        return True
    text = "".join(training)
    unspaced = sum(_core.char_class(char)[1] in UNSPACED for char in text)
    return recipe.scripts is not None and unspaced >= 0.01 * len(text)


def _look(
    training: list[str],
    alphabet: list[str],
    traditional: list[Join],
    room: int,
    recipe: Recipe,
    wanted: int | None,
    cut: int | None,
) -> Learnt:
    most = next(n for n in (wanted, cut, len(traditional)) if n is not None)
    usable = alphabet + [join.text for join in traditional[:most]]
    by_class = recipe.scripts is not None
    complete = {text for text in usable if len(split_words(text, by_class)) == 1}
    ranks = {text: rank for rank, text in enumerate(usable)} if cut is not None else None
    runs = count_runs(training, complete, recipe, ranks)
    in_runs: Counter[str] = Counter()
    for run, count in runs.items():
        for word in run:
            in_runs[word] += count
    runs = Counter({run: count for run, count in runs.items() if len(run) > 1})
    min_count = max(recipe.min_count, recipe.screen.min_count if recipe.screen else 1)
    admits = _screen(training, runs, in_runs if ranks else None, sorted(complete), recipe)
    merges = room
    while True:
        learnt, after = learn(runs, merges, min_count, _may_join(complete, recipe), admits)
        keep = (
            min(parity(traditional, learnt, room, recipe.phrase_price), most)
            if wanted is None
            else wanted
        )
        chosen, keep, enough = _choose(learnt, alphabet, traditional, keep, room, training, recipe)
        if enough or len(learnt) < merges:
            break
        merges += room  # some could not be used: look further

    uses: Counter[str] = Counter()
    for sign, counted_runs in ((-1, runs), (1, after)):
        for sequence, weight in counted_runs.items():
            for symbol in sequence:
                uses[symbol] += sign * weight
    for join in reversed(learnt):  # what was not chosen goes back to its parts
        if join not in chosen:
            use = uses.pop(join.text)
            uses[join.left] += use
            uses[join.right] += use
    return keep, chosen, uses


def _may_join(known: set[str], recipe: Recipe) -> Callable[[str, str], bool]:
    """Words of letters or digits are counted; a piece of a word counts as one."""
    rules, by_class = recipe.boundaries, recipe.scripts is not None
    counted = {text: int(kind_of(text, by_class) in (LETTER, NUMBER)) for text in known}

    def may_join(left: str, right: str) -> bool:
        text = left + right
        counted.setdefault(text, counted[left] + counted[right])
        scripts = {script_of(left), script_of(right)} - {0} if by_class else set()
        return (
            len(text.encode()) <= rules.max_bytes
            and counted[left] + counted[right] <= rules.max_words
            and digits_in_a_row(left, right) <= rules.max_digits
            and text not in recipe.names
            and (len(scripts) < 2 or not rules.one_script)
        )

    return may_join


def digits_in_a_row(left: str, right: str) -> int:
    """Where two texts meet; 0 if they do not meet in digits."""

    def leading(chars: str) -> int:
        row = itertools.takewhile(lambda char: _core.char_class(char)[0] == NUMBER, chars)
        return len(list(row))

    before, after = leading(left[::-1]), leading(right)
    return before + after if before and after else 0


def _screen(
    training: list[str],
    runs: Counter[Symbols],
    in_runs: Counter[str] | None,
    known: list[str],
    recipe: Recipe,
) -> Callable[[str, str, int], bool]:
    """Whether a pair is welcome, by its count when it first appears. `in_runs` counts words and
    pieces, where words stand in pieces."""
    if recipe.screen is None:
        return lambda left, right, count: True
    by_class = recipe.scripts is not None
    words = Counter(word for text in training for word in split_words(text, by_class))
    total = sum(
        count for word, count in words.items() if kind_of(word, by_class) in (LETTER, PUNCT, NUMBER)
    )
    bits = {
        word: float(np.log2(total / max((words if in_runs is None else in_runs)[word], 1)))
        for word in known
    }
    least = float(recipe.screen.min_pmi + np.log2(total))
    seeded = set(_seeds(runs, known, words, total, recipe))

    def admits(left: str, right: str, count: int) -> bool:
        text = left + right
        bits.setdefault(text, bits[left] + bits[right])
        return math.log2(count) + bits[left] + bits[right] >= least or text in seeded

    return admits


def _seeds(
    runs: Counter[Symbols], known: list[str], words: Counter[str], total: int, recipe: Recipe
) -> list[str]:
    """Mining has a slow twin of its own, in its tests."""
    if recipe.seeds is None:
        return []
    by_class = recipe.scripts is not None
    texts = ["".join(run) for run, count in runs.items() for _ in range(count)]
    pairs = _core.WordTable(SKETCH_BITS, by_class)
    pairs.count(texts, 1)
    table = _core.RunTable(known, pairs, joints(recipe), 1)
    table.count(texts, 1)
    spoken = sum(n for word, n in words.items() if kind_of(word, by_class) in (LETTER, NUMBER))
    counts = np.array([words[word] for word in known], dtype=np.int64)
    seeds = recipe.seeds.up_to(recipe.boundaries.max_words)
    return with_chains([seed.text for seed in mine(table, known, counts, spoken, seeds)[0]], recipe)


def parity(traditional: list[Join], multiword: list[Join], room: int, price: float = 1.0) -> int:
    """How many traditional merges to keep: up to where the next, times the price of a phrase, saves
    no more than the last of the phrases that take the rest of the room."""
    for keep in range(room):
        next_word = traditional[keep].count if keep < len(traditional) else 0
        place = room - keep - 1
        last_phrase = multiword[place].count if place < len(multiword) else 0
        if next_word * price <= last_phrase:
            return min(keep, len(traditional))
    return min(room, len(traditional))


def _choose(
    learnt: list[Join],
    alphabet: list[str],
    traditional: list[Join],
    keep: int,
    room: int,
    training: list[str],
    recipe: Recipe,
) -> tuple[list[Join], int, bool]:
    """The phrases for the room behind `keep`; `keep`, which grows where they are too few; and
    whether the joins learnt were enough to choose from."""
    base = alphabet + [join.text for join in traditional[:keep]]
    wanted = Wanted.of(recipe, len(training))
    needed = room - keep
    looked_at = needed + needed // 20 if wanted else needed
    pool = usable_phrases(learnt, base, recipe)[:looked_at]
    enough = len(pool) >= looked_at
    if not wanted:
        return pool, keep, enough
    chosen = _screened(pool, base, learnt, training, wanted, recipe)[:needed]
    while True:
        chosen = _reachable(chosen, base, recipe)
        missing = room - keep - len(chosen)
        if not missing or keep == len(traditional):
            return chosen, keep, enough
        keep = min(keep + missing, len(traditional))
        base = alphabet + [join.text for join in traditional[:keep]]
        usable = usable_phrases(learnt, base, recipe)
        chosen = [join for join in chosen if join in usable]


def _reachable(chosen: list[Join], base: list[str], recipe: Recipe) -> list[Join]:
    """Those that encode to themselves beside each other."""
    while recipe.segmentation == "merges":
        ranks = {text: rank for rank, text in enumerate([*base, *(join.text for join in chosen)])}
        good = [join for join in chosen if encode_by_merges(join.text, ranks) == [join.text]]
        if len(good) == len(chosen):
            break
        chosen = good
    return chosen


def _screened(
    pool: list[Join],
    base: list[str],
    learnt: list[Join],
    training: list[str],
    wanted: Wanted,
    recipe: Recipe,
) -> list[Join]:
    ranks = {text: rank for rank, text in enumerate([*base, *(join.text for join in pool)])}
    if recipe.segmentation == "merges":
        encoded = [encode_by_merges(text, ranks) for text in training]
    else:
        encoded = [encode_by_fewest(text, set(ranks)) for text in training]
    documents = Counter(piece for pieces in encoded for piece in set(pieces))
    bits = boundary_bits(encoded, set(ranks))
    stays = {
        join.text
        for join in pool
        if documents[join.text] >= wanted.documents and bits.get(join.text, 0.0) >= wanted.bits
    }
    for join in reversed(learnt):
        if join.text in stays:
            stays |= {join.left, join.right}
    return [join for join in pool if join.text in stays]


def boundary_bits(encoded: list[list[str]], known: set[str]) -> dict[str, float]:
    """Of each piece of the encoded documents: the entropy of what stands before or after it, the
    lesser. Edges of documents and lines, and what is written as bytes, differ from all else."""
    beside: dict[tuple[str, int], Counter[object]] = defaultdict(Counter)
    for pieces in encoded:
        for side, row in enumerate((pieces, pieces[::-1])):
            for place, piece in enumerate(row):
                after = row[place + 1] if place + 1 < len(row) else "\n"
                plain = after in known and not breaks_line(after)
                beside[piece, side][after if plain else object()] += 1
    bits: dict[str, float] = {}
    for (piece, _), counts in beside.items():
        shares = [count / counts.total() for count in counts.values()]
        entropy = round(sum(share * -math.log2(share) for share in shares), 9)
        bits[piece] = min(entropy, bits.get(piece, math.inf))
    return bits


def usable_phrases(learnt: list[Join], base: list[str], recipe: Recipe) -> list[Join]:
    """Those made of tokens, new, and, under the merges rule, encoding to themselves."""
    known, new = set(base), dict[str, Join]()
    made: dict[str, bool] = {}  # whether all that a text was joined from are tokens
    for join in learnt:
        made[join.text] = made.get(join.left, join.left in known) and made.get(
            join.right, join.right in known
        )
        if join.text not in known and made[join.text]:
            new.setdefault(join.text, join)
    if recipe.segmentation == "fewest":
        return list(new.values())
    ranks = {text: rank for rank, text in enumerate([*base, *new])}
    return [join for text, join in new.items() if encode_by_merges(text, ranks) == [text]]
