"""The two passes that learn tokens: inside words, and over runs of words.

How long each runs is not set by hand. The traditional pass is learnt to the full size, so the worth
of its every merge is known: the tokens it saves. The multiword pass takes over where its merges are
worth more than the traditional ones that would remain; both then end at the same count. All
traditional merges rank before all multiword ones: words complete before phrases form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import _core
from .corpus import Corpus
from .counting import Counted, count_runs
from .progress import Progress
from .recipe import Recipe
from .tokenizer import BYTES

_SLICE = 500  # merges between two looks at the progress (and at Ctrl-C)


@dataclass
class Words:
    """What the traditional pass learnt, to the full size; `counts` are the tokens each merge saves.

    `room` is how many tokens there are to learn in all, in both passes."""

    sequences: _core.Sequences
    alphabet: list[int]
    texts: list[str]
    counts: NDArray[np.int64]
    room: int


def learn_traditional(
    table: _core.WordTable, alphabet: list[int], recipe: Recipe, progress: Progress
) -> Words:
    """BPE inside words."""
    room = learnt_size(recipe) - len(recipe.special_tokens) - BYTES - len(alphabet)
    sequences = _core.Sequences.of_words(table, alphabet)
    merger = traditional_merger(sequences, alphabet, recipe)
    _run(merger, room, "traditional", progress)
    words = Words(sequences, alphabet, merger.texts(), merger.counts(), room)
    progress.end(merges=len(words.texts))
    return words


def traditional_merger(
    sequences: _core.Sequences, alphabet: list[int], recipe: Recipe
) -> _core.Merger:
    rules = recipe.boundaries
    limits = _core.Limits(bytes=rules.max_bytes, units=rules.max_digits, one_script=False)
    return _core.Merger.over_characters(sequences, alphabet, limits, recipe.min_count)


def _run(merger: _core.Merger, merges: int, phase: str, progress: Progress) -> None:
    """Make so many merges, or as many as there are."""
    progress.start(phase, merges, "merges")
    done = 0
    while done < merges:
        made = merger.run(min(_SLICE, merges - done))
        if made == 0:
            break
        done += made
        progress.at(done)


# --- The multiword pass


@dataclass
class Phrases:
    """What the multiword pass learnt, and the traditional merges it left in place."""

    crossover: int  # traditional merges kept
    known: list[str]  # the complete words that phrases are made of, in rank order
    texts: list[str]
    counts: NDArray[np.int64]
    uses_before: NDArray[np.int64]  # of known words, in the runs, before any merge
    uses_after: NDArray[np.int64]  # of known words and phrases, after all merges
    runs: int


def learn_multiword(
    corpus: Corpus,
    counted: Counted,
    words: Words,
    recipe: Recipe,
    threads: int,
    progress: Progress,
) -> Phrases:
    """The second reading counts runs; then BPE over runs of complete words, from the crossover on.

    Pairs below `floor` are left out of the runs. It is a guess that saves memory; if it turns out
    too high for the result to be exact, the runs are counted again with a lower one."""
    wanted = wanted_crossover(recipe, len(words.texts), words.room)
    if recipe.crossover == 1.0:
        nothing = np.zeros(0, dtype=np.int64)
        return Phrases(len(words.texts), [], [], nothing, nothing, nothing, 0)
    floor = _guess_floor(counted.words, words, wanted, recipe.min_count)
    while True:
        known = _complete_words(words, len(words.texts))
        table = count_runs(corpus, counted, known, recipe.boundaries, floor, threads, progress)
        found = len(table)
        sequences = _core.Sequences.of_runs(table, known)
        del table
        crossover = wanted
        if crossover is None:
            probe = _multiword_merger(sequences, known, recipe, floor)
            _run(probe, words.room, "crossover", progress)
            known_to = floor if floor > recipe.min_count else 1  # below min_count there is nothing
            crossover = find_parity(words.counts, probe.counts(), words.room, known_to)
            del probe
            progress.end(crossover=crossover)
        if crossover is not None:
            phrases = _learn_phrases(sequences, words, crossover, recipe, floor, progress)
            enough = crossover + len(phrases.texts) >= words.room
            if enough or floor == recipe.min_count:
                phrases.runs = found
                return phrases
        floor = max(recipe.min_count, floor // 4)


def wanted_crossover(recipe: Recipe, learnt: int, room: int) -> int | None:
    """The traditional merges to keep, where the recipe sets their share."""
    if recipe.crossover is None:
        return None
    return min(int(recipe.crossover * learnt_size(recipe)), learnt, room)


def learnt_size(recipe: Recipe) -> int:
    """How large a vocabulary is learnt, before any pruning."""
    fewest = recipe.segmentation == "fewest"
    return int(recipe.vocab_size * recipe.oversize) if fewest else recipe.vocab_size


def _guess_floor(table: _core.WordTable, words: Words, wanted: int | None, min_count: int) -> int:
    """A count that the last phrase will surely have: the highest for which the tokens seen that
    often fill the room.

    Choice: of the pairs of words seen so often, about half become phrases (measured 0.51 at 100k
    and 0.52 at 200k); a third is assumed."""
    low, high = min_count, 1 << 31
    while low + 1 < high:
        middle = (low + high) // 2
        kept = int((words.counts >= middle).sum()) if wanted is None else wanted
        if kept + table.pairs_at_least(middle) // 3 >= words.room:
            low = middle
        else:
            high = middle
    return low


def _complete_words(words: Words, merges: int) -> list[str]:
    """The texts that are one word, of the alphabet and the first merges."""
    texts = [chr(code) for code in words.alphabet] + words.texts[:merges]
    return [text for text in texts if len(_core.split_words(text)) == 1]


def _multiword_merger(
    sequences: _core.Sequences, known: list[str], recipe: Recipe, floor: int
) -> _core.Merger:
    rules = recipe.boundaries
    limits = _core.Limits(bytes=rules.max_bytes, units=rules.max_words, one_script=rules.one_script)
    return _core.Merger.over_words(sequences, known, limits, floor)


def find_parity(
    traditional: NDArray[np.int64], multiword: NDArray[np.int64], room: int, floor: int
) -> int | None:
    """How many traditional merges to keep: one more would save no more than the last phrase.

        traditional  90 60 40 20 10     keep 3: phrases take the 2 places that are left;
        multiword    70 30 15           the next traditional merge saves 20, the last phrase 30

    `multiword` is known down to the count `floor`; None if that is not far enough to tell."""
    keep = np.arange(room + 1)
    next_word = np.zeros(room + 1, dtype=np.int64)
    next_word[: len(traditional)] = traditional[: room + 1]
    last_phrase = np.full(room + 1, floor - 1, dtype=np.int64)  # where it is unknown: at most
    last_phrase[room] = np.iinfo(np.int64).max  # no phrases
    places = room - keep - 1
    inside = (places >= 0) & (places < len(multiword))
    last_phrase[inside] = multiword[places[inside]]
    crossover = int(np.argmax(next_word <= last_phrase))
    if crossover < room and places[crossover] >= len(multiword) and floor > 1:
        return None
    return crossover


def _learn_phrases(
    sequences: _core.Sequences,
    words: Words,
    crossover: int,
    recipe: Recipe,
    floor: int,
    progress: Progress,
) -> Phrases:
    """The multiword pass itself. A phrase that could never be encoded gives way to the next."""
    crossover = min(crossover, len(words.texts))
    known = _complete_words(words, crossover)
    merger = _multiword_merger(sequences, known, recipe, floor)
    before = merger.usage()
    base = [chr(code) for code in words.alphabet] + words.texts[:crossover]
    needed = words.room - crossover
    _run(merger, needed, "multiword", progress)
    while True:
        texts = merger.texts()
        good = _usable(base, texts, recipe)
        if len(good) >= needed or merger.run(needed - len(good)) == 0:
            break
    after = merger.usage()
    uses = np.concatenate([after[: len(known)], after[len(known) :][good]])
    counts = merger.counts()[good]
    progress.end(phrases=len(good), crossover=crossover)
    return Phrases(crossover, known, [texts[i] for i in good], counts, before, uses, 0)


def _usable(base: list[str], texts: list[str], recipe: Recipe) -> list[int]:
    """The places of the texts that are new and encode to themselves after `base`. Under `fewest`
    every text does."""
    first = {text: place for place, text in reversed(list(enumerate(texts)))}
    new = sorted(first[text] for text in first.keys() - set(base))
    if recipe.segmentation == "fewest":
        return new
    entries = base + [texts[i] for i in new]
    states = _core.Encoder(entries, [1] * len(entries), fewest=False, first_id=0).states()
    if states[: len(base)].any():
        bad = entries[int(np.flatnonzero(states)[0])]
        raise AssertionError(f"the traditional token {bad!r} does not encode to itself")
    return [i for i, state in zip(new, states[len(base) :].tolist(), strict=True) if state == 0]
