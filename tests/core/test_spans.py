"""Spans are counted as a plain reading counts them, whatever the text."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from supratok import Recipe
from supratok.common import _core
from supratok.common.progress import Progress
from supratok.learn.expression.deciding import Deciding
from supratok.learn.expression.spans import NONE, find_candidates, read_lexicon
from supratok.learn.expression.stopwords import bare, is_letters
from supratok.learn.expression.uses import Encoded
from supratok.readings import UNSPACED
from supratok.recipe import Expressions
from texts import PIECES, any_text, prose

MOST = 4
pieces = st.lists(st.sampled_from(["a", "b", " a", " b", " B", " the", *PIECES]), max_size=12)
documents = st.lists(pieces.map("".join) | any_text, max_size=6)

Span = tuple[str, ...]


def letter_stretches(text: str) -> list[tuple[int, Span]]:
    """Every stretch of 1 to MOST letter words: where it begins, and its words."""
    words = _core.split_words(text)
    return [
        (i, tuple(words[i : i + n]))
        for i in range(len(words))
        for n in range(1, MOST + 1)
        if i + n <= len(words) and all(map(is_letters, words[i : i + n]))
    ]


def spans_of(text: str) -> list[tuple[int, Span]]:
    return [
        (i, span)
        for i, span in letter_stretches(text)
        if len(span) > 1 and (span[0][0] == " " or script_of(span[0]) in UNSPACED)
    ]


def script_of(word: str) -> int:
    return next(filter(None, (_core.char_class(letter)[1] for letter in word)), 0)


def table_of(held_out: list[str], training: list[str]) -> tuple[_core.SpanTable, list[str]]:
    words = _core.WordTable(12)
    words.count(training, 1)
    lexicon = read_lexicon(words, held_out)
    table = _core.SpanTable(lexicon.words, lexicon.groups, lexicon.begins, MOST)
    table.find(held_out, words, 1)
    return table, lexicon.words


def as_spans(table: _core.SpanTable, words: list[str]) -> list[Span]:
    rows = table.rows().reshape(-1, MOST).tolist()
    return [tuple(words[place] for place in row if place != NONE) for row in rows]


@given(documents, documents, st.integers(1, 3))
def test_counts_equal_the_plain_ones(held_out: list[str], more: list[str], threads: int) -> None:
    training = held_out + more  # so that no pair is unknown
    table, words = table_of(held_out, training)
    found = as_spans(table, words)
    assert sorted(found) == sorted({span for text in held_out for _, span in spans_of(text)})

    table.count(training, threads)
    counts, in_documents, group_documents, stretches, read = table.take_counts()
    here = [[span for _, span in letter_stretches(text)] for text in training]
    plain = Counter(span for spans in here for span in spans)
    plain_documents = Counter(span for spans in here for span in set(spans))
    assert counts.tolist() == [plain[span] for span in found]
    assert in_documents.tolist() == [plain_documents[span] for span in found]
    assert stretches.tolist() == [
        sum(count for span, count in plain.items() if len(span) == n) for n in range(1, MOST + 1)
    ]
    assert read == len(training)
    bares = [{bare(word) for (word, *_) in spans} for spans in here]
    lexicon_bares = list(dict.fromkeys(map(bare, words)))
    assert group_documents.tolist() == [sum(b in some for some in bares) for b in lexicon_bares]
    assert table.take_counts()[0].sum() == 0  # taken


@given(documents, st.integers(1, 3))
@example(["x New York\n", "x New York", "x New York\n  x", "x New York \tx"], 1)
def test_neighbours_equal_the_plain_ones(training: list[str], threads: int) -> None:
    table, words = table_of(training, training)
    found = as_spans(table, words)
    asked = list(range(0, len(found), 2))
    neighbours = _core.NeighbourTable(table, asked)
    neighbours.count(training, threads)
    sides: dict[Span, tuple[Counter[str], Counter[str]]] = {
        found[place]: (Counter(), Counter()) for place in asked
    }
    for text in training:
        units = ["", *(_edge(unit) for unit in _core.split_words(text)), ""]
        for i, span in letter_stretches(text):
            if span in sides:
                sides[span][0][units[i]] += 1
                sides[span][1][units[i + len(span) + 1]] += 1
    columns = [column.tolist() for column in neighbours.summary()]
    for row, place in enumerate(asked):
        for side in (0, 1):
            seen = sides[found[place]][side]
            shares = [count / seen.total() for count in seen.values()]
            entropy = -sum(share * math.log2(share) for share in shares)
            assert columns[2 * side][row] == pytest.approx(entropy, abs=1e-12)
            assert columns[2 * side + 1][row] == max(shares)


def _edge(unit: str) -> str:
    """A line that ends and a document that ends are one neighbour; so is one that begins."""
    newline = 4  # core/text.hpp
    return "" if any(_core.char_class(char)[0] == newline for char in unit) else unit


def test_a_line_end_is_no_neighbour_of_its_own() -> None:
    training = ["x New York\n", "x New York", "x New York\n\tx New York"]
    table, words = table_of(training, training)
    place = as_spans(table, words).index((" New", " York"))
    neighbours = _core.NeighbourTable(table, [place])
    neighbours.count(training, 1)
    _, _, entropy, peak = (column.tolist() for column in neighbours.summary())
    assert (entropy, peak) == ([0.0], [1.0])


def test_stretches_over_a_line_end_are_counted_as_such() -> None:
    words = _core.WordTable(12)
    words.count([" old\nwine"], 1)
    lexicon = read_lexicon(words, [" old wine"])
    table = _core.SpanTable(lexicon.words, lexicon.groups, lexicon.begins, 2)
    *_, by_class = table.find([" old\nwine"], words, 1)
    assert by_class.tolist() == [0, 0, 0, 0, 2, 0, 0]  # " old\n" and "\nwine"


def test_what_becomes_of_stretches() -> None:
    words = _core.WordTable(12)
    training = [" old wine", " old wine", " new wine"]
    words.count(training, 1)
    lexicon = read_lexicon(words, ["old wine"])
    assert lexicon.words == [" wine", " old"]  # " new" is not in the held-out text
    table = _core.SpanTable(lexicon.words, lexicon.groups, lexicon.begins, 3)
    # " old wine"; and with a comma in them " old wine," " wine," " wine, 7" ", 7"
    good, rare, not_beginning, by_class = table.find([" old wine, 7"], words, 2)
    assert (good, rare, not_beginning) == (1, 0, 0)
    assert by_class.tolist() == [0, 4, 0, 0, 0, 0, 0]
    assert as_strings(table, lexicon.words) == [" old wine"]
    # Nobody has seen " wine old".
    assert table.find([" wine old wine"], words, 2)[:3] == (1, 2, 0)
    assert as_strings(table, lexicon.words) == [" old wine"]
    assert table.find(["old wine"], words, 2)[:3] == (0, 1, 0)  # "old" without space is unknown


def as_strings(table: _core.SpanTable, words: list[str]) -> list[str]:
    rows = table.rows().reshape(len(table), -1).tolist()
    return ["".join(words[place] for place in row if place != NONE) for row in rows]


@given(st.lists(st.lists(st.integers(0, 3), max_size=12), max_size=4),
       st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), max_size=6))  # fmt: skip
def test_uses_of_sequences(texts: list[list[int]], sequences: list[list[int]]) -> None:
    flat = [id for text in texts for id in [*text, 2**31]]
    numbers = [number for number, text in enumerate(texts) for _ in range(len(text) + 1)]
    columns = (np.array(flat, dtype=np.int64), np.array(numbers, dtype=np.int64))
    encoded = Encoded(*columns, np.ones(len(texts)))
    counts, within = encoded.uses_of_sequences(sequences)
    for sequence, count, documents_ in zip(sequences, counts, within, strict=True):
        times = [
            sum(text[i : i + len(sequence)] == sequence for i in range(len(text))) for text in texts
        ]
        assert count == sum(times)
        assert documents_ == sum(map(bool, times))
    used, in_documents = encoded.uses(4)
    assert used.tolist() == [sum(text.count(id) for text in texts) for id in range(4)]
    assert in_documents.tolist() == [sum(id in text for text in texts) for id in range(4)]
    assert len(encoded) == sum(map(len, texts))


def test_candidates_do_not_depend_on_threads_or_order() -> None:
    documents = prose(1, 500)
    training, held_out = documents[60:], documents[:60]
    words = _core.WordTable(16)
    words.count(training, 2)
    alphabet = sorted({c for text in training for c in text})
    encoder = _core.Encoder(alphabet, [1] * len(alphabet), fewest=False, first_id=0)
    options = Expressions(min_pmi=0.0)

    def find(documents: list[str], threads: int) -> tuple[list[str], list[float], Any]:
        found = find_candidates(
            words, Deciding.of(held_out), lambda: iter(documents), encoder,
            Recipe(vocab_size=1000), options, threads, Progress(),
        )  # fmt: skip
        return found.texts, found.scores.s.tolist(), found.report

    first = find(training, 1)
    assert find(training[::-1], 3) == first
    texts, _, report = first
    assert texts
    assert all(text[0] == " " and len(_core.split_words(text)) > 1 for text in texts)
    assert report["candidates"] == report["scored"] + sum(report["rejected"].values())
