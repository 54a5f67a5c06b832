"""Seeds, paper 3.3: the phrases of a text that hold together, by pointwise mutual information.

    PMI(w1 ... wn)  = log2( p(w1 ... wn) / (p(w1) · ... · p(wn)) )         Eq. 2, in bits
    NPMI(w1 ... wn) = PMI / -log2 p(w1 ... wn)                             Appendix A

Choice: p(...) = count / N, and N is the number of words in the text, for every n.
Choice: punctuation is free. It is no word of the n and no factor of the product. Where words join
in pieces, a piece counts as often as it is a word by itself.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import takewhile

from ..recipe import Recipe, Seeds
from .words import SPOKEN, UNSPACED, kind_of, script_of, split_words

Window = tuple[str, ...]  # neighbours in a run


def seeded_texts(runs: Counter[Window], words: Counter[str], recipe: Recipe) -> set[str]:
    """The texts that the screen admits without a test: the seeds, and their beginnings of two words
    or more. " in spite of" needs " in spite"."""
    if recipe.seeds is None:
        return set()
    by_class = recipe.scripts is not None
    total = sum(count for word, count in words.items() if kind_of(word, by_class) in SPOKEN)
    texts: set[str] = set()
    for seed in mine(runs, words, total, recipe.seeds.up_to(recipe.boundaries.max_words)):
        parts = split_words("".join(seed), by_class)
        texts.update("".join(parts[:end]) for end in range(2, len(parts) + 1))
    return texts


def mine(runs: Counter[Window], words: Counter[str], total: int, seeds: Seeds) -> list[Window]:
    """The windows of the runs that hold together, without those that say the same. `words` counts
    the words of the text, of which `total` are letters or digits.

    Choice, for the paper's overlap control, where "almost always" is a share of `overlap`. From the
    longest to the shortest, then by falling count, this leaves out a window that
    (a) occurs almost always inside a longer one, which is chosen or was left out by (b):
        " as well" 100 times, " as well as" 95 times;
    (b) begins with the end of a chosen one, or ends with its beginning, and that part occurs almost
        always in both: " b c d" and " c d e", both 95 times, and " c d" 100 times.
    """
    counts: Counter[Window] = Counter()
    for run, weight in runs.items():
        for start in range(len(run)):
            for end in range(start + 2, min(start + 2 * seeds.max_words, len(run) + 1)):
                counts[run[start:end]] += weight
    found = [w for w, n in counts.items() if n >= seeds.min_count]
    found = [w for w in found if holds_together(w, counts[w], words, total, seeds)]
    found.sort(key=lambda w: (-len(w), -counts[w], len("".join(w)), "".join(w)))
    counts.update({(word,): count for word, count in words.items()})
    longer, chosen = list[Window](), list[Window]()
    chosen_beginnings, chosen_ends = set[Window](), set[Window]()
    for window in found:
        least = seeds.overlap * counts[window]
        if any(counts[other] >= least and is_inside(window, other) for other in longer):
            continue
        longer.append(window)
        beginnings, ends = fixed_parts(window, counts, seeds.overlap)
        if not beginnings & chosen_ends and not ends & chosen_beginnings:
            chosen.append(window)
            chosen_beginnings |= beginnings
            chosen_ends |= ends
    return chosen


def holds_together(
    window: Window, count: int, words: Counter[str], total: int, seeds: Seeds
) -> bool:
    """Whether a window begins and ends with a word, the first with its space (where its script has
    spaces), and passes the thresholds."""
    spoken = [unit for unit in window if kind_of(unit) in SPOKEN]
    first, last = window[0], window[-1]
    if kind_of(first) not in SPOKEN or kind_of(last) not in SPOKEN:
        return False
    if first[0] != " " and script_of(first) not in UNSPACED:
        return False
    if not seeds.min_words <= len(spoken) <= seeds.max_words:
        return False
    seen = math.log2(count / total)
    pmi = seen - sum(math.log2(max(words[unit], 1) / total) for unit in spoken)
    npmi = pmi / -seen if seen < 0 else 1.0
    return pmi >= seeds.min_pmi and npmi >= seeds.min_npmi


def is_inside(window: Window, longer: Window) -> bool:
    size = len(window)
    return any(longer[at : at + size] == window for at in range(len(longer) - size + 1))


def fixed_parts(
    window: Window, counts: Counter[Window], overlap: float
) -> tuple[set[Window], set[Window]]:
    """The beginnings and the ends of a window that occur almost always inside it."""

    def is_fixed(part: Window) -> bool:
        return counts[window] >= overlap * counts[part]

    sizes = range(len(window) - 1, 0, -1)
    beginnings = takewhile(is_fixed, (window[:size] for size in sizes))
    return set(beginnings), set(takewhile(is_fixed, (window[-size:] for size in sizes)))
