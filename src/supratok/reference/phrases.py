"""The multiword pass: BPE over runs of complete words.

It takes over from the traditional pass where its merges save more tokens than the traditional ones
that would follow. A pair joins if it passes the screen (paper 3.5) or is part of a seed (3.3).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable

from ..recipe import Recipe
from .choice import choose
from .merges import (
    Join,
    Symbol,
    Words,
    encode_by_merges,
    learnt_size,
    merge_loop,
    ranks_of,
)
from .seeds import seeded_texts
from .words import (
    SPOKEN,
    TEXT,
    UNSPACED,
    count_words,
    digits,
    kind_of,
    may_be_token,
    may_neighbour,
    script_of,
    split_words,
)

Run = tuple[str, ...]  # words, or pieces of words, that may join

# Choice: text in scripts without spaces joins in pieces if it is this share of all text.
UNSPACED_SHARE = 0.01


def learn_phrases(
    training: list[str], words: Words, recipe: Recipe
) -> tuple[int, list[Join], Counter[str]]:
    """How many traditional joins to keep, the phrases that take the rest of the room, and by how
    much the phrases change the uses of tokens in the text.

    Complete words are those that are one token. Where pieces of words join too, words are cut into
    the tokens that they have at the crossover, which the recipe sets or `expected_crossover`."""
    if recipe.crossover == 1.0:
        return len(words.joins), [], Counter()
    pieces = joins_pieces(training, recipe)
    wanted, most = None, len(words.joins)
    if recipe.crossover is not None:
        most = wanted = min(int(recipe.crossover * learnt_size(recipe)), words.room, most)
    elif pieces:
        most = expected_crossover(training, words, recipe)
    base = words.first(most)
    known = {text for text in base if len(split_words(text, recipe.scripts is not None)) == 1}
    runs = count_runs(training, known, recipe, ranks_of(base) if pieces else None)
    allow, admit = may_join(recipe), screen(training, runs, known, pieces, recipe)
    min_count = max(recipe.min_count, recipe.screen.min_count if recipe.screen else 1)
    merges = words.room
    while True:
        learnt, uses = merge_loop(runs, merges, min_count, allow, admit)
        keep = min(crossover(words, learnt, recipe), most) if wanted is None else wanted
        chosen, keep, enough = choose(learnt, words, keep, training, recipe)
        if enough or len(learnt) < merges:
            break
        merges += words.room
    for join in reversed(learnt):
        if join not in chosen:  # Its parts are used instead.
            use = uses.pop(join.symbol, 0)
            uses[join.left] += use
            uses[join.right] += use
    uses.subtract({(unit,): count for unit, count in count_units(runs).items()})
    return keep, chosen, Counter({"".join(symbol): use for symbol, use in uses.items()})


# --- Runs


def joins_pieces(training: list[str], recipe: Recipe) -> bool:
    """Whether a word that is not complete joins in pieces, in some scripts or in all."""
    if not recipe.boundaries.whole_words:
        return True
    text = "".join(training)
    unspaced = sum(script_of(char) in UNSPACED for char in text)
    return recipe.scripts is not None and unspaced >= UNSPACED_SHARE * len(text)


def count_runs(
    documents: Iterable[str], known: set[str], recipe: Recipe, ranks: dict[str, int] | None = None
) -> Counter[Run]:
    """The longest sequences of known words that may all neighbour each other. With `ranks`, a word
    that is not known goes in pieces: in all scripts, or only in those without spaces."""
    rules, by_class = recipe.boundaries, recipe.scripts is not None
    runs: list[list[str]] = []
    for text in documents:
        runs.append([])
        before = ""
        for word in split_words(text, by_class):
            if before and not may_neighbour(before, word, rules, by_class):
                runs.append([])
            before = word
            in_pieces = not rules.whole_words or (by_class and script_of(word) in UNSPACED)
            units = [word] if kind_of(word) in TEXT else []
            if ranks is not None and in_pieces and units and word not in known:
                units = encode_by_merges(word, ranks)
            for unit in units:
                if unit in known:
                    runs[-1].append(unit)
                else:
                    runs.append([])
    return Counter(map(tuple, runs))


def count_units(runs: Counter[Run]) -> Counter[str]:
    units: Counter[str] = Counter()
    for run, count in runs.items():
        for unit in run:
            units[unit] += count
    return units


# --- Which pairs may join


def may_join(recipe: Recipe) -> Callable[[Symbol, Symbol], bool]:
    """Whether two neighbours may be a token. A word of letters or digits counts as one word, and so
    does a piece of one."""
    rules, by_class = recipe.boundaries, recipe.scripts is not None

    def allow(left: Symbol, right: Symbol) -> bool:
        text = "".join(left + right)
        return (
            sum(kind_of(unit, by_class) in SPOKEN for unit in left + right) <= rules.max_words
            and digits_in_a_row("".join(left), "".join(right)) <= rules.max_digits
            and may_be_token(text, recipe)
        )

    return allow


def digits_in_a_row(left: str, right: str) -> int:
    """The digits where two texts meet; 0 if they do not meet in digits."""

    def leading(chars: str) -> int:
        return len(list(itertools.takewhile(digits, chars)))

    before, after = leading(left[::-1]), leading(right)
    return before + after if before and after else 0


def screen(
    training: list[str], runs: Counter[Run], known: set[str], pieces: bool, recipe: Recipe
) -> Callable[[Symbol, Symbol, int], bool]:
    """Whether a pair is admitted, by its count when it first appears. Eq. 2, PMI >= threshold, is

        log2(count) + sum of -log2(p(word))   >=   threshold + log2(N)

    Where words join in pieces, p counts the words and pieces of the runs. Choice: the words of N
    include punctuation."""
    if recipe.screen is None:
        return lambda left, right, count: True
    words = count_words(training, by_class=recipe.scripts is not None)
    seen = count_units(runs) if pieces else words
    total = sum(count for word, count in words.items() if kind_of(word) in TEXT) or 1
    bits: dict[Symbol, float] = {}
    for word in known:
        bits[(word,)] = math.log2(total / max(seen[word], 1))
    least = recipe.screen.min_pmi + math.log2(total)
    seeded = seeded_texts(runs, words, recipe)

    def admits(left: Symbol, right: Symbol, count: int) -> bool:
        bits[left + right] = bits[left] + bits[right]
        passes = math.log2(count) + bits[left] + bits[right] >= least
        return passes or "".join(left + right) in seeded

    return admits


# --- Where words give way to phrases


def expected_crossover(training: list[str], words: Words, recipe: Recipe) -> int:
    """About how many traditional joins are kept in the end. Choice: half of the pairs of words
    become phrases (as measured), so every second pair competes with the joins for the room.

    This counts pairs exactly. The fast code counts them in a sketch, where two pairs may share a
    counter; on a small text they hardly ever do."""
    pairs: Counter[tuple[str, str]] = Counter()
    for text in training:
        for left, right in itertools.pairwise(split_words(text, recipe.scripts is not None)):
            pairs[left, right] += kind_of(left) in TEXT and kind_of(right) in TEXT
    worths = [join.count * (recipe.fixed_price or 1.0) for join in words.joins]
    rivals = sorted(pairs.values(), reverse=True)[1::2]
    ordered = sorted([*worths, *rivals], reverse=True)
    last = int(ordered[words.room - 1]) if words.room <= len(ordered) else 0
    last = max(last, recipe.min_count)
    kept = sum(worth >= last for worth in worths)
    if recipe.fixed_price is not None:
        return kept
    phrases = [rounded(count, last) for count in rivals if count >= last]
    kept = keep_saving(words, phrases, kept, recipe.saving)
    return min(len(words.joins), kept + (words.room - kept) // 4)


def rounded(count: int, least: int) -> int:
    """1.4 times the last double of `least`, or double of that, and so on, up to a count."""
    while least * 2 <= count:
        least *= 2
    return least * 7 // 5


def crossover(words: Words, phrases: list[Join], recipe: Recipe) -> int:
    """How many traditional joins to keep: up to parity, or more if only a share of the saving is
    asked for."""
    keep = parity(words, phrases, recipe.fixed_price or 1.0)
    if recipe.fixed_price is not None:
        return keep
    return keep_saving(words, [join.count for join in phrases], keep, recipe.saving)


def keep_saving(words: Words, phrases: list[int], keep: int, share: float) -> int:
    """The most traditional joins with which phrases save this share of what they save with `keep`
    of them."""
    joins = [join.count for join in words.joins[: words.room]]

    def saved(kept: int) -> int:
        return sum(phrases[: words.room - kept]) - sum(joins[kept:])

    most = max(keep, len(joins))
    return max(kept for kept in range(keep, most + 1) if saved(kept) >= share * saved(keep))


def parity(words: Words, phrases: list[Join], price: float) -> int:
    """How many traditional joins to keep: up to where the next, times the price of a phrase, saves
    no more than the last of the phrases that take the rest of the room.

        traditional  90 60 40 20 10     5 places: keep 3 words (90 60 40) and 2 phrases (70 30);
        multiword    70 30 15           a fourth word would save 20, less than the last phrase's 30
    """
    for keep in range(words.room):
        next_word = words.joins[keep].count if keep < len(words.joins) else 0
        place = words.room - keep - 1
        last_phrase = phrases[place].count if place < len(phrases) else 0
        if next_word * price <= last_phrase:
            return min(keep, len(words.joins))
    return min(words.room, len(words.joins))
