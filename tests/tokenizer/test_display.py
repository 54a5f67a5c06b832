"""A tokenization as text and as HTML: nothing is lost, and nothing in it acts as HTML."""

from __future__ import annotations

import random
from html.parser import HTMLParser

import pytest

from supratok import Piece, Recipe, train
from supratok.tokenizer.display import Shown, tokens_html

HOSTILE = "<script>alert(1)</script> & \"quotes\" 'single' </div><b onmouseover=x>\x1b[31m\u202e"


class Page(HTMLParser):
    """What a browser would make of the HTML: the open tags, the tokens, their titles."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.tokens: list[str] = []
        self.titles: list[str] = []
        self.text = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open.append(tag)
        title = dict(attrs).get("title")
        if title is not None:
            self.titles.append(title)
            self.tokens.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] == "style":
            return
        self.text += data
        if self.open[-1] == "span" and len(self.titles) and "small" not in self.open:
            self.tokens[-1] += data


def pieces(*texts: str, born: str = "traditional") -> list[Piece]:
    return [Piece(id, text, born, 0, len(text), ()) for id, text in enumerate(texts)]


def test_plain_text_has_bars_between_tokens() -> None:
    shown = Shown(pieces("in", " New York", "\n"))
    assert str(shown) == repr(shown) == "in| New York|\\n"
    assert str(Shown([])) == ""


def test_html_of_a_real_tokenization() -> None:
    tokenizer = train(
        ["in New York as well as in New York"] * 30, Recipe(vocab_size=300), progress=False
    )
    text = "in New York\n\tas well as é"
    found = tokenizer.explain(text)
    page = Page(Shown(found)._repr_html_())
    assert page.open == []
    signs = str.maketrans({" ": "·", "\t": "→\t", "\n": "⏎\n"})
    assert page.tokens == [piece.text.translate(signs) for piece in found]
    assert [title.split(";")[0] for title in page.titles] == [f"id {piece.id}" for piece in found]
    for piece in found:
        assert piece.born in page.text  # the legend names each colour
    assert f"{len(found)} tokens" in page.text


def test_colour_is_never_the_only_sign() -> None:
    births = ("byte", "alphabet", "traditional", "multiword", "expression", "refined", "imported",
              "special", "always")  # fmt: skip
    letters = [tokens_html(pieces("x", born=born)).split("<sub>")[1][0] for born in births]
    assert len(set(letters)) == len(births)


@pytest.mark.parametrize("field", ["text", "born", "parts"])
def test_nothing_in_a_token_acts_as_html(field: str) -> None:
    values = {"text": "x", "born": "multiword", "parts": ("x", "y")}
    values[field] = (HOSTILE, HOSTILE) if field == "parts" else HOSTILE
    source = tokens_html([Piece(7, **values, start=0, end=1)])  # type: ignore[arg-type]
    page = Page(source)
    assert page.open == []
    assert set(page.tags) == {"div", "style", "span", "sub", "small"}
    assert "\x1b" not in source and "\u202e" not in source
    assert "<script>alert(1)</script>" in page.text + page.titles[0] or field == "text"
    if field == "text":
        assert page.tokens[0].startswith('<script>alert(1)</script>·&·"quotes"')


def test_random_text_keeps_the_page_whole() -> None:
    chance = random.Random(5)
    for _ in range(300):
        texts = ["".join(chance.choices("<>&'\"/ab=;\\ \n\t\x00é\u2028", k=9)) for _ in range(4)]
        page = Page(tokens_html(pieces(*texts)))
        assert page.open == [] and len(page.tokens) == 4


def test_a_long_text_says_how_many_tokens_are_not_drawn() -> None:
    page = Page(tokens_html(pieces(*["x"] * 6_000)))
    assert len(page.tokens) == 5_000
    assert "and 1,000 more tokens" in page.text and "6,000 tokens" in page.text
