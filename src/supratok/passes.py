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
from .scripts import Evidence, adjusted
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
    table: _core.WordTable,
    alphabet: list[int],
    evidence: Evidence,
    recipe: Recipe,
    progress: Progress,
) -> Words:
    """BPE inside words, as script-aware processing counts and cuts them."""
    room = learnt_size(recipe) - len(recipe.special_tokens) - BYTES - len(alphabet)
    progress.start("traditional", room, "merges")
    with adjusted(table, evidence.changes):
        sequences = _core.Sequences.of_words(table, alphabet, evidence.bigrams, evidence.gate)
    merger = traditional_merger(sequences, alphabet, recipe)
    _run(merger, room, progress)
    words = Words(sequences, alphabet, merger.texts(), merger.counts(), room)
    progress.end(merges=len(words.texts))
    return words


def traditional_merger(
    sequences: _core.Sequences, alphabet: list[int], recipe: Recipe
) -> _core.Merger:
    rules = recipe.boundaries
    limits = _core.Limits(bytes=rules.max_bytes, units=rules.max_digits, one_script=False)
    return _core.Merger.over_characters(sequences, alphabet, limits, recipe.min_count)


def _run(merger: _core.Merger, merges: int, progress: Progress) -> None:
    """Make so many merges, or as many as there are."""
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
    texts: list[str]
    counts: NDArray[np.int64]
    # How the runs changed the uses of the complete words; and how often each phrase stands in them.
    word_uses: dict[str, int]
    uses: NDArray[np.int64]
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
        return Phrases(len(words.texts), [], nothing, {}, nothing, 0)
    floor = _guess_floor(counted.words, words, wanted, recipe.min_count)
    known = _complete_words(words, len(words.texts) if wanted is None else wanted, recipe)
    while True:
        table = count_runs(corpus, counted, known, recipe, floor, threads, progress)
        runs = len(table)
        progress.start("multiword", words.room, "tokens")
        merger = _multiword_merger(_core.Sequences.of_runs(table), known, recipe, floor)
        del table
        before = merger.usage()
        if wanted is None:
            crossover = _run_to_parity(merger, words, recipe, floor, progress)
        else:
            crossover = wanted
            _run(merger, words.room - wanted, progress)
        if crossover is not None:
            chosen = _choose_phrases(merger, known, words, crossover, recipe)
            if crossover + len(chosen) >= words.room or floor == recipe.min_count:
                progress.end(crossover=crossover, phrases=len(chosen))
                return _phrases(merger, known, before, crossover, chosen, runs)
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


def _complete_words(words: Words, merges: int, recipe: Recipe) -> list[str]:
    """The texts that are one word, of the alphabet and the first merges."""
    texts = [chr(code) for code in words.alphabet] + words.texts[:merges]
    by_class = recipe.scripts is not None
    return [text for text in texts if len(_core.split_words(text, by_class)) == 1]


def _multiword_merger(
    sequences: _core.Sequences, known: list[str], recipe: Recipe, floor: int
) -> _core.Merger:
    rules = recipe.boundaries
    limits = _core.Limits(bytes=rules.max_bytes, units=rules.max_words, one_script=rules.one_script)
    return _core.Merger.over_words(sequences, known, limits, floor, recipe.scripts is not None)


def _run_to_parity(
    merger: _core.Merger, words: Words, recipe: Recipe, floor: int, progress: Progress
) -> int | None:
    """Learn phrases until they are worth no more than words; the crossover is where that is.

    None if the pairs above the floor do not reach that far."""
    counts = merger.counts()
    reached = 0
    while reached < words.room and merger.run(_SLICE):
        counts = merger.counts()
        reached = len(counts) + int((words.counts > counts[-1]).sum())
        progress.at(reached)
    if reached >= words.room:
        floor = int(counts[-1]) + 1
    elif floor == recipe.min_count:
        floor = 1  # nothing is rarer
    crossover = find_parity(words.counts, counts, words.room, floor)
    return None if crossover is None else min(crossover, len(words.texts))


def find_parity(
    traditional: NDArray[np.int64], multiword: NDArray[np.int64], room: int, floor: int
) -> int | None:
    """How many traditional merges to keep: one more would save no more than the last phrase.

        traditional  90 60 40 20 10     keep 3: phrases take the 2 places that are left;
        multiword    70 30 15           the next traditional merge saves 20, the last phrase 30

    `multiword` is known as far as counts are at least `floor`; None if that is too little to tell.
    """
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


def _choose_phrases(
    merger: _core.Merger, known: list[str], words: Words, crossover: int, recipe: Recipe
) -> list[int]:
    """The places, among the merges, of the phrases that fill the room behind the crossover.

    Left out are those with a word that is complete only behind it, those whose text is a token
    already, and, under the merges rule, those that do not encode to themselves."""
    base = [chr(code) for code in words.alphabet] + words.texts[:crossover]
    complete = len(_complete_words(words, crossover, recipe))
    needed = words.room - crossover
    while True:
        rarest = _rarest_words(merger, len(known))
        texts = merger.texts()
        first = {text: place for place, text in reversed(list(enumerate(texts)))}
        new = sorted(first[text] for text in first.keys() - set(base))
        chosen = [place for place in new if rarest[place] < complete]
        if recipe.segmentation == "merges":
            good = _encodable(base, [texts[place] for place in chosen])
            chosen = [chosen[i] for i in good]
        if len(chosen) >= needed or merger.run(needed - len(chosen)) == 0:
            return chosen[:needed]


def _rarest_words(merger: _core.Merger, known: int) -> list[int]:
    """Of each merge, the last of its words in the list of complete ones, which is by rank."""
    lefts, rights = (part.tolist() for part in merger.parts())
    rarest = list(range(known))
    for left, right in zip(lefts, rights, strict=True):
        rarest.append(max(rarest[left], rarest[right]))
    return rarest[known:]


def _encodable(base: list[str], texts: list[str]) -> list[int]:
    """The places of the texts that encode to themselves after `base`."""
    entries = base + texts
    states = _core.Encoder(entries, [1] * len(entries), fewest=False, first_id=0).states()
    if states[: len(base)].any():
        bad = entries[int(np.flatnonzero(states)[0])]
        raise AssertionError(f"the traditional token {bad!r} does not encode to itself")
    return np.flatnonzero(states[len(base) :] == 0).tolist()


def _phrases(
    merger: _core.Merger,
    known: list[str],
    before: NDArray[np.int64],
    crossover: int,
    chosen: list[int],
    runs: int,
) -> Phrases:
    """The chosen phrases with their uses; those of the others go back to their parts."""
    uses = merger.usage()
    lefts, rights = (part.tolist() for part in merger.parts())
    stays = set(chosen)
    for place in reversed(range(len(lefts))):
        if place not in stays:
            use = uses[len(known) + place]
            uses[lefts[place]] += use
            uses[rights[place]] += use
    change = (uses[: len(known)] - before).tolist()
    texts = merger.texts()
    return Phrases(
        crossover,
        [texts[place] for place in chosen],
        merger.counts()[chosen],
        {word: by for word, by in zip(known, change, strict=True) if by},
        uses[len(known) :][chosen],
        runs,
    )
