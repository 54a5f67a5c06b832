"""The page and its command: no text is lost or taken for markup, and browsers show it well."""

from __future__ import annotations

import base64
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_examples import ANY, HOSTILE, PICTURE, bench, check, drawings, example, hostile

from browser import OVER, PageOf, faults
from supratok.cli.main import main
from supratok.common.text import visible
from supratok.lab.report.page import Section, find, page
from supratok.lab.report.tables import Table
from supratok.recipe import Recipe


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
