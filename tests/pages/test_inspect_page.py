"""`supratok inspect --html`: the figures of `--json`, text that stays text, a page for everyone."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from browser import OVER, PageOf, faults
from commands import documents, good, refused, run
from supratok import Recipe, Tokenizer, train
from supratok.common.text import visible
from supratok.pages.facts import NO_LETTERS, describe
from supratok.pages.inspect_page import page
from supratok.pages.recipes import Change, listed, nearest
from supratok.tokenizer.display import BIRTHS
from supratok.tokenizer.token import Token

pytest.importorskip("jinja2")

EVIL = [
    "<script>alert(1)</script>",
    "</td></table>",
    "&amp; & ",
    "\u202eabc",
    '" onload="a()',
    "a\nb",
]


class Reader(HTMLParser):
    """The elements and the words of a page; fails if elements are not properly nested."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words += data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inspected")
    recipe = Recipe.dense(450, special_tokens=["<end>"])
    train(documents(), recipe, progress=False).save(folder / "t.json")
    (folder / "book.txt").write_text("\n".join(documents(seed=9, count=20)), encoding="utf-8")
    return folder


def made(folder: Path, *options: object) -> tuple[str, dict[str, Any]]:
    """The page and, by the same options, the JSON."""
    out = folder / "page.html"
    good("inspect", folder / "t.json", *options, "--html", out)
    facts = json.loads(good("inspect", folder / "t.json", *options, "--json"))
    return out.read_text(encoding="utf-8"), facts


@pytest.mark.parametrize("with_corpus", [False, True])
def test_the_figures_are_those_of_json(folder: Path, with_corpus: bool) -> None:
    options = ("--corpus", folder / "book.txt") if with_corpus else ()
    text, facts = made(folder, "--top", 7, *options)
    words = Reader(text).words
    tiles = re.findall(r'<span class="figure">(.*?)</span>', text)
    assert tiles[0] == f"{facts['vocab_size']:,}" == "450"
    assert tiles[1] == f"{facts['crossing']['share']:.1%}"
    assert tiles[2] == f"{facts['characters_per_token']:.3f}"
    held_out = facts["report"]["held_out"]
    assert facts["characters_per_token"] == held_out["characters"] / held_out["tokens"]
    for name, row in facts["born"].items():
        use = rf'<td class="number">{row["use"]:.1%}</td>' if with_corpus else ""
        cells = rf"<bdi>{name}</bdi></th><td class=\"number\">{row['tokens']:,}</td>"
        assert re.search(rf'{cells}<td class="number">{row["share"]:.1%}</td>{use}', text)
    charts = [facts["lengths"], facts["words"], facts["scripts"]]
    charts += [facts["corpus"]["uses"]] if with_corpus else []
    bars = re.findall(
        r'<bdi>([^<]*)</bdi></span>\s*<span class="track">.*?value"><bdi>(.*?)</bdi>', text, re.S
    )
    shown = [(name, f"{count:,}") for chart in charts for name, count in chart.items()]
    assert bars[: len(shown)] == shown
    for chart in charts[:3]:
        assert sum(chart.values()) == 450 - 256 - 1  # all but bytes and the special token
    for token, count in facts["phrases"]["tokens"] + facts["most_used"]["tokens"]:
        assert re.search(rf"{re.escape(visible(token.replace(' ', '·')))}\s*{count:,}", words), (
            token
        )
    for token in facts["longest_phrases"]:
        assert f"{visible(token.replace(' ', '·'))}" in words
    if with_corpus:
        assert tiles[3] == f"{facts['corpus']['characters_per_token']:.3f}"
        assert tiles[4] == f"{facts['crossing']['use']:.1%}"
        assert tiles[5] == f"{facts['corpus']['uses']['never']:,}"
        assert sum(facts["corpus"]["uses"].values()) == 450
        assert facts["corpus"]["characters"] == len((folder / "book.txt").read_text())


def test_no_script_no_network_and_the_same_bytes(folder: Path) -> None:
    text, _ = made(folder)
    again, _ = made(folder)
    assert text == again
    tags = Reader(text).tags
    assert {tag for tag, _ in tags} & {"script", "link", "img", "iframe", "object"} == set()
    assert not {name for _, found in tags for name in found if name.startswith("on")}
    assert not re.search(r"https?://|@import|url\(", text)


def test_letters_of_passes_and_of_the_recipe(folder: Path) -> None:
    """Readable without colours: each pass with its letter, in the table and in the strip."""
    text, facts = made(folder)
    for name in facts["born"]:
        letter = BIRTHS[name][0]
        assert re.search(
            rf'<span class="badge pass"[^>]*>{letter}</span>&nbsp;<bdi>{name}</bdi>', text
        )
    strip = text.partition('<div class="strip"')[2].partition("</div>")[0]
    wide = [name for name, row in facts["born"].items() if row["share"] > 0.025]
    assert sorted(re.findall(r">(\w)</span>", strip)) == sorted(BIRTHS[name][0] for name in wide)
    assert "special_tokens" in text.partition("<h2>The recipe</h2>")[2].partition("<details>")[0]


def test_a_preset_has_its_letter() -> None:
    text = shown_of([Token("a", 3, "alphabet")], Recipe.dense(257))
    assert re.search(r'class="badge" style="--own: #0b5cad">A</span>&nbsp;<code>dense</code>', text)


def shown_of(tokens: list[Token], recipe: Recipe, report: dict[str, Any] | None = None) -> str:
    tokenizer = Tokenizer(tokens, recipe, report or {})
    facts = describe(tokenizer, tokenizer.usage(["abc"]), 20, 3)
    return page(EVIL[0], recipe, facts, [f"traditional: {EVIL[1]}", EVIL[0]], EVIL)


def test_markup_in_tokens_stays_text() -> None:
    alphabet = [Token(char, 9, "alphabet") for char in sorted(set("".join(EVIL)))]
    tokens = [*alphabet, *(Token(text, 5, "multiword") for text in EVIL)]
    recipe = Recipe.dense(256 + len(tokens))
    reader = Reader(shown_of(tokens, recipe))
    for text in EVIL:
        assert visible(text.replace(" ", "·")) in reader.words
    assert "script" not in {tag for tag, _ in reader.tags}
    assert not {name for _, found in reader.tags for name in found if name.startswith("on")}


DAMAGED: list[dict[str, Any]] = [
    {"passes": []}, {"passes": {"multiword": 3}}, {"held_out": []}, {"documents": "many"},
    {"held_out": {"tokens": "x"}}, {"passes": {"multiword": {"candidates": "many"}}},
    {"passes": {"refinement": {}}}, {"afterwards": 3}, {"passes": 1, "held_out": {"tokens": 0}},
]  # fmt: skip


def test_a_damaged_report_gives_a_page_or_an_error(folder: Path, tmp_path: Path) -> None:
    tokenizer = Tokenizer.load(folder / "t.json")
    path, codes = tmp_path / "bad.json", []
    for number, report in enumerate(DAMAGED):
        out = tmp_path / f"{number}.html"
        Tokenizer(tokenizer.vocabulary, tokenizer.recipe, report).save(path)
        done = run("inspect", path, "--html", out)
        said = done.stderr.decode()
        codes.append(done.returncode)
        assert said.count("\n") == 1 and out.exists() == (done.returncode == 0), report
        assert done.returncode == 0 or f"supratok: error: {path}: " in said
    assert {*codes} == {0, 1}
    few: list[dict[str, Any]] = [{}, {"held_out": {}}, {"passes": {}}, {"passes": {"odd": 1}}]
    for report in few:
        Tokenizer(tokenizer.vocabulary, tokenizer.recipe, report).save(path)
        good("inspect", path, "--html", tmp_path / "few.html")


def test_a_page_is_never_written_over_what_is_read(folder: Path) -> None:
    before = (folder / "t.json").read_bytes(), (folder / "book.txt").read_bytes()
    assert "also read" in refused("inspect", folder / "t.json", "--html", folder / "t.json")
    options = ("--corpus", folder / "book.txt", "--html", folder / "book.txt")
    assert "also read" in refused("inspect", folder / "t.json", *options)
    assert ((folder / "t.json").read_bytes(), (folder / "book.txt").read_bytes()) == before
    assert "a folder" in refused("inspect", folder / "t.json", "--html", folder)


def test_the_nearest_preset() -> None:
    assert nearest(Recipe.dense(50_000)) == ("dense", [])
    assert nearest(Recipe(vocab_size=900)) == ("default", [])
    assert nearest(Recipe.balanced(900)) == ("balanced", [])
    dearer = nearest(Recipe(vocab_size=900, phrase_price=3.0))
    assert dearer == ("balanced", [Change("phrase_price", "1.5", "3")])
    assert nearest(Recipe(vocab_size=900, saving=0.5)) == (
        "default", [Change("saving", "0.75", "0.5")],
    )  # fmt: skip
    changed = Recipe.dense(50_000, refine=0, min_count=5)
    assert nearest(changed) == (
        "dense",
        [Change("min_count", "2", "5"), Change("refine", "3", "0")],
    )
    name, changes = nearest(Recipe(screen=None))
    assert (name, changes) == ("default", [Change("screen", "on", "off")])
    assert listed(Recipe())["crossover"] == "parity"


def test_scripts_and_classes_by_hand() -> None:
    texts = ["a", "б", "ab", "1", " b", "日本", "µ", "x" * 13, "y" * 25]
    tokens = [Token(c, 2, "alphabet") for c in sorted(set("".join(texts)))]
    alphabet = {token.text for token in tokens}
    tokens += [Token(text, 1, "traditional") for text in texts if text not in alphabet]
    facts = describe(Tokenizer(tokens, Recipe.dense(256 + len(tokens)), {}), None, 3)
    assert facts["lengths"]["13 to 16"] == facts["lengths"]["25 or more"] == 1
    assert facts["lengths"]["2"] == 3 and facts["words"]["2"] == 0
    assert facts["scripts"]["Cyrillic"] == 1 and facts["scripts"]["Han"] == 3
    assert facts["scripts"][NO_LETTERS] == 3  # a blank, a digit, and the micro sign of all scripts
    assert facts["characters_per_token"] is None and "corpus" not in facts


@pytest.mark.parametrize("dark", [False, True])
def test_in_a_browser(folder: Path, page_of: PageOf, dark: bool) -> None:
    text, _ = made(folder, "--corpus", folder / "book.txt")
    for width in (380, 1280):
        shown = page_of(text, dark=dark, width=width)
        shown.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert faults(shown) == []
        assert shown.evaluate(OVER) <= 0
