"""Tables and pictures to report, some of them hostile, and a strict reader of pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import strategies as st

from supratok.lab.report.tables import Table

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

ANY = st.text(st.characters(exclude_categories=()), max_size=12)  # lone surrogates too
HOSTILE = [
    "<script>alert(1)</script>", "</td></table>", "&amp;", "a\u2028b", "\u202eabc", "\x00\x1b[31m",
    "a|b\nc", "`x` **y**", "日本 $x$", "]]>", '" onload="alert(1)', "\ud800", "<!--", "\ufffe",
]  # fmt: skip
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M 0 0 L 9 9"/></svg>'
SVG = "{http://www.w3.org/2000/svg}"


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


def bench() -> Table:
    lines = [["4,000", "BPE-Standard", "3.1", "9"], ["4,000", "dense", "3.4", "8"],
             ["4,000", "WordPiece-BERT", "3.6", "7"], ["8,000", "`Recipe.dense()`", "4.0", "-"],
             ["8,000", "my.json", "3.9", "6"], ["9,000", "other.json", "9.9", "1"]]  # fmt: skip
    head = ["vocabulary", "tokenizer", "C/T", "seconds"]
    return Table("Bench", "claim", head, lines, higher=[2], lower=[3], grouped=True, aside=[2])


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
    """The page runs no script and loads nothing from elsewhere; its links lead to places in it."""
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
