"""The site builds strictly, needs no other host, and its reference has every public name."""

from __future__ import annotations

import dataclasses
import html.parser
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from docs_pages import ROOT

import supratok
from supratok.cli.main import VERBS

docs_hooks: Any = pytest.importorskip("docs_hooks")  # needs mkdocs
docs_comments: Any = pytest.importorskip("docs_comments")
PARTS = (
    supratok.Boundaries, supratok.Curation, supratok.Seeds, supratok.Screen, supratok.Scripts,
    supratok.Expressions,
)  # fmt: skip


class Page(html.parser.HTMLParser):
    """What a page loads, its pictures, and its anchors."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.pictures: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids.add(given.get("id", ""))
        if tag in ("script", "img", "iframe", "source", "video", "audio", "embed"):
            self.loaded += [given[name] for name in ("src", "srcset") if name in given]
        if tag == "img":
            self.pictures.append(given["src"])
        if tag == "link" and given.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(given["href"])
        if tag == "a":
            self.links.append(given.get("href", ""))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(
        build, cwd=ROOT, capture_output=True, text=True, check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    return {path.stem: Page(path) for path in site.glob("*.html")}


@pytest.mark.slow
def test_nothing_comes_from_another_host(site: Path, pages: dict[str, Page]) -> None:
    outside = re.compile(r"^(?:[a-z]+:)?//")
    for name, page in pages.items():
        assert page.loaded, name
        assert [where for where in page.loaded if outside.match(where)] == [], name
    for sheet in site.rglob("*.css"):
        found = re.findall(r"(?:url\(|@import)\s*['\"]?((?:https?:)?//[^)'\"]+)", sheet.read_text())
        assert found == [], sheet


@pytest.mark.slow
def test_every_page_is_there_and_in_the_nav(pages: dict[str, Page]) -> None:
    sources = {path.stem for path in (ROOT / "docs").glob("*.md")}
    made = {Path(name).stem for name in [*docs_hooks.OUTSIDE.values(), "commands.md"]}
    assert pages.keys() == sources | made | {"404"}
    linked = {Path(link).stem for link in pages["index"].links if link.endswith(".html")}
    assert (sources | made) - {"index"} <= linked


@pytest.mark.slow
def test_every_picture_is_there(site: Path, pages: dict[str, Page]) -> None:
    shown = {picture for page in pages.values() for picture in page.pictures}
    assert {name for name in shown if not (site / name).exists()} == set()
    drawn = {f"pictures/{path.name}" for path in (ROOT / "docs" / "pictures").glob("*.svg")}
    assert drawn <= shown


def anchor(thing: Any, name: str) -> str:
    """The path of a public object where it is defined, which is its anchor."""
    return f"{thing.__module__}.{getattr(thing, '__qualname__', name)}"


@pytest.mark.slow
def test_the_reference_has_every_public_name(pages: dict[str, Page]) -> None:
    found = set().union(*(page.ids for name, page in pages.items() if name.startswith("reference")))
    wanted = {name: anchor(getattr(supratok, name), name) for name in supratok.__all__}
    wanted["CorpusError"] = "supratok.corpus.CorpusError"
    assert {name for name, place in wanted.items() if place not in found} == set()
    home = wanted["Tokenizer"]
    methods = [name for name in dir(supratok.Tokenizer) if not name.startswith("_")]
    assert [name for name in methods if f"{home}.{name}" not in found] == []
    for part in (supratok.Recipe, *PARTS):
        names = [name for name in dir(part) if not name.startswith("_")]
        names += [field.name for field in dataclasses.fields(part)]
        assert [name for name in names if f"{anchor(part, '')}.{name}" not in found] == []


@pytest.mark.slow
def test_the_page_of_commands_has_every_command(site: Path, pages: dict[str, Page]) -> None:
    assert VERBS.keys() <= pages["commands"].ids
    text = (site / "commands.html").read_text(encoding="utf-8")
    assert all(option in text for option in ("--vocab-size N", "--output-format", "--eos T"))


# --- The hooks, without a build


def test_links_out_of_the_pages() -> None:
    given = (
        "[a](../runs/README.md#x) [b](../core/merges.hpp) [c](scale.md#y) [d](../no.md) ![e](p.svg)"
    )
    wanted = "[a](runs.md#x) `b` [c](scale.md#y) [d](../no.md) ![e](p.svg)"
    assert docs_hooks.linked(given, Path("docs")) == wanted
    assert docs_hooks.linked("[a](docs/scale.md)", Path()) == "[a](scale.md)"


def test_commands_have_their_options_and_defaults() -> None:
    page = docs_hooks.commands_page()
    assert page.count("\n## ") == len(VERBS)
    train = page.split("\n## train\n")[1].split("\n## ")[0]
    assert "| `--hold-out SHARE` |" in train and "(default: 0.05)" in train
    assert "| `--engine {local,ray}` |" in train


def test_comments_are_documentation() -> None:
    lines = [
        "x = 1",
        "    # Choice: off.",
        "    # As in text",
        "    a: int = 0  # in bits",
        "    b = 2",
    ]
    assert docs_comments.comment(lines, 4) == "Choice: off. As in text. In bits."
    assert docs_comments.comment(lines, 5) == ""
    assert docs_comments.comment(["c: str = '#'  # Paper 3.3"], 1) == "Paper 3.3."


def test_examples_are_code() -> None:
    given = "Learn.\n\n>>> train(x)  # doctest: +SKIP\n3\n\n`a`: more."
    wanted = "Learn.\n\n```pycon\n>>> train(x)\n3\n```\n\n`a`: more."
    assert docs_comments.with_code(given) == wanted


@pytest.mark.slow
def test_options_say_what_they_mean(site: Path) -> None:
    page = (site / "reference-recipe.html").read_text(encoding="utf-8")
    text = " ".join(re.sub(r"<[^>]+>", "", page).split())
    assert "Words of letters or digits; punctuation does not count." in text
    for path in site.glob("reference-*.html"):
        assert "doctest" not in path.read_text(encoding="utf-8"), path
