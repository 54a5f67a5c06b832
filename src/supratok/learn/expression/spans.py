"""Spans of 2 to 5 words for the expression pass, and their figures.

A span must save tokens in held-out text, so only spans of the held-out documents can be accepted:
all of these are candidates. Two readings of the training text count them. The first counts spans
and the documents of their words; that rejects most spans. The second counts the neighbours of the
rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...common import _core
from ...common.progress import Progress
from ...readings import UNSPACED
from ...recipe import Boundaries, Expressions, Recipe
from ...tokenizer import BYTES
from ..words import Kind, script_of
from .deciding import Deciding
from .score import (
    Score,
    Spans,
    Totals,
    rejected,
    rejected_early,
    score,
)
from .stopwords import bare, is_letters, stopwords

Documents = Callable[[], Iterable[str]]  # starts a new reading of the training documents
NONE = 2**32 - 1  # no word

# Why a surface is invalid, by the class of the character that makes it so.
INVALID = {
    Kind.PUNCTUATION: "punctuation",
    Kind.NUMBER: "digits",
    Kind.SPACE: "whitespace",
    Kind.NEWLINE: "newline",
    Kind.CONTROL: "control characters",
}


@dataclass(frozen=True)
class ScoredSpans:
    """The spans that no hard rule rejects, with their scores, a row each."""

    texts: list[str]
    spans: Spans
    documents: NDArray[np.int64]  # df_train(s)
    scores: Score
    training_characters: int
    report: dict[str, int | dict[str, int]]


def find_candidates(
    table: _core.WordTable,
    held_out: Deciding,
    documents: Documents,
    encoder: _core.Encoder,
    recipe: Recipe,
    options: Expressions,
    threads: int,
    progress: Progress,
) -> ScoredSpans:
    """All spans of the held-out text that Appendix A does not reject."""
    progress.start("spans")
    texts = held_out.texts
    lexicon = read_lexicon(table, texts)
    most = min(options.max_words, recipe.boundaries.max_words)
    span_table = _core.SpanTable(lexicon.words, lexicon.groups, lexicon.begins, max(2, most))
    stretches = span_table.find(texts, table, options.min_count)
    report = _report_stretches(*stretches, len(span_table))
    rows, spans, in_documents, totals = _first_reading(
        span_table, lexicon, held_out, documents(), options, threads
    )
    reasons: Counter[str] = Counter({"rare": len(span_table) - len(rows)})

    def keep(why: NDArray[np.object_]) -> None:
        nonlocal rows, spans, in_documents
        reasons.update(why[why != None])  # noqa: E711
        places = np.flatnonzero(why == None)  # noqa: E711
        rows, spans, in_documents = rows[places], spans.take(places), in_documents[places]

    keep(rejected_early(spans, totals, options))  # the tokens are not counted yet
    keep(_breaks_boundaries(rows[:, 1:], lexicon, recipe.boundaries))
    texts = _texts(rows[:, 1:], lexicon.words)
    spans.tokens, outside = _count_tokens(texts, encoder, threads)
    keep(np.where(outside, "outside the alphabet", rejected_early(spans, totals, options)))
    progress.end(spans=len(rows))

    progress.start("neighbours")
    neighbours = _core.NeighbourTable(span_table, rows[:, 0].tolist())
    neighbours.count(documents(), threads)
    spans.left_entropy, spans.left_peak, spans.right_entropy, spans.right_peak = (
        neighbours.summary()
    )
    scores = score(spans, totals, options)
    why = rejected(spans, totals, scores, options)
    good = np.flatnonzero(why == None)  # noqa: E711
    keep(why)
    scores = Score(**{name: column[good] for name, column in vars(scores).items()})
    texts = _texts(rows[:, 1:], lexicon.words)
    progress.end(spans=len(rows))
    report |= {"rejected": dict(sorted(reasons.items())), "scored": len(rows)}
    characters = int(table.characters().sum())
    return ScoredSpans(texts, spans, in_documents, scores, characters, report)


# --- Words


@dataclass(frozen=True)
class Lexicon:
    """The words of the held-out text, in every spelling of the training text."""

    words: list[str]
    counts: NDArray[np.int64]  # c_train(w)
    groups: list[int]  # all spellings of one bare word have the same number
    begins: list[int]  # 1: a span may begin with it
    stops: NDArray[np.bool_]  # is a stopword
    scripts: NDArray[np.int64]  # 0: common to all


def read_lexicon(table: _core.WordTable, held_out: list[str]) -> Lexicon:
    texts, counts = table.rows()
    stops = stopwords(texts, counts)
    seen = {word for document in held_out for word in _core.split_words(document)}
    bares = {bare(word) for word in seen if is_letters(word)}
    kept = [(place, form) for place, form in enumerate(map(bare, texts)) if form in bares]
    number: dict[str, int] = {}
    groups = [number.setdefault(form, len(number)) for _, form in kept]
    words = [texts[place] for place, _ in kept]
    scripts = [script_of(word) for word in words]
    return Lexicon(
        words,
        counts[[place for place, _ in kept]],
        groups,
        [
            int(word[0] == " " or script in UNSPACED)
            for word, script in zip(words, scripts, strict=True)
        ],
        np.array([form in stops for _, form in kept], dtype=np.bool_),
        np.array(scripts, dtype=np.int64),
    )


# --- Figures


def _report_stretches(
    good: int, rare: int, not_beginning: int, by_class: NDArray[np.int64], candidates: int
) -> dict[str, int | dict[str, int]]:
    invalid = {name: int(by_class[cls]) for cls, name in INVALID.items()}
    return {
        "stretches": good + rare + not_beginning + int(by_class.sum()),
        "invalid_stretches": invalid | {"no leading space": not_beginning},
        "rare_stretches": rare,
        "candidates": candidates,
    }


def _first_reading(
    table: _core.SpanTable,
    lexicon: Lexicon,
    held_out: Deciding,
    training: Iterable[str],
    options: Expressions,
    threads: int,
) -> tuple[NDArray[np.int64], Spans, NDArray[np.int64], Totals]:
    """The spans that are not rare: a row each with its number and its words; and their figures."""

    def count(texts: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        table.count(texts, threads)
        return table.take_counts()[:2]

    held_counts, held_documents = held_out.count(count)
    table.count(training, threads)
    counts, documents, word_documents, ngrams, read = table.take_counts()
    words = table.rows().reshape(len(table), options.max_words).astype(np.int64)
    often = np.flatnonzero(counts >= options.min_count)
    pairs = _pair_counts(words, counts, words[often])
    words = words[often]
    present = words != NONE
    places = np.where(present, words, 0)
    length = np.array([len(word.strip(" ")) for word in lexicon.words], dtype=np.int64)
    spaces = np.array([word[0] == " " for word in lexicon.words], dtype=np.int64)
    letters = _sum(length[places], present)
    unknown = np.zeros(len(often))
    spans = Spans(
        words=present.sum(axis=1),
        counts=counts[often],
        word_counts=np.where(present, lexicon.counts[places], 0),
        word_documents=np.where(
            present, word_documents[np.array(lexicon.groups, dtype=np.int64)[places]], 0
        ),
        pair_counts=pairs,
        stopwords=_sum(lexicon.stops[places].astype(np.int64), present),
        letters=letters,
        characters=letters + _sum(spaces[places[:, 1:]], present[:, 1:]),
        held_out_counts=held_counts[often],
        held_out_documents=held_documents[often],
        tokens=np.full(len(often), 2, dtype=np.int64),
        left_entropy=unknown,
        right_entropy=unknown,
        left_peak=unknown,
        right_peak=unknown,
    )
    rows = np.column_stack([often, words])
    return rows, spans, documents[often], Totals(ngrams, read)


def _sum(values: NDArray[np.int64], present: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.asarray(np.where(present, values, 0).sum(axis=1))


def _pair_counts(
    all_words: NDArray[np.int64], counts: NDArray[np.int64], words: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The counts of neighbouring words. Each pair inside a span is itself a span of the held-out
    text, so its count is known."""
    if all_words.shape[1] > 2:
        is_pair = all_words[:, 2] == NONE
        all_words, counts = all_words[is_pair], counts[is_pair]
    keys = all_words[:, 0] << 32 | all_words[:, 1]
    order = np.argsort(keys)
    wanted = words[:, :-1] << 32 | words[:, 1:]
    place = np.searchsorted(keys[order], wanted)
    found = np.append(counts[order], 0)[place]
    return np.where(words[:, 1:] != NONE, found, 0)


def _breaks_boundaries(
    words: NDArray[np.int64], lexicon: Lexicon, rules: Boundaries
) -> NDArray[np.object_]:
    present = words != NONE
    places = np.where(present, words, 0)
    size = np.array([len(word.encode()) for word in lexicon.words], dtype=np.int64)
    breaks = _sum(size[places], present) > rules.max_bytes
    if rules.one_script:
        scripts = np.where(present, lexicon.scripts[places], 0)
        first = scripts.max(axis=1, initial=0)[:, None]
        breaks |= ((scripts != 0) & (scripts != first)).any(axis=1)
    why = np.full(len(words), None, dtype=object)
    why[breaks] = "against the boundaries"
    return why


def _texts(words: NDArray[np.int64], known: list[str]) -> list[str]:
    return ["".join(known[word] for word in row if word != NONE) for row in words.tolist()]


def _count_tokens(
    texts: list[str], encoder: _core.Encoder, threads: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """How many tokens each text has, and whether one is a byte, which joins with nothing."""
    ids = encoder.encode_batch(texts, threads, True)
    counts = np.array([len(row) for row in ids], dtype=np.int64)
    bytes_ = np.array([bool(min(row) < BYTES) for row in ids], dtype=np.bool_)
    return counts, bytes_
