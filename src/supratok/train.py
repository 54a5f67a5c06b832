"""train(): from documents to a tokenizer, in the order of the paper's Figure 1.

    documents ─count→ words ─traditional→ tokens ─count→ runs ─multiword→ tokens ─→ Tokenizer

The documents are read twice, as a stream. What is kept are tables of unique things: words, then
runs (neighbouring words that may join), each with its count.

How long each pass runs is not set by hand. The traditional pass is learnt to the full size, so the
worth of its every merge is known: the tokens it saves. The multiword pass takes over where its
merges are worth more than the traditional ones that would remain; both then end at the same count.
All traditional merges rank before all multiword ones: words complete before phrases form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core, tables
from .corpus import Corpus, CorpusError, Source, open_corpus
from .heldout import HeldOut, digest, is_held_out
from .progress import Progress, make_progress
from .prune import ROUNDS, prune
from .recipe import Boundaries, Recipe
from .tokenizer import BYTES, Token, Tokenizer, usable_threads

_SLICE = 500  # merges between two looks at the progress (and at Ctrl-C)


def train(
    documents_or_paths: Source,
    recipe: Recipe,
    threads: int | None = None,
    progress: bool | Progress = True,
    *,
    text_key: str = "text",
    whole_files: bool = False,
    skip_bad: bool = False,
) -> Tokenizer:
    """Learn a tokenizer.

    `documents_or_paths` is a file, a folder, a glob, a list of those, or an iterable of texts; see
    `corpus.open_corpus`. The same text and recipe give the same tokenizer, whatever the threads and
    the order of the documents.
    """
    workers = usable_threads(threads)
    with (
        open_corpus(
            documents_or_paths, text_key=text_key, whole_files=whole_files, skip_bad=skip_bad
        ) as corpus,
        make_progress(progress) as shown,
    ):
        counted = count_words(corpus, workers, shown)
        alphabet = choose_alphabet(counted.words.characters(), recipe)
        words = learn_traditional(counted.words, alphabet, recipe, shown)
        phrases = learn_multiword(corpus, counted, words, recipe, workers, shown)
        vocabulary = finish(counted, words, phrases, recipe, workers, shown)
        tokenizer = Tokenizer(
            vocabulary, recipe, _report(counted, words, phrases, vocabulary, recipe)
        )
        _measure(tokenizer, counted, workers, shown)
        return tokenizer


# --- Counting words


@dataclass
class Counted:
    """What the first reading leaves: the word table, a sample of held-out documents, and totals."""

    words: _core.WordTable = field(default_factory=lambda: _core.WordTable(tables.SKETCH_BITS))
    held_out: HeldOut = field(default_factory=HeldOut)
    documents: int = 0
    held_out_documents: int = 0
    characters: int = 0  # of the training documents
    skipped: dict[str, int] = field(default_factory=dict)

    @property
    def holds_out(self) -> bool:
        """A corpus so small that all of it would be held out is trained on instead."""
        return self.documents > self.held_out_documents


def count_words(corpus: Corpus, threads: int, progress: Progress) -> Counted:
    """The first reading: 5% of the documents are held out, the words of the others are counted."""
    counted = Counted()

    def training_documents() -> Iterator[str]:
        for text in _watched(corpus, "words", progress):
            counted.documents += 1
            code = digest(text)
            if is_held_out(code):
                counted.held_out_documents += 1
                counted.held_out.add(text, code)
            else:
                counted.characters += len(text)
                yield text

    counted.words.count(training_documents(), threads)
    if counted.documents == 0:
        raise CorpusError("the corpus is empty: no documents were found; check what was passed")
    if not counted.holds_out:
        texts = counted.held_out.documents
        counted.words.count(texts, threads)
        counted.characters = sum(map(len, texts))
    counted.skipped = dict(sorted(corpus.skipped.items()))
    progress.end(words=len(counted.words), documents=counted.documents)
    return counted


def _watched(corpus: Corpus, phase: str, progress: Progress) -> Iterator[str]:
    """The documents, with the progress kept up to date."""
    sized = corpus.bytes_total is not None
    progress.start(phase, corpus.bytes_total, "B" if sized else "documents")
    for number, text in enumerate(corpus):
        if number % 64 == 0:
            progress.at(corpus.bytes_read if sized else number, corpus.bytes_total)
        yield text


def choose_alphabet(characters: NDArray[np.int64], recipe: Recipe) -> list[int]:
    """The most frequent characters that together make up the coverage asked for."""
    seen = np.flatnonzero(characters)
    order = seen[np.lexsort((seen, -characters[seen]))]
    covered = np.cumsum(characters[order])
    enough = int(np.searchsorted(covered, recipe.character_coverage * covered[-1])) + 1
    alphabet = [int(code) for code in order[:enough]]
    base = len(recipe.special_tokens) + BYTES
    if base + len(alphabet) > recipe.vocab_size:
        raise ValueError(
            f"vocab_size={recipe.vocab_size} is too small: {base} special tokens and bytes and"
            f" {len(alphabet)} characters already take {base + len(alphabet)}; raise vocab_size,"
            f" or lower character_coverage={recipe.character_coverage}"
        )
    return alphabet


# --- The traditional pass


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
    merger = _traditional_merger(sequences, alphabet, recipe)
    _run(merger, room, "traditional", progress)
    words = Words(sequences, alphabet, merger.texts(), merger.counts(), room)
    progress.end(merges=len(words.texts))
    return words


def _traditional_merger(
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
        table = _count_runs(corpus, counted, known, recipe.boundaries, floor, threads, progress)
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


def _count_runs(
    corpus: Corpus,
    counted: Counted,
    known: list[str],
    rules: Boundaries,
    floor: int,
    threads: int,
    progress: Progress,
) -> _core.RunTable:
    joints = _core.Joints(
        cross_sentence=rules.cross_sentence,
        cross_colon=rules.cross_colon,
        numbers=rules.numbers_in_phrases,
    )
    table = _core.RunTable(known, counted.words, joints, floor)
    documents = _watched(corpus, "runs", progress)
    if counted.holds_out:
        documents = (text for text in documents if not is_held_out(digest(text)))
    table.count(documents, threads)
    progress.end(runs=len(table))
    return table


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
    last_phrase = np.full(
        room + 1, floor - 1, dtype=np.int64
    )  # at most: it was not seen more often
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
        good = _encodable(base, texts)
        if len(good) >= needed or merger.run(needed - len(good)) == 0:
            break
    after = merger.usage()
    uses = np.concatenate([after[: len(known)], after[len(known) :][good]])
    counts = merger.counts()[good]
    progress.end(phrases=len(good), crossover=crossover)
    return Phrases(crossover, known, [texts[i] for i in good], counts, before, uses, 0)


def _encodable(base: list[str], texts: list[str]) -> list[int]:
    """The places of the texts that encode to themselves after `base`."""
    fresh = set(base)
    new = [i for i, text in enumerate(texts) if not (text in fresh or fresh.add(text))]  # type: ignore[func-returns-value]
    entries = base + [texts[i] for i in new]
    states = _core.Encoder(entries, [1] * len(entries), fewest=False, first_id=0).states()
    if states[: len(base)].any():
        bad = entries[int(np.flatnonzero(states)[0])]
        raise AssertionError(f"the traditional token {bad!r} does not encode to itself")
    return [i for i, state in zip(new, states[len(base) :].tolist(), strict=True) if state == 0]


# --- The vocabulary


def finish(
    counted: Counted,
    words: Words,
    phrases: Phrases,
    recipe: Recipe,
    threads: int,
    progress: Progress,
) -> list[Token]:
    """The tokens in rank order, exactly as many as asked for if there are so many."""
    characters = counted.words.characters()
    tokens = [Token(chr(code), int(characters[code]), "alphabet") for code in words.alphabet]
    pairs = zip(words.texts[: phrases.crossover], words.counts.tolist(), strict=False)
    tokens += [Token(text, count, "traditional") for text, count in pairs]
    rows = zip(phrases.texts, phrases.counts.tolist(), strict=True)
    tokens += [Token(text, count, "multiword") for text, count in rows]
    size = recipe.vocab_size - len(recipe.special_tokens) - BYTES
    if recipe.segmentation == "merges" or len(tokens) <= size:
        return tokens[:size]
    held_out = counted.held_out.documents if counted.holds_out else []
    progress.start("pruning", ROUNDS, "rounds")
    kept = prune(
        [token.text for token in tokens],
        _uses(words, phrases, recipe),
        alphabet=len(words.alphabet),
        keep=size,
        held_out=held_out,
        held_out_scale=counted.characters / max(1, sum(map(len, held_out))),
        threads=threads,
        on_round=progress.at,
    )
    progress.end(dropped=len(tokens) - len(kept))
    return [tokens[place] for place in kept]


def _uses(words: Words, phrases: Phrases, recipe: Recipe) -> NDArray[np.int64]:
    """How often each entry stands in the training text, encoded by merges: in the words, less the
    words that stand in runs, plus what the runs became."""
    merger = _traditional_merger(words.sequences, words.alphabet, recipe)
    merger.run(phrases.crossover)
    in_words = merger.usage()
    place = {text: i for i, text in enumerate([chr(c) for c in words.alphabet] + words.texts)}
    for i, text in enumerate(phrases.known):
        in_words[place[text]] += phrases.uses_after[i] - phrases.uses_before[i]
    return np.concatenate([in_words, phrases.uses_after[len(phrases.known) :]])


def _report(
    counted: Counted,
    words: Words,
    phrases: Phrases,
    vocabulary: list[Token],
    recipe: Recipe,
) -> dict[str, Any]:
    """What training did, for `inspect`. No times: the same text gives the same file."""
    born = [token.born for token in vocabulary]
    next_word = words.counts[phrases.crossover : phrases.crossover + 1].tolist()
    return {
        "documents": counted.documents,
        "held_out_documents": counted.held_out_documents if counted.holds_out else 0,
        "characters": counted.characters,
        "skipped": counted.skipped,
        "crossover": round(phrases.crossover / learnt_size(recipe), 5),
        "passes": {
            "traditional": {
                "words": len(counted.words),
                "merges": phrases.crossover,
                "next_count": next_word[0] if next_word else 0,
                "kept": born.count("traditional"),
            },
            "multiword": {
                "runs": phrases.runs,
                "merges": len(phrases.texts),
                "last_count": int(phrases.counts[-1]) if len(phrases.counts) else 0,
                "kept": born.count("multiword"),
            },
        },
    }


def _measure(tokenizer: Tokenizer, counted: Counted, threads: int, progress: Progress) -> None:
    """Characters and tokens of the held-out sample, into the report."""
    if not counted.holds_out or counted.held_out_documents == 0:
        return
    progress.start("measuring")
    documents = counted.held_out.documents
    tokens = int(tokenizer.usage(documents, threads).sum())
    characters = sum(map(len, documents))
    tokenizer.report["held_out"] = {"characters": characters, "tokens": tokens}
    progress.end(characters_per_token=round(characters / tokens, 3))
