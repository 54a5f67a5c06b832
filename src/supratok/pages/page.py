"""The pages as HTML: the playground, and one that stands alone.

    play_page(cards)                       # asks the server for tokens
    show_page(cards, "in New York")        # holds its tokens, works without a server and a script

Both are made from the same pieces in `assets/`: the look, the chips of tokens and their script. A
page that stands alone holds them; its policy names the one script by its hash.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ..common.packages import package
from .card import MARKS, Card
from .look import COLOURS, asset, style_sheet
from .template import new_environment
from .tokens import Encoded, encode, window
from .training import training
from .tree import Tree

EXAMPLE = (
    "At the end of the day, one of the most important things about New York is the number of people"
    " who live there.\n\nIn the United States, it was one of the first cities to be lit at night:"
    " as far as we know, in 1825. 🗽"
)
SHOWN = 20_000  # characters of a text whose tokens are on the page that stands alone
_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect y="4" width="6" height="8"'
    ' rx="2" fill="#3c82dc"/><rect x="7" y="4" width="9" height="8" rx="2" fill="#f0961e"/></svg>'
)
_KINDS = {"css": "text/css", "js": "text/javascript"}


def assets() -> dict[str, tuple[str, str]]:
    """By name, what the page of the playground loads: its content and its type."""
    found = {"look.css": style_sheet(), "chips.css": asset("chips.css") + marks()}
    found |= {name: asset(name) for name in ("play.css", "play.js", "vocabulary.js", "chips.js")}
    return {name: (text, _KINDS[name.rpartition(".")[2]]) for name, text in found.items()}


def marks() -> str:
    """The colours of passes and of tokenizers, as CSS. Those of passes let the page shine through,
    those of tokenizers become lighter on a dark page."""
    births = (f".b-{born} {{ --own: {rgb}; }}" for born, (_, rgb, _) in MARKS.items())
    places = (f".c-{place} {{ --place: {colour}; }}" for place, colour in enumerate(COLOURS))
    return "\n".join([*births, *places, ""])


def play_page(
    cards: Sequence[Card], summaries: Sequence[Sequence[str]] = (), price: float = 2.5
) -> str:
    """The page of the playground. `summaries`: by card, the passes of its training in words."""
    lines = summaries or [()] * len(cards)
    return _render(
        "play.html",
        cards=cards,
        births=_births(cards),
        training=[training(card, said) for card, said in zip(cards, lines, strict=True)],
        example=EXAMPLE,
        price=f"{price:g}",
        embedded=_json({born: meaning for born, (_, _, meaning) in MARKS.items()}),
    )


def show_page(cards: Sequence[Card], text: str, title: str = "One text, several tokenizers") -> str:
    """A text tokenized by several tokenizers, as one file. The counts are those of the whole text;
    the tokens are those that begin in its first `SHOWN` characters."""
    encoded = [encode(card, text) for card in cards]
    shown = [window(card, one, 0, SHOWN) for card, one in zip(cards, encoded, strict=True)]
    used = {known[1] for facts in shown for known in facts["known"].values()}
    script = asset("chips.js").replace("export ", "") + asset("show.js")
    cut = (
        "The text is long: the counts are those of all of it, the tokens those of its first"
        f" {SHOWN:,} characters."
    )
    return _render(
        "show.html",
        cards=cards,
        facts=[
            facts | extra
            for facts, extra in zip(shown, figures(cards, encoded, len(text)), strict=True)
        ],
        births={born: mark for born, mark in MARKS.items() if born in used},
        title=title,
        lead=_lead(text, len(cards)),
        cut=cut if len(text) > SHOWN else "",
        text=text[:SHOWN],
        style=_markup(style_sheet() + asset("chips.css") + marks()),
        script=_markup(script),
        policy=policy(script),
        embedded=_json(_embedded(cards, shown)),
    )


def figures(cards: Sequence[Card], encoded: Sequence[Encoded], size: int) -> list[dict[str, str]]:
    """What each card says of the whole text, in words and figures."""
    counts = [len(one) for one in encoded]
    most = max(counts)
    worst = cards[counts.index(most)].letter
    return [
        {
            "count": f"{count:,}",
            "ratio": f"{size / count:.2f}" if count else "–",
            "share": f"{100 * count / most:.2f}%" if most else "0%",
            "versus": _versus(count, most, worst, len(cards)) + _loss(one),
        }
        for count, one in zip(counts, encoded, strict=True)
    ]


def _versus(count: int, most: int, worst: str, cards: int) -> str:
    if cards == 1 or not most:
        return ""
    return f"{1 - count / most:.1%} fewer than {worst}" if count < most else "the most tokens"


def _loss(encoded: Encoded) -> str:
    return "; decoding does not give the text back" if encoded.lossless is False else ""


def policy(script: str) -> str:
    """Nothing is loaded and nothing sent; the one script runs, since its hash is this."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}';"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )


def _lead(text: str, cards: int) -> str:
    by = "one tokenizer" if cards == 1 else f"{cards} tokenizers"
    return f"{len(text):,} characters, {len(text.encode()):,} bytes, by {by}."


def _embedded(cards: Sequence[Card], shown: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the script tells of tokens: the facts of each and of its parts."""
    trees = [Tree(card) for card in cards]
    return {
        "meanings": {born: meaning for born, (_, _, meaning) in MARKS.items()},
        "cards": [
            {"letter": tree.card.letter, "name": tree.card.name, "joined": tree.joined,
             "tokens": tree.around(facts["known"])}
            for tree, facts in zip(trees, shown, strict=True)
        ],
    }  # fmt: skip


def _births(cards: Sequence[Card]) -> dict[str, tuple[str, str, str]]:
    """What the tokens of these tokenizers may be, for the legend."""
    found: set[str] = set()
    for card in cards:
        ours = card.ours
        births = map(ours.birth, ours.ids) if ours else ("piece", "phrase", "byte")
        found.update(births)
    return {born: mark for born, mark in MARKS.items() if born in found}


# --- Templates -------------------------------------------------------------------------------


@functools.cache
def _environment() -> Any:
    environment = new_environment("play", asset)
    environment.filters["newlines"] = lambda text: text[len(text.rstrip("\n")) :]
    environment.filters["parts"] = lambda text: re.findall(r"[ \t\n]|[^ \t\n]+", text)
    return environment


def _render(name: str, **facts: Any) -> str:
    icon = _markup(f"data:image/svg+xml,{quote(_ICON)}")
    return str(_environment().get_template(name).render(icon=icon, **facts))


def _markup(text: str) -> Any:
    return package("markupsafe", "play").Markup(text)


def _json(facts: Any) -> Any:
    """JSON inside a page: no text in it can end the script element."""
    written = json.dumps(facts, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    return _markup(written.replace("<", "\\u003c").replace("&", "\\u0026"))
