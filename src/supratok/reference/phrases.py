"""The multiword pass: BPE over runs of complete words.

It takes over from the traditional pass where its merges save more tokens than the traditional ones
that would follow. A pair joins if it passes the screen (paper 3.5) or is part of a seed (3.3).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ..recipe import Recipe
from .merges import (
    Join,
    Symbols,
    count_symbols,
    encode_by_fewest,
    encode_by_merges,
    learnt_size,
    merge_loop,
    ranks_of,
    reachable,
)
from .seeds import seeded_texts
from .words import (
    NUMBER,
    SPOKEN,
    TEXT,
    UNSPACED,
    class_of,
    count_words,
    kind_of,
    may_neighbour,
    script_of,
    split_words,
)

# Choice: text in scripts without spaces joins in pieces if it is this share of all text.
UNSPACED_SHARE = 0.01


class Words(NamedTuple):
    """The result of the traditional pass, learnt to the full size: all its joins compete with
    phrases for the room."""

    alphabet: list[str]
    joins: list[Join]
    room: int  # how many tokens to learn in both passes

    def first(self, keep: int) -> list[str]:
        """The tokens, if so many joins are kept."""
        return self.alphabet + [join.text for join in self.joins[:keep]]


def learn_phrases(
    training: list[str], words: Words, recipe: Recipe
) -> tuple[int, list[Join], Counter[str]]:
    """How many traditional joins to keep, the phrases that take the rest of the room, and by how
    much the phrases change the uses of tokens in the text."""
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
    allow, admit = may_join(known, recipe), screen(training, runs, known, pieces, recipe)
    min_count = max(recipe.min_count, recipe.screen.min_count if recipe.screen else 1)
    merges = words.room
    while True:
        learnt, after = merge_loop(runs, merges, min_count, allow, admit)
        keep = min(parity(words, learnt, recipe.phrase_price), most) if wanted is None else wanted
        chosen, keep, enough = choose(learnt, words, keep, training, recipe)
        if enough or len(learnt) < merges:
            break
        merges += words.room
    uses = count_symbols(after)
    uses.subtract(count_symbols(runs))
    for join in reversed(learnt):
        if join not in chosen:  # Its parts stand there instead.
            use = uses.pop(join.text, 0)
            uses[join.left] += use
            uses[join.right] += use
    return keep, chosen, uses


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
) -> Counter[Symbols]:
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


# --- Which pairs may join


def may_join(known: set[str], recipe: Recipe) -> Callable[[str, str], bool]:
    """Whether two neighbours may be a token. A word of letters or digits counts as one word, and so
    does a piece of one."""
    rules, by_class = recipe.boundaries, recipe.scripts is not None
    spoken = {text: int(kind_of(text, by_class) in SPOKEN) for text in known}

    def allow(left: str, right: str) -> bool:
        text = left + right
        spoken.setdefault(text, spoken[left] + spoken[right])
        scripts = {script_of(left), script_of(right)} - {0} if by_class else set()
        return (
            len(text.encode()) <= rules.max_bytes
            and spoken[left] + spoken[right] <= rules.max_words
            and digits_in_a_row(left, right) <= rules.max_digits
            and text not in recipe.names
            and (len(scripts) < 2 or not rules.one_script)
        )

    return allow


def digits_in_a_row(left: str, right: str) -> int:
    """The digits where two texts meet; 0 if they do not meet in digits."""

    def leading(chars: str) -> int:
        return len(list(itertools.takewhile(lambda char: class_of(char) == NUMBER, chars)))

    before, after = leading(left[::-1]), leading(right)
    return before + after if before and after else 0


def screen(
    training: list[str], runs: Counter[Symbols], known: set[str], pieces: bool, recipe: Recipe
) -> Callable[[str, str, int], bool]:
    """Whether a pair is admitted, by its count when it first appears. Eq. 2, PMI >= threshold, is

        log2(count) + sum of -log2(p(word))   >=   threshold + log2(N)

    Where words join in pieces, p counts words and pieces as they stand in the runs."""
    if recipe.screen is None:
        return lambda left, right, count: True
    words = count_words(training, by_class=recipe.scripts is not None)
    seen = count_symbols(runs) if pieces else words
    total = sum(count for word, count in words.items() if kind_of(word) in TEXT)
    bits = {word: math.log2(total / max(seen[word], 1)) for word in known}
    least = recipe.screen.min_pmi + math.log2(total)
    seeded = seeded_texts(runs, words, recipe)

    def admits(left: str, right: str, count: int) -> bool:
        text = left + right
        bits.setdefault(text, bits[left] + bits[right])
        return math.log2(count) + bits[left] + bits[right] >= least or text in seeded

    return admits


# --- Where words give way to phrases


def expected_crossover(training: list[str], words: Words, recipe: Recipe) -> int:
    """About how many traditional merges will be kept. Choice: half of the pairs of neighbouring
    words become phrases (as measured), so every second pair competes with the merges for the room.

    The fast code counts pairs in a sketch, where two pairs may share a counter. On a small text
    they hardly ever do, and this is exact."""
    pairs: Counter[tuple[str, str]] = Counter()
    for text in training:
        for left, right in itertools.pairwise(split_words(text, recipe.scripts is not None)):
            pairs[left, right] += kind_of(left) in TEXT and kind_of(right) in TEXT
    worths = [join.count * recipe.phrase_price for join in words.joins]
    rivals = sorted(pairs.values(), reverse=True)[1::2]
    ordered = sorted([*worths, *rivals], reverse=True)
    last = int(ordered[words.room - 1]) if words.room <= len(ordered) else 0
    return sum(worth >= max(last, recipe.min_count) for worth in worths)


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


# --- Which phrases become tokens


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
        chosen = reachable_together(chosen, base, recipe)
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
    texts = list(new) if recipe.segmentation == "fewest" else reachable(list(new), base)
    return [new[text] for text in texts]


def reachable_together(chosen: list[Join], base: list[str], recipe: Recipe) -> list[Join]:
    """The phrases that encode to themselves without those that were dropped. Each one that goes may
    have been needed by another."""
    while recipe.segmentation == "merges":
        good = reachable([join.text for join in chosen], base)
        if len(good) == len(chosen):
            break
        chosen = [join for join in chosen if join.text in good]
    return chosen


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
    if recipe.segmentation == "merges":
        encoded = [encode_by_merges(text, ranks) for text in training]
    else:
        encoded = [encode_by_fewest(text, set(ranks)) for text in training]
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
