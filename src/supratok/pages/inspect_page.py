"""A page of one tokenizer: `supratok inspect TOKENIZER --html PAGE`.

    page("my.json", recipe, facts, ["traditional: 35,392 merges ..."], [])

The facts are those of `inspect --json`, and the page shows no figure that is not among them. It is
one file without network and script; the same tokenizer gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..recipe import Recipe
from ..tokenizer.display import BIRTHS, OTHER
from . import look
from .recipes import nearest
from .template import template

Facts = Mapping[str, Any]
# Of no tokenizer, name, width in percent, figure, not hollow: see parts.html.
Bar = tuple[None, str, str, str, bool]

# What a pass calls its figures, in the order of its work: what it looked at, why it refused, what
# it took.
_STEPS = {
    "candidates": "candidates",
    "screened": "refused: their words do not belong together",
    "too_few_documents": "refused: in too few documents",
    "blurred_boundaries": "refused: parts of longer phrases",
    "accepted": "accepted",
    "dropped": "dropped",
    "displaced": "gave way to them",
}
# The tokens that a pass made are told by their birth.
_MADE_BY = {"refinement": "refined"}


class Pass(NamedTuple):
    """What a pass did: in sentences, and in figures as bars."""

    name: str
    letter: tuple[str, str] | None
    lines: list[str]
    steps: list[Bar]


class Made(NamedTuple):
    """The tokens of one birth."""

    name: str
    letter: tuple[str, str]
    meaning: str
    tokens: str
    share: str
    use: str
    percent: str  # of the vocabulary, as a width


def page(
    name: str, recipe: Recipe, facts: Facts, summary: Sequence[str], files: Sequence[str]
) -> str:
    """The page, as HTML. `summary` tells each pass in a line that begins with its name; `files` are
    those whose use was counted."""
    preset, changes = nearest(recipe)
    return str(
        template(look.asset("inspect.html"), "play").render(
            name=name,
            files=files,
            tiles=list(_tiles(facts)),
            born=list(_made(facts["born"])),
            crossing=facts["crossing"],
            passes=list(_passes(facts["report"], summary)),
            lists=list(_lists(facts)),
            charts=list(_charts(facts)),
            preset=preset,
            place=look.TOKENIZERS.index(preset) if not changes else None,
            changes=changes,
            size=f"{recipe.vocab_size:,}",
            toml=recipe.to_toml().splitlines(),
        )
    )


# --- Figures -----------------------------------------------------------------------------------


def _tiles(facts: Facts) -> Iterator[tuple[str, str, str]]:
    """Figure, what it is, and more about it."""
    crossing, corpus = facts["crossing"], facts.get("corpus")
    yield f"{facts['vocab_size']:,}", "tokens in the vocabulary", ""
    tokens = f"{crossing['tokens']:,} tokens"
    yield f"{crossing['share']:.1%}", "of them cross a word boundary", tokens
    if (density := facts["characters_per_token"]) is not None:
        yield f"{density:.3f}", "characters per token", "in text held out of training"
    if corpus:
        if (density := corpus["characters_per_token"]) is not None:
            more = f"in {corpus['characters']:,} characters of these files"
            yield f"{density:.3f}", "characters per token", more
        yield f"{crossing['use']:.1%}", "of the tokens in use cross a word boundary", ""
        never = corpus["uses"]["never"]
        yield f"{never:,}", "tokens are never used in these files", ""


def _made(born: Mapping[str, Facts]) -> Iterator[Made]:
    """The births in the order of `show`'s legend; those it does not know come last."""
    order = [*(name for name in BIRTHS if name in born), *sorted(born.keys() - BIRTHS)]
    for name in order:
        row = born[name]
        use = f"{row['use']:.1%}" if "use" in row else ""
        share, percent = f"{row['share']:.1%}", f"{100 * row['share']:.2f}"
        meaning = BIRTHS.get(name, OTHER)[2]
        yield Made(name, _letter(name), meaning, f"{row['tokens']:,}", share, use, percent)


def _letter(born: str) -> tuple[str, str]:
    """The letter and the colour of a birth, as `show` draws them."""
    letter, colour, _ = BIRTHS.get(born, OTHER)
    return letter, colour


def _charts(facts: Facts) -> Iterator[tuple[str, list[Bar]]]:
    yield "Length in characters", _bars(facts["lengths"])
    yield "Words and marks in a token", _bars(facts["words"])
    yield "Script of the letters", _bars(facts["scripts"])
    if corpus := facts.get("corpus"):
        yield "Use of each token in these files", _bars(corpus["uses"])


def _bars(counts: Mapping[str, int]) -> list[Bar]:
    most = max([1, *counts.values()])
    return [(None, name, f"{100 * n / most:.1f}", f"{n:,}", False) for name, n in counts.items()]


# --- Passes ------------------------------------------------------------------------------------


def _passes(report: Facts, summary: Sequence[str]) -> Iterator[Pass]:
    """The passes in the order of the summary; a line without the name of a pass stands alone."""
    found: dict[str, list[str]] = {}
    for line in summary:
        name, colon, rest = line.partition(": ")
        found.setdefault(name if colon else "", []).append(rest if colon else line)
    passes = report.get("passes", {})
    for name, lines in found.items():
        born = _MADE_BY.get(name, name)
        steps = _steps(passes.get(name, {})) if isinstance(passes, Mapping) else []
        yield Pass(name, _letter(born) if born in BIRTHS else None, lines, steps)


def _steps(facts: Any) -> list[Bar]:
    """The candidates of a pass, and what became of them; a damaged report has no such figures."""
    if not isinstance(facts, Mapping) or not isinstance(facts.get("candidates"), int):
        return []
    known = {_STEPS[name]: facts[name] for name in _STEPS if isinstance(facts.get(name), int)}
    return _bars({name: count for name, count in known.items() if count > 0})


# --- Tokens ------------------------------------------------------------------------------------


def _lists(facts: Facts) -> Iterator[tuple[str, str, list[tuple[list[str], str]]]]:
    """Title, what the figures are, and each token with its figure. A token is cut at its blanks,
    which the page shows."""
    for title, key in (("Most used phrases", "phrases"), ("Most used tokens", "most_used")):
        found = facts[key]
        by = "times in these files" if found["by"] == "use" else "count when it was made"
        yield title, by, [(text.split(" "), f"{count:,}") for text, count in found["tokens"]]
    longest = [(text.split(" "), f"{len(text):,}") for text in facts["longest_phrases"]]
    yield "Longest phrases", "characters", longest
