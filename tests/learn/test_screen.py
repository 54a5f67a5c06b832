"""Training drops phrases that end at no boundary: the entropy, and its effect."""

from __future__ import annotations

import io
import itertools
import json
import math
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import supratok
from supratok import Boundaries, Recipe, reference
from supratok.cli.summary import summary_of
from supratok.common.progress import Events
from supratok.learn.screen import boundary_entropy, floor_for
from supratok.recipe import Screen, Segmentation
from supratok.reference.choice import boundary_bits
from texts import prose

ENTRIES, BREAK, BYTE = 6, 5, 6  # entry 5 breaks a line; 6 is no entry
OPEN = Screen(min_pmi=-99.0, min_count=2)
DOCUMENTS = st.lists(st.lists(st.integers(0, BYTE), max_size=30), max_size=8)


# --- The entropy


def counted(documents: list[list[int]], floor: int) -> np.ndarray:
    """As training counts: the uses of entries, and the pairs of them seen so often."""
    uses = Counter(entry for row in documents for entry in row)
    pairs = Counter(pair for row in documents for pair in itertools.pairwise(row))
    rows = [(*pair, n) for pair, n in pairs.items() if n >= floor and BYTE not in pair]
    lefts, rights, counts = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    edges = np.arange(ENTRIES) == BREAK
    return boundary_entropy(
        (lefts.astype(np.uint32), rights.astype(np.uint32), counts),
        np.array([uses[entry] for entry in range(ENTRIES)], dtype=np.int64), edges, floor,
    )  # fmt: skip


def plain(documents: list[list[int]], entry: int, floor: int) -> float:
    """The same for one entry, neighbour by neighbour."""
    found = []
    for step in (-1, 1):
        beside: Counter[int] = Counter()
        others = 0
        for row in documents:
            for place in (place for place, one in enumerate(row) if one == entry):
                inside = 0 <= place + step < len(row)
                if inside and row[place + step] not in (BREAK, BYTE):
                    beside[row[place + step]] += 1
                else:
                    others += 1
        counts = [count for count in beside.values() if count >= floor]
        others += beside.total() - sum(counts)
        while others:
            counts.append(min(others, max(1, floor - 1)))
            others -= counts[-1]
        found.append(sum(-n / sum(counts) * math.log2(n / sum(counts)) for n in counts))
    return min(found)


@given(DOCUMENTS, st.integers(1, 6))
def test_the_entropy_equals_its_plain_twin(documents: list[list[int]], floor: int) -> None:
    found = counted(documents, floor)
    assert found == pytest.approx([plain(documents, entry, floor) for entry in range(ENTRIES)])


@given(DOCUMENTS, st.integers(3, 6))
def test_what_is_not_listed_makes_it_lower_never_higher(
    documents: list[list[int]], floor: int
) -> None:
    exact = counted(documents, 2)
    assert (exact == counted(documents, 1)).all()
    assert (counted(documents, floor) <= exact).all()


@given(DOCUMENTS)
def test_the_reference_means_the_same(documents: list[list[int]]) -> None:
    texts = "abcde\nf"
    encoded = [[texts[entry] for entry in row] for row in documents]
    bits = boundary_bits(encoded, set(texts[:ENTRIES]))
    exact = counted(documents, 2)
    assert [bits.get(text, 0.0) for text in texts[:ENTRIES]] == pytest.approx(exact.tolist())


def test_worked_example() -> None:
    """2 is followed by 3 always, and preceded by four different ones; 3 ends two of the lines."""
    documents = [[0, 2, 3], [1, 2, 3], [4, 2, 3, 0], [3, 2, 3, 1]]
    found = counted(documents, 2)
    assert found[2] == 0.0
    assert found[3] == pytest.approx(0.8 * math.log2(5 / 4) + 0.2 * math.log2(5))  # 2 2 2 2 edge
    assert counted([[0, BREAK, 0, BREAK, 0, BREAK, 0]], 2)[0] == 2.0  # four edges, all different


def test_frequent_phrases_are_not_looked_at_neighbour_by_neighbour() -> None:
    assert floor_for(np.zeros(0, dtype=np.int64), 2.0) == 2
    assert floor_for(np.array([0, 600, 10**6]), 4.0) == 2
    assert floor_for(np.array([0, 256_000, 10**6]), 2.0) == 1001
    assert floor_for(np.array([10**9]), math.inf) == 2


# --- What training makes of it


def orders(documents: int = 400) -> list[str]:
    """ " in order" is always followed by " to", and follows anything; " in time" is free."""
    rng = random.Random(7)
    words = ["".join(rng.choices("abcdefgh", k=4)) for _ in range(300)]
    return [
        "{} {} in order to {} {} in time {}".format(*rng.choices(words, k=5))
        for _ in range(documents)
    ]


def trained(
    documents: list[str], bits: float, segmentation: Segmentation = "merges", max_words: int = 2
) -> supratok.Tokenizer:
    rules = Boundaries(max_words=max_words, whole_words=True)
    recipe = Recipe(
        vocab_size=400, segmentation=segmentation, boundaries=rules, phrase_price=1.0,
        screen=replace(OPEN, min_count=10, min_boundary_entropy=bits),
    )  # fmt: skip
    return supratok.train(documents, recipe, progress=False)


def phrases(tokenizer: supratok.Tokenizer) -> set[str]:
    return {token.text for token in tokenizer.vocabulary if token.born == "multiword"}


@pytest.mark.parametrize("segmentation", ["merges", "fewest"])
def test_a_phrase_that_always_goes_on_is_dropped(segmentation: Segmentation) -> None:
    before, after = (trained(orders(), bits, segmentation) for bits in (0.0, 2.0))
    assert {" in order", " in time"} <= phrases(before)
    assert " in order" not in phrases(after) and " in time" in phrases(after)
    report = after.report["passes"]["multiword"]
    assert report["blurred_boundaries"] > 0
    assert f"{report['blurred_boundaries']} with blurred boundaries" in "\n".join(summary_of(after))
    assert "blurred_boundaries" not in before.report["passes"]["multiword"]
    assert before.vocab_size == after.vocab_size


def test_what_a_phrase_is_made_of_stays() -> None:
    """With three words there is " in order to", which ends at boundaries and needs a part."""
    found = phrases(trained(orders(), 2.0, max_words=3))
    assert " in order to" in found
    assert {" in order", " order to"} & found


@pytest.mark.parametrize(
    ("bits", "whole_words", "segmentation"),
    [
        (1.5, True, "merges"),
        (1.0, False, "fewest"),
        pytest.param(1.5, True, "fewest", marks=pytest.mark.slow),
        pytest.param(1.0, False, "merges", marks=pytest.mark.slow),
        pytest.param(3.0, False, "merges", marks=pytest.mark.slow),
        pytest.param(3.0, False, "fewest", marks=pytest.mark.slow),
    ],
)
def test_equals_the_reference(bits: float, segmentation: Segmentation, whole_words: bool) -> None:
    recipe = Recipe(
        vocab_size=500, segmentation=segmentation, boundaries=Boundaries(whole_words=whole_words),
        screen=replace(OPEN, min_documents=2, min_boundary_entropy=bits), phrase_price=1.0,
        oversize=1.3,
    )  # fmt: skip
    documents = prose(3, 60)
    tokenizer = supratok.train(documents, recipe, progress=False)
    assert list(tokenizer.vocabulary) == reference.train(documents, recipe)
    assert tokenizer.vocab_size == 500
    assert phrases(tokenizer)
    assert tokenizer.report["passes"]["multiword"]["blurred_boundaries"] > 0
    if segmentation == "merges":
        assert all(len(tokenizer.encode(token.text)) == 1 for token in tokenizer.vocabulary)


def test_phrases_become_fewer_with_the_bits() -> None:
    sizes = []
    for bits in (0.0, 2.0, 4.0, 99.0):
        screen = replace(OPEN, min_boundary_entropy=bits)
        recipe = Recipe(vocab_size=700, screen=screen, phrase_price=1.0)
        sizes.append(len(phrases(supratok.train(prose(3, 250), recipe, progress=False))))
    assert sizes[0] > sizes[1] > sizes[2] > sizes[3] == 0


@pytest.mark.parametrize("segmentation", ["merges", "fewest"])
def test_threads_and_order_do_not_matter(tmp_path: Path, segmentation: Segmentation) -> None:
    screen = Screen(min_pmi=0.0, min_count=2, min_documents=2, min_boundary_entropy=3.0)
    recipe = Recipe(vocab_size=600, segmentation=segmentation, screen=screen)
    documents = prose(1, 400)
    saved = []
    for threads in (1, 2, 16):
        random.Random(threads).shuffle(documents)
        supratok.train(documents, recipe, threads, progress=False).save(tmp_path / "one.json")
        saved.append((tmp_path / "one.json").read_bytes())
    assert saved[0] == saved[1] == saved[2]
    again = supratok.Tokenizer.load(tmp_path / "one.json")
    assert again.report["passes"]["multiword"]["blurred_boundaries"] > 0
    assert again.recipe == recipe


@pytest.mark.parametrize(
    ("documents", "bits", "read"),
    [(1, 0.0, []), (3, 0.0, ["documents"]), (1, 2.0, ["documents", "neighbours"]),
     (3, 2.0, ["documents", "neighbours"])],
)  # fmt: skip
def test_the_text_is_read_once_more_only_if_asked(
    documents: int, bits: float, read: list[str]
) -> None:
    screen = replace(OPEN, min_documents=documents, min_boundary_entropy=bits)
    stream = io.StringIO()
    supratok.train(prose(1, 400), Recipe(vocab_size=500, screen=screen), progress=Events(stream))
    events = [json.loads(line) for line in stream.getvalue().splitlines()]
    phases = [event["phase"] for event in events if event["event"] == "start"]
    assert [phase for phase in phases if phase in ("documents", "neighbours")] == read


def test_a_text_without_words_has_no_phrases() -> None:
    """It once divided by its number of words."""
    tokenizer = supratok.train(["  \n \n"] * 60, Recipe(vocab_size=270), progress=False)
    assert {token.born for token in tokenizer.vocabulary} == {"alphabet", "traditional"}
