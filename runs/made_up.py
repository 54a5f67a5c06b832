"""Vocabularies and texts for ids.py: small, dense in overlaps, adversarial.

An entry is known by its text. Entries of one group share a rank; most groups have one entry.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from supratok.common import _core

REACHABLE, UNREACHABLE, OUT_OF_ORDER = range(3)
LETTERS = "abcdexyz"
OTHERS = " \n\t\r.,-'1A_éßÿ\0中日ก\u0301🙂🏽"  # one to four bytes, one in NFC and one that is not
LONGEST = 300  # bytes of an entry
LARGE = 500  # each such vocabulary has thousands of entries
LONG = 1000  # each such vocabulary has texts of 100 kB


@dataclass(frozen=True)
class Vocabulary:
    family: str
    alphabet: str
    groups: list[list[str]]  # behind the alphabet, by rank
    foreign: str  # characters outside the alphabet that texts have
    seed: int
    first_id: int = 0
    ids: list[int] | None = None

    def ranks(self) -> dict[str, int]:
        """By entry, in the order of their places; tied entries have one rank."""
        ranks = {char: rank for rank, char in enumerate(self.alphabet)}
        for group in self.groups:
            ranks |= dict.fromkeys(group, len(ranks))
        return ranks

    def arguments(self, *, fewest: bool) -> dict[str, Any]:
        """Those of the core's encoder. Weights change nothing but speed."""
        ranks = self.ranks()
        places = enumerate(itertools.pairwise(ranks.values()), start=1)
        weights = random.Random(self.seed).choices(range(1, 100), k=len(ranks))
        return {
            "entries": list(ranks), "weights": weights, "fewest": fewest,
            "first_id": self.first_id, "ids": self.ids or [],
            "tied": [] if fewest else [place for place, (a, b) in places if a == b],
        }  # fmt: skip


# --- Entries


def random_texts(rng: random.Random, chars: str, size: int) -> list[str]:
    """Any texts; most cannot be reached by merges."""
    return ["".join(rng.choices(chars, k=rng.randint(2, 6))) for _ in range(size)]


def is_word(text: str, front: bool) -> bool:
    """Whether blanks are only at the front, or only at the end."""
    return " " not in (text.lstrip(" ") if front else text.rstrip(" ")) and "\n" not in text[1:]


def grown(
    rng: random.Random, known: list[str], size: int, fits: Callable[[str], bool] = lambda text: True
) -> list[str]:
    """Joins of earlier entries, which merges can often reach."""
    entries, seen = list(known), set(known)
    for _ in range(8 * size):
        near = entries[-rng.randint(1, len(entries)) :]
        text = rng.choice(entries) + rng.choice(near)
        text = text if rng.random() < 0.5 else rng.choice(near) + rng.choice(entries)
        if text not in seen and len(text.encode()) <= LONGEST and fits(text):
            entries.append(text)
            seen.add(text)
        if len(entries) == len(known) + size:
            break
    return entries[len(known) :]


def words_first(rng: random.Random, chars: str, size: int) -> list[str]:
    """As training makes them: words, then phrases of them."""
    front = rng.random() < 0.8
    words = grown(rng, list(chars), size // 2, lambda text: is_word(text, front))
    return words + grown(rng, [*chars, *words], size - len(words))


def words_again(rng: random.Random, chars: str, size: int) -> list[str]:
    """Words, phrases, then words again, as an extension adds them."""
    entries = words_first(rng, chars, size)
    late = grown(rng, [*chars, *entries], 1 + size // 4, lambda text: is_word(text, front=True))
    return entries + late


def mixed(rng: random.Random, chars: str, size: int) -> list[str]:
    """Words and phrases, in any order of rank."""
    return grown(rng, list(chars), size)


def learnt(rng: random.Random, chars: str, size: int) -> list[str]:
    """The most frequent pairs of a text of few words, joined in turn: first inside words."""
    blank = " " * (" " in chars)
    words = [blank + "".join(rng.choices(chars, k=rng.randint(1, 5))) for _ in range(12)]
    pieces = list("".join(rng.choices(words, k=50)))
    entries: list[str] = []
    for step in range(min(size, 30)):
        pairs = Counter(
            left + right
            for left, right in itertools.pairwise(pieces)
            if step > size // 2 or is_word(left + right, front=True)
        )
        if not pairs:
            continue
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        entries.append(best)
        joined = [""]
        for piece in pieces:
            if joined[-1] + piece == best:
                joined[-1] = best
            else:
                joined.append(piece)
        pieces = joined
    return entries


def repeated(rng: random.Random, chars: str, size: int) -> list[str]:
    """Runs of one unit, of any lengths up to the longest, some with another character beside."""
    unit = "".join(rng.choices(chars, k=rng.randint(1, 3)))
    most = min(LONGEST // len(unit.encode()), rng.choice([4, 9, 40, LONGEST]))
    lengths = sorted(rng.sample(range(2, most + 2), min(size, most)))
    runs = [unit] * (len(unit) > 1) + [unit * length for length in lengths]
    if rng.random() < 0.7:  # those of the powers of two can be reached
        runs += [unit * 2**power for power in range(1, 9) if len(unit.encode()) << power <= LONGEST]
    runs += [rng.choice(chars) + run for run in runs if rng.random() < 0.2]
    runs = sorted(runs, key=len)
    return runs if rng.random() < 0.8 else rng.sample(runs, len(runs))


FAMILIES: dict[str, Callable[[random.Random, str, int], list[str]]] = {
    "words first": words_first,
    "words again": words_again,
    "mixed": mixed,
    "learnt": learnt,
    "any texts": random_texts,
    "runs": repeated,
}
OUTSIDE = "outside the alphabet"  # any of them, where some entries have such characters


# --- Vocabularies


def made_vocabulary(rng: random.Random, number: int) -> Vocabulary:
    """The vocabulary of this number; `rng` goes on to its texts."""
    family = rng.choices(list(FAMILIES), [4, 2, 2, 2, 1, 1])[0]
    others = rng.sample(OTHERS, rng.randint(0, 5))
    chars = rng.sample(LETTERS, rng.randint(1, 4)) + ([" "] if rng.random() < 0.8 else []) + others
    alphabet = list(dict.fromkeys(chars))
    rng.shuffle(alphabet)
    foreign = "".join(rng.sample(sorted(set(LETTERS + OTHERS) - set(alphabet)), 2))
    make = FAMILIES[family]
    if rng.random() < 0.05 and len(alphabet) > 2:
        family, foreign = OUTSIDE, foreign + alphabet.pop()
    size = 3000 if number % LARGE == LARGE - 1 else rng.choice([3, 10, 25, 25, 60])
    entries = make(rng, "".join(alphabet) + foreign[2:], size)
    entries = [text for text in dict.fromkeys(entries) if len(text) > 1]
    groups = [[text] for text in entries]
    if rng.random() < 0.15:  # ties, the shorter ones first
        cuts = sorted(rng.sample(range(len(entries) + 1), min(len(entries), 4)))
        parts = [entries[a:b] for a, b in itertools.pairwise([0, *cuts, len(entries)])]
        groups = [sorted(part, key=lambda text: len(text.encode())) for part in parts if part]
    return Vocabulary(family, "".join(alphabet), groups, foreign, number, rng.choice([0, 0, 0, 7]))


def settled(vocabulary: Vocabulary, rule: str, rng: random.Random) -> Vocabulary:
    """Without entries that merges would join from later ones, which no tokenizer has; half of
    the vocabularies also without entries that nothing reaches. Some get ids of their own."""
    unwanted = {OUT_OF_ORDER} if rng.random() < 0.5 else {OUT_OF_ORDER, UNREACHABLE}
    while rule == "merges":
        states = _core.Encoder(**vocabulary.arguments(fewest=False)).states().tolist()
        bad = {
            text
            for text, state in zip(vocabulary.ranks(), states, strict=True)
            if state in unwanted
        }
        if not bad:
            break
        groups = [[text for text in group if text not in bad] for group in vocabulary.groups]
        vocabulary = replace(vocabulary, groups=[group for group in groups if group])
    if rng.random() < 0.1:
        size = 256 + len(vocabulary.ranks())
        vocabulary = replace(vocabulary, ids=rng.sample(range(2 * size), size), first_id=0)
    return vocabulary


# --- Texts


def pieces(rng: random.Random, entries: list[str], chars: str) -> Iterator[str]:
    """Entries, their halves, entries with one character missing or put in, single characters."""
    while True:
        kind, entry = rng.random(), rng.choice(entries)
        cut = rng.randint(0, len(entry))
        if kind < 0.4:
            yield entry
        elif kind < 0.7:
            yield entry[:cut] if kind < 0.55 else entry[cut:]
        elif kind < 0.8:
            yield entry[:cut] + (
                entry[cut + 1 :] if kind < 0.75 else rng.choice(chars) + entry[cut:]
            )
        else:
            yield rng.choice(chars)


def made_texts(rng: random.Random, vocabulary: Vocabulary, count: int, number: int) -> list[str]:
    """Distinct texts: random, made of entries, repeated; and long ones now and then."""
    entries = list(vocabulary.ranks())[len(vocabulary.alphabet) :] or list(vocabulary.alphabet)
    chars = vocabulary.alphabet * 4 + vocabulary.foreign
    parts = pieces(rng, entries, chars)
    texts: dict[str, None] = {"": None}
    for _ in range(3 * count):
        kind = rng.random()
        if kind < 0.3:
            text = "".join(rng.choices(chars, k=rng.randint(1, 40)))
        elif kind < 0.83:
            text = "".join(itertools.islice(parts, rng.randint(1, 8)))[:80]
        elif kind < 0.85:
            text = "".join(itertools.islice(parts, 300))[: rng.randint(80, 1000)]
        else:
            text = "".join(itertools.islice(parts, rng.randint(1, 3))) * rng.randint(2, 12)
        texts[text[:1000]] = None
        if len(texts) >= count:
            break
    if number % LONG == 0:
        for size in (1, 3, 100_000):
            unit = "".join(itertools.islice(parts, size))
            texts[(unit * (100_000 // max(1, len(unit)) + 1))[:100_000]] = None
    return list(texts)
