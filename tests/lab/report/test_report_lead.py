"""What leads a page: the best figures, bars, and a letter for each tokenizer."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from report_examples import ANY, bench, check, example

from supratok.lab.report.lead import charts, letters, marked_cells, tiles
from supratok.lab.report.page import Section, page
from supratok.lab.report.tables import Table
from supratok.pages import look


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("dense", "dense"), ("dense 100,000", "dense"), ("dense, 50k", "dense"),
        ("`Recipe.dense()`", "dense"), ("`Recipe.dense(50_000)`", "dense"),
        ("`Recipe()`", "default"), ("`dense` 100,000", "dense"), ("my.json", "my.json"),
        ("paper, not curated", "paper, not curated"), ("o200k", "o200k"), ("", ""),
        ("`Recipe.dense(refine=0)`", "Recipe.dense(refine=0)"), ("denser", "denser"),
    ],
)  # fmt: skip
def test_the_tokenizer_that_a_cell_names(cell: str, name: str) -> None:
    assert look.tokenizer_of(cell) == name


@given(ANY)
def test_any_cell_names_something(cell: str) -> None:
    assert isinstance(look.tokenizer_of(cell), str)


def test_letters_of_a_page() -> None:
    """Known tokenizers have theirs; no other tokenizer takes a letter of theirs."""
    known = letters([bench()])
    assert {name: look.letter(place) for name, place in known.items()} == {
        "BPE-Standard": "E", "dense": "A", "WordPiece-BERT": "J", "my.json": "Q", "other.json": "R",
    }  # fmt: skip
    assert marked_cells(bench(), known)[3, 1] == 0
    rows = replace(bench(), head=["vocabulary", "row", "C/T", "seconds"])
    assert set(letters([rows])) == {"BPE-Standard", "dense", "WordPiece-BERT"}
    late = Table(
        "t", "c", ["run", "s", "tokenizer"], [["first", "1", "8f3a"], ["2nd", "2", "dense"]]
    )
    assert letters([late]) == {"dense": 0}  # a column of digests is no column of names


def test_a_letter_stands_beside_each_tokenizer() -> None:
    text = page([Section(bench(), [])])
    cells = check(text, 1).cells
    for cell in (
        "E\u00a0BPE-Standard",
        "A\u00a0dense",
        "A\u00a0`Recipe.dense()`",
        "Q\u00a0my.json",
    ):
        assert cell in cells
    bars = re.findall(r'>(\w+)</span>&nbsp;<bdi>([^<]*)</bdi></span>\s<span class="track">', text)
    assert bars == [("J", "WordPiece-BERT"), ("A", "dense"), ("E", "BPE-Standard"),
                    ("A", "`Recipe.dense()`"), ("Q", "my.json")]  # fmt: skip
    used = set(re.findall(r"--own: (#\w+)", text.split("</head>")[1]))
    assert used == {look.colour(place) for place in (0, 4, 9, 16, 17)}


def test_the_best_figures_come_first() -> None:
    table = bench()
    found = tiles(table, letters([table]))
    assert [(tile.figure, tile.place, tile.name, tile.group) for tile in found] == [
        ("3.4", 0, "dense", "4,000"),  # the line apart does not compete
        ("4.0", 0, "`Recipe.dense()`", "8,000"),
    ]
    assert [(tile.next_name, tile.next_figure) for tile in found] == [
        ("BPE-Standard", "3.1"), ("my.json", "3.9"),
    ]  # fmt: skip
    (first, some), (second, others) = charts(table, letters([table]))
    assert (first, second) == ("4,000", "8,000") and [bar.width for bar in others] == [
        "100.0",
        "97.5",
    ]
    assert [(bar.figure, bar.hollow) for bar in some] == [
        ("3.6", True),
        ("3.4", False),
        ("3.1", False),
    ]
    text = page([Section(table, []), Section(example(), [])])
    order = [
        'class="overview"',
        'class="tiles"',
        "<nav",
        'id="section-1"',
        'class="bars"',
        "<table>",
    ]
    assert sorted(map(text.index, order)) == list(map(text.index, order))


def test_without_tokenizers_or_a_direction_there_are_no_bars() -> None:
    assert charts(example(), letters([example()])) == []
    (tile,) = tiles(example(), {})  # at 100k both are alike
    assert (tile.place, tile.name, tile.group) == (None, "row ours", "50k")
    plain = replace(bench(), higher=[], lower=[])
    assert tiles(plain, letters([plain])) == []
    assert charts(plain, letters([plain])) == []
    below = replace(
        bench(), lines=[["1", "dense", "-0.5", "1"], ["1", "paper", "2", "1"]], aside=[]
    )
    assert charts(below, letters([below])) == []
