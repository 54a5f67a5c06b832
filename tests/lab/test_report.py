"""Tables, pictures and the page: no text is lost or taken for markup, and browsers show it well."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import sys
import xml.etree.ElementTree as Tree
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from browser import OVER, PageOf, faults
from supratok.cli.main import main
from supratok.common.text import visible
from supratok.lab.baselines import BASELINES
from supratok.lab.report import style
from supratok.lab.report.lead import charts, letters, marked_cells, tiles
from supratok.lab.report.page import Section, find, page
from supratok.lab.report.tables import Table, best, figure, read
from supratok.pages import look
from supratok.recipe import PRESETS, Recipe

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

ANY = st.text(st.characters(exclude_categories=()), max_size=12)  # lone surrogates too
HOSTILE = [
    "<script>alert(1)</script>", "</td></table>", "&amp;", "a\u2028b", "\u202eabc", "\x00\x1b[31m",
    "a|b\nc", "`x` **y**", "日本 $x$", "]]>", '" onload="alert(1)', "\ud800", "<!--", "\ufffe",
]  # fmt: skip
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M 0 0 L 9 9"/></svg>'


def example(**more: Any) -> Table:
    lines = [["50k", "ours", "5.3", "5.57 (+8%)", "9"], ["50k", "theirs", "5.1", "-", "3.5"],
             ["50k", "lossy", "6.0", "-", "1"], ["100k", "ours", "5.7", "5.78", "-"],
             ["100k", "theirs", "5.7", "-", "4"]]  # fmt: skip
    head = ["size", "row", "test", "in the paper", "seconds"]
    return Table("Sweep", "fewer tokens", head, lines, ["2 cores"], paper=[3], higher=[2],
                 lower=[4], grouped=True, aside=[2], **more)  # fmt: skip


def hostile() -> Table:
    lines = [[text, "1,000", text] for text in HOSTILE]
    return Table(HOSTILE[0], HOSTILE[4], ["<b>", "count", HOSTILE[10]], lines, HOSTILE, HOSTILE[7])


# --- Tables


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


# --- Pictures


def drawings() -> dict[str, Callable[[], str]]:
    from supratok.lab.report import pictures

    names = {name: {1000: place + 1.0, 64_000: 2.0} for place, name in enumerate(HOSTILE)}
    items = {"x": {"a": -0.1, "b": 0.2, "paper": -0.3}, HOSTILE[0]: {"b": 0.1}, "without": {}}
    bands = {HOSTILE[0]: {1000: (0.9, 1.1), 64_000: (1.5, 2.5)}}
    title = "A title & more"
    return {
        "sweep": lambda: pictures.sweep(
            names, title=title, strong=HOSTILE[:1], paper=HOSTILE[1:2], bands=bands
        ),
        "bars": lambda: pictures.bars(items, title=title, paper=["paper"]),
        "languages": lambda: pictures.languages(items, title=title, paper=["paper"]),
        "trade": lambda: pictures.trade(
            {name: (1.0, place % 3) for place, name in enumerate(HOSTILE)},
            title=title,
            x="x",
            y="y",
            strong=HOSTILE[:1],
        ),
    }


SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", ["sweep", "bars", "languages", "trade"])
def test_pictures(name: str) -> None:
    draw = drawings()[name]
    picture = draw()
    assert picture == draw()
    root = Tree.fromstring(picture)
    assert root.findtext(f"{SVG}title") == "A title & more"
    assert "alert(1)" in root.findtext(".//{*}description", "")
    names = ["href", "{http://www.w3.org/1999/xlink}href"]
    links = [element.get(name, "#") for element in root.iter() for name in names]
    assert all(link.startswith("#") for link in links) and not re.search(r"url\((?!#)", picture)
    words = [element.text for element in root.iter(f"{SVG}text")]
    assert any("<script>" in (word or "") for word in words)  # text stays text


def test_a_tokenizer_looks_the_same_in_every_picture() -> None:
    """And unlike any other: by its marker and dashes too, for black and white."""
    assert {*PRESETS, *BASELINES} == set(look.TOKENIZERS)
    every = style.styles(look.TOKENIZERS)
    assert style.styles(["other", "SuperBPE"])["SuperBPE"] == every["SuperBPE"]
    looks = [str((look["color"], look["marker"])) for look in every.values()]
    uncoloured = [str((look["marker"], look["linestyle"])) for look in every.values()]
    assert len(set(looks)) == len(set(uncoloured)) == len(every)
    mixed = style.styles(["validation", "dense", "test", "the paper"], paper=["the paper"])
    assert len({str(look) for look in mixed.values()}) == 4
    assert mixed["the paper"]["markerfacecolor"] == look.GROUND


def test_what_a_person_has_set_does_not_change_pictures() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    draw = drawings()["bars"]
    with matplotlib.rc_context({"axes.grid": True, "lines.linewidth": 9, "font.size": 30}):
        changed = draw()
    assert changed == draw()


def test_drawing_nothing_is_an_error() -> None:
    from supratok.lab.report import pictures

    with pytest.raises(ValueError, match="no figures to draw"):
        pictures.bars({"x": {}}, title="Nothing")


def channels(colour: str) -> NDArray[np.float64]:
    return np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255


def in_the_dark(light: NDArray[np.float64]) -> NDArray[np.float64]:
    """As the page says: invert(1) hue-rotate(180deg), and screen on the ground. The matrix is that
    of the CSS filter effects."""
    matrix = [[-0.574, 1.430, 0.144], [0.426, 0.430, 0.144], [0.426, 1.430, -0.856]]
    turned = np.clip(matrix @ (1 - light), 0, 1)
    return np.asarray(1 - (1 - turned) * (1 - channels("#16181b")))


def contrast(*colours: NDArray[np.float64]) -> float:
    linear = [np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) for c in colours]
    low, high = sorted(float(parts @ [0.2126, 0.7152, 0.0722]) for parts in linear)
    return (high + 0.05) / (low + 0.05)


def test_contrast() -> None:
    white = channels(look.GROUND)
    for light in map(channels, (*look.COLOURS, look.INK, look.MUTED)):
        assert contrast(light, white) >= 4.5
        assert contrast(in_the_dark(light), in_the_dark(white)) >= 4.5
    text = page([Section(example(), [])])
    for said in re.findall(r":root \{(.*?)\}", text, re.S):
        tones = {name: channels(tone) for name, tone in re.findall(r"--(\w+): (#\w+);", said)}
        for ink in ("ink", "muted", "link"):
            for ground in ("ground", "tint", "paper"):
                assert contrast(tones[ink], tones[ground]) >= 4.5, (ink, ground)
    assert re.findall(r"--ground: (#\w+);", text) == [look.GROUND, "#16181b"]


# --- The page


class Reader(HTMLParser):
    """The elements and text of a page; fails if elements are not properly nested."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.cells: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs)
        if tag not in ("meta", "img"):
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        raise AssertionError(f"<{tag}/>")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self.open):
            self.cells[-1] += data
        if "style" not in self.open:
            self.words.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


DATA = re.compile(r"data:image/svg\+xml;base64,[A-Za-z0-9+/=]*")


def check(text: str, tables: int) -> Reader:
    reader = Reader(text)
    text.encode()
    values = [
        (tag, name, value or "") for tag, found in reader.tags for name, value in found.items()
    ]
    ids = [value for _, name, value in values if name == "id"]
    assert len(set(ids)) == len(ids)
    assert {value[1:] for _, name, value in values if name == "href"} <= set(ids)
    assert all(value[:1] == "#" for _, name, value in values if name == "href")
    assert not [name for _, name, _ in values if name.startswith("on")]
    assert {tag for tag, _ in reader.tags} & {"script", "link", "svg", "iframe"} == set()
    sources = [(tag, value) for tag, name, value in values if name == "src"]
    assert all(tag == "img" and DATA.fullmatch(value) for tag, value in sources)
    assert not re.search(r"//|@import|url\((?!#)", text.split("</head>")[0])
    assert [tag for tag, _ in reader.tags].count("table") == tables
    return reader


def test_a_page_of_what_runs_wrote(tmp_path: Path) -> None:
    for name, draw in drawings().items():
        folder = tmp_path / "runs" / name
        example(pictures=["a.svg", "b.svg"]).write(folder)
        (folder / "a.svg").write_text(draw(), encoding="utf-8")
        (folder / "b.svg").write_text(draw(), encoding="utf-8")
    text = page(find([tmp_path / "runs"]))
    reader = check(text, 4)
    tags = [tag for tag, _ in reader.tags]
    assert not re.search(r"https?:|url\((?!#)", text)
    assert tags.count("img") == 8 and tags.count("nav") == 1
    described = [found["alt"] for tag, found in reader.tags if tag == "img"]
    assert all("<script>alert(1)</script>" in (words or "") for words in described)
    assert text == page(find([tmp_path / "runs", tmp_path / "runs/bars"]))
    assert '<html lang="en">' in text and 'href="#section-4"' in text


def test_what_a_table_says_is_on_the_page() -> None:
    text = page([Section(example(comment="One `Recipe()`.\n\nTwo **strong** *words*."), [])])
    reader = check(text, 1)
    assert "nav" not in [tag for tag, _ in reader.tags]
    assert reader.cells[:4] == ["row", "test\u00a0↑", "in the paper", "seconds\u00a0↓"]
    assert reader.cells[4:9] == ["size 50k", "ours", "5.3", "5.57 (+8%)", "9"]
    assert re.findall(r"<strong><bdi>(.*?)</bdi></strong>", text) == ["5.3", "3.5"]
    assert text.count("<tbody>") == 2 and text.count('<tr class="aside">') == 1
    assert text.count('class="number paper"') == 6
    assert "<p><bdi>One <code>Recipe()</code>.</bdi></p>" in text
    assert "<strong>strong</strong> <em>words</em>" in text


def test_a_hostile_picture_stays_in_its_frame() -> None:
    bad = """<svg xmlns="http://www.w3.org/2000/svg" onload="a()"><script>a()</script>
      <title>&lt;/figcaption>&lt;script>a()&lt;/script></title>
      <metadata><description>" onerror="a()</description></metadata></svg>"""
    text = page([Section(example(), [bad])])
    ((_, image),) = (found for found in check(text, 1).tags if found[0] == "img")
    assert image["alt"] == '" onerror="a()' and set(image) == {"src", "alt"}
    assert base64.b64decode((image["src"] or "").partition(",")[2]).decode() == bad
    assert "<figcaption><bdi>&lt;/figcaption&gt;&lt;script&gt;" in text
    for wrong in ("", "<html/>", "<svg>"):
        with pytest.raises(ValueError, match="not an SVG picture"):
            page([Section(example(), [wrong])])


def test_hostile_text_stays_text() -> None:
    reader = check(page([Section(hostile(), []), Section(hostile(), [PICTURE])], HOSTILE[10]), 2)
    shown = [visible(cell) for line in hostile().lines for cell in line]
    assert reader.cells[3 : 3 + len(shown)] == shown


@given(st.lists(st.tuples(ANY, ANY).map(list), max_size=4), ANY, ANY, st.booleans())
@settings(max_examples=60)
def test_any_text_stays_text(lines: list[list[str]], one: str, other: str, grouped: bool) -> None:
    table = Table(one, other, [other, one], lines, [one], other, grouped=grouped, higher=[1])
    reader = check(page([Section(table, [])], one or "-"), 1)
    cells = [cell.rstrip("\u00a0↑") for cell in reader.cells]
    for line in lines:
        assert visible(line[1]).rstrip("\u00a0↑") in cells


# --- Figures first, and letters


def bench() -> Table:
    lines = [["4,000", "BPE-Standard", "3.1", "9"], ["4,000", "dense", "3.4", "8"],
             ["4,000", "WordPiece-BERT", "3.6", "7"], ["8,000", "`Recipe.dense()`", "4.0", "-"],
             ["8,000", "my.json", "3.9", "6"], ["9,000", "other.json", "9.9", "1"]]  # fmt: skip
    head = ["vocabulary", "tokenizer", "C/T", "seconds"]
    return Table("Bench", "claim", head, lines, higher=[2], lower=[3], grouped=True, aside=[2])


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
        "BPE-Standard": "E", "dense": "A", "WordPiece-BERT": "J", "my.json": "O", "other.json": "P",
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
        "O\u00a0my.json",
    ):
        assert cell in cells
    bars = re.findall(r'>(\w+)</span>&nbsp;<bdi>([^<]*)</bdi></span>\s<span class="track">', text)
    assert bars == [("J", "WordPiece-BERT"), ("A", "dense"), ("E", "BPE-Standard"),
                    ("A", "`Recipe.dense()`"), ("O", "my.json")]  # fmt: skip
    used = set(re.findall(r"--own: (#\w+)", text.split("</head>")[1]))
    assert used == {look.colour(place) for place in (0, 4, 9, 14, 15)}


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


def test_pictures_have_the_letters_too() -> None:
    assert style.labels(["dense 50,000", "my.json", "paper", "SuperBPE"], paper=["paper"]) == {
        "dense 50,000": "A dense 50,000", "my.json": "my.json", "paper": "paper",
        "SuperBPE": "D SuperBPE",
    }  # fmt: skip
    twice = ["dense 50,000", "dense 100,000"]
    assert list(style.labels(twice).values()) == twice
    assert style.styles(["dense 50,000"])["dense 50,000"] == style.styles(["dense"])["dense"]
    from supratok.lab.report import pictures

    series = {"dense": {1: 1.0, 2: 2.0}, "SuperBPE": {1: 1.0, 2: 1.5}}
    points = {name: (found[1], found[2]) for name, found in series.items()}
    items = {"English": {name: found[2] for name, found in series.items()}}
    for picture in (
        pictures.sweep(series, title="t"),
        pictures.trade(points, title="t", x="x", y="y"),
        pictures.languages(items, title="t"),
        pictures.bars(items, title="t"),
    ):
        words = {element.text for element in Tree.fromstring(picture).iter(f"{SVG}text")}
        assert {"A dense", "D SuperBPE"} <= words


def test_the_recipe_that_a_run_found(tmp_path: Path) -> None:
    example().write(tmp_path)
    (tmp_path / "recipe.toml").write_text(Recipe.dense(5000, refine=0).to_toml())
    text = page(find([tmp_path]))
    check(text, 2)
    assert "<code>refine</code></th><td><strong>0</strong></td><td>3</td>" in text
    assert "<bdi>vocab_size = 5000</bdi>" in text
    (tmp_path / "recipe.toml").write_text("refine = 'often'")
    with pytest.raises(ValueError, match=re.escape(str(tmp_path / "recipe.toml"))):
        find([tmp_path])


# --- The command


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example(pictures=["a.svg"]).write(tmp_path / "runs/one")
    (tmp_path / "runs/one/a.svg").write_text(PICTURE)
    out = tmp_path / "report.html"
    assert main(["report", str(tmp_path / "runs"), "--out", str(out), "--title", "For <you>"]) == 0
    assert capsys.readouterr().err == f"{out}: tables: 1, pictures: 1\n"
    assert "<h1><bdi>For &lt;you&gt;</bdi></h1>" in out.read_text(encoding="utf-8")
    (tmp_path / "runs/one/a.svg").unlink()
    assert main(["report", str(tmp_path / "runs"), "--out", str(out)]) == 1
    assert "the table names this picture; run what wrote" in capsys.readouterr().err
    (tmp_path / "runs/one/a.svg").write_text("<html/>")
    assert main(["report", str(tmp_path / "runs"), "--out", str(out)]) == 1
    assert "a.svg: not an SVG picture" in capsys.readouterr().err
    (tmp_path / "none").mkdir()
    assert main(["report", str(tmp_path / "none"), "--out", str(out)]) == 1
    assert "no table.json there" in capsys.readouterr().err


def test_tables_are_found_however_deep(tmp_path: Path) -> None:
    for name in ("runs/b", "runs/a/panel-b", "runs/a/panel-a"):
        replace(example(), title=name).write(tmp_path / name)
    found = [section.table.title for section in find([tmp_path / "runs"])]
    assert found == ["runs/a/panel-a", "runs/a/panel-b", "runs/b"]


def test_a_page_needs_no_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example(pictures=["a.svg"]).write(tmp_path)
    (tmp_path / "a.svg").write_text(PICTURE)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["report", str(tmp_path), "--out", str(tmp_path / "report.html")]) == 0


# --- A browser


@pytest.mark.parametrize("dark", [False, True])
def test_in_a_browser(page_of: PageOf, dark: bool) -> None:
    wide = Table("Wide", "c", ["a"] * 14, [["some words", *["5.57 (+8.6%)"] * 13]], ["x" * 400])
    sections = [Section(wide, [drawings()["bars"]()]), Section(hostile(), [])]
    sections.append(Section(bench(), [drawings()["sweep"]()], Recipe.dense(refine=0)))
    text = page(sections)
    style = "name => getComputedStyle(document.querySelector(name))"
    for width in (360, 380, 1400):
        shown = page_of(text, dark=dark, width=width)
        assert shown.evaluate(OVER) <= 0
        over = shown.evaluate(
            "(box => box.scrollWidth - box.clientWidth)(document.querySelector('.box'))"
        )
        picture = shown.evaluate("document.querySelector('img').clientWidth")
        assert picture <= 36 * 16
        if width < 400:
            assert over > 100  # the table scrolls, not the page
            assert picture > 300
        ground = shown.evaluate(f"({style})('body').backgroundColor")
        assert ground == ("rgb(22, 24, 27)" if dark else "rgb(255, 255, 255)")
        for drawn in ("img", ".badge", ".bar"):  # all turn over alike, so colours stay the same
            turned = shown.evaluate(f"({style})('{drawn}').filter")
            assert turned == ("invert(1) hue-rotate(180deg)" if dark else "none")
        shown.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert faults(shown) == []


def test_letters_can_be_read_on_paper(page_of: PageOf) -> None:
    """Printers leave backgrounds out: letters are black in a frame there, not white on nothing."""
    shown = page_of(page([Section(bench(), [])]))
    shown.emulate_media(media="print")
    found = shown.evaluate(
        "[...document.querySelectorAll('.badge')].map(one => [getComputedStyle(one).color,"
        " getComputedStyle(one).backgroundColor, getComputedStyle(one).borderTopColor])"
    )
    assert found and {*map(tuple, found)} == {("rgb(0, 0, 0)", "rgba(0, 0, 0, 0)", "rgb(0, 0, 0)")}
