"""Tables of counts: words, and the pairs of words in runs."""

from __future__ import annotations

import pytest

from supratok.common import _core
from supratok.reference import words as reference_words
from texts import HOSTILE, corpus, prose

BITS = 12


def words_of(documents: list[str], threads: int = 1) -> _core.WordTable:
    table = _core.WordTable(BITS)
    table.count(documents, threads)
    return table


def rows(table: _core.WordTable) -> dict[str, int]:
    texts, counts = table.rows()
    assert len(texts) == len(table)
    return dict(zip(texts, counts.tolist(), strict=True))


def test_words_are_counted_as_the_reference_does() -> None:
    documents = corpus(1, 80) + HOSTILE
    expected: dict[str, int] = {}
    for text in documents:
        for word in reference_words.split_words(text):
            expected[word] = expected.get(word, 0) + 1
    for threads in (1, 3):
        assert rows(words_of(documents, threads)) == expected


def test_rows_are_sorted() -> None:
    texts, counts = words_of(corpus(2)).rows()
    keys = [(-n, len(t.encode()), t) for t, n in zip(texts, counts.tolist(), strict=True)]
    assert keys == sorted(keys)


def test_no_order_of_documents_and_no_threads_change_a_table() -> None:
    documents = prose(1, 200) + corpus(3, 50)
    whole, backwards = words_of(documents), words_of(documents[::-1], 3)
    assert rows(whole) == rows(backwards)
    known = list(rows(whole))
    ngrams = []
    for words, texts, threads in ((whole, documents, 1), (backwards, documents[::-1], 3)):
        table = _core.RunTable(_core.Units(known, _core.Joints()), words.pairs, 2)
        table.count(texts, threads)
        ngrams.append([column.tolist() for column in table.ngrams(4, 1)])
    assert ngrams[0] == ngrams[1]


def test_the_sketch_never_bounds_too_low() -> None:
    """Runs cut by the sketch at a floor lose no pair that was seen so often."""
    documents = prose(2, 150)
    words = words_of(documents)
    known = list(rows(words))
    floor = 5
    table = _core.RunTable(_core.Units(known, _core.Joints()), words.pairs, floor)
    table.count(documents, 1)
    pairs: dict[tuple[str, str], int] = {}
    for text in documents:
        split = reference_words.split_words(text)
        for pair in zip(split, split[1:], strict=False):
            pairs[pair] = pairs.get(pair, 0) + 1
    found = {
        (known[left], known[right]): count
        for left, right, count in zip(*(c.tolist() for c in table.ngrams(2, 1)[:3]), strict=True)
    }
    for pair, count in pairs.items():
        if count >= floor:
            assert found[pair] == count
    assert len(found) < len(pairs)  # and it does cut


def test_an_error_in_the_documents_goes_up() -> None:
    def documents() -> object:
        yield "fine"
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        _core.WordTable(BITS).count(documents(), 2)  # type: ignore[arg-type]
