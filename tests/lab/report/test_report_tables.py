"""Tables: written and read unchanged, with no text taken for markup."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as Tree
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_examples import ANY, example

from supratok.common.text import visible
from supratok.lab.report.tables import Table, best, figure, read


@given(st.lists(st.tuples(ANY, ANY).map(list), max_size=4), ANY, ANY)
@settings(max_examples=50)
def test_a_table_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, lines: list[list[str]], title: str, note: str
) -> None:
    folder = tmp_path_factory.mktemp("run")
    table = Table(title, note, ["a", title], lines, [note], note)
    table.write(folder)
    assert read(folder) == table


@given(st.lists(ANY, min_size=2, max_size=2))
@settings(max_examples=50)
def test_a_cell_of_markdown_is_one_cell_and_no_markup(cells: list[str]) -> None:
    text = Table("t", "c", ["a", "b"], [cells]).markdown()
    row = text.split("\n")[-2]
    assert len(text.splitlines()) == 7
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 3
    assert not re.search(r"(?<!\\)(?:\\\\)*(`|\*|<\w)", row)


def test_files_of_a_table(tmp_path: Path) -> None:
    table = example(comment="It *agrees*.", pictures=["sweep.svg"])
    table.write(tmp_path / "new")
    rows = csv.reader(io.StringIO((tmp_path / "new/table.csv").read_text(encoding="utf-8")))
    assert list(rows) == [table.head, *table.lines]
    text = (tmp_path / "new/table.md").read_text(encoding="utf-8")
    assert text.startswith("## Sweep\n\nfewer tokens\n\nIt *agrees*.\n\n| size | row |")
    assert text.endswith("| - | 4 |\n\n![sweep](sweep.svg)\n\n- 2 cores\n")


def test_a_comment_may_lie_beside_the_table(tmp_path: Path) -> None:
    example().write(tmp_path)
    (tmp_path / "comment.md").write_text("Said later.\n")
    assert read(tmp_path).comment == "Said later."
    example(comment="Own.").write(tmp_path)
    assert read(tmp_path).comment == "Own."


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lines": [["1"]]}, "line 0 has 1 cells and the head 5"),
        ({"lines": "no"}, "wrong type of 'lines': \"no\""),
        ({"paper": [5]}, "no place 5 for `paper`"),
        ({"aside": [True]}, "wrong type of 'aside'"),
        ({"pictures": ["../x.svg"]}, "'../x.svg' is no picture"),
        ({"higer": [1]}, "higer unknown"),
    ],
)
def test_a_damaged_table_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    example().write(tmp_path)
    path = tmp_path / "table.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        read(tmp_path)
    assert str(path) in str(error.value) and "again" in str(error.value)
    path.write_text("[]")
    with pytest.raises(ValueError, match="a JSON object"):
        read(tmp_path)


def test_best_is_by_group_and_direction() -> None:
    assert best(example()) == {(0, 2), (1, 4)}  # alike at 100k, alone there, lossy aside
    assert [figure(cell) for cell in ("5.57 (+8%)", "-0.4%", "1,234 s", "(5.9)", "-", "x1")] == [
        5.57, -0.4, 1234.0, 5.9, None, None,
    ]  # fmt: skip


@given(ANY)
def test_visible_text_stays_in_its_line(text: str) -> None:
    shown = visible(text)
    shown.encode()
    assert shown.isprintable() and len(shown.splitlines()) <= 1
    Tree.fromstring(f"<a>{shown.replace('&', '').replace('<', '')}</a>")
    assert visible(shown) == shown
