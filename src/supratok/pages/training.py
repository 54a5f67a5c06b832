"""How a tokenizer was trained, as facts for a page: figures first, then passes, then the recipe.

    training(card, lines)["figures"]      # [("vocabulary", "50,000", "tokens"), ...]

`lines` tell the passes in words; `supratok inspect` prints the same ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..common import _core
from ..tokenizer import Tokenizer
from .card import Card, mark

_MANY = 5  # words; longer tokens are counted with these
_RULES = {
    "merges": "joins neighbours, the earliest token of the list first, as BPE does",
    "fewest": "finds the fewest tokens that spell the text",
}


def training(card: Card, lines: Sequence[str] = ()) -> dict[str, Any]:
    """The facts, or of another program's tokenizer the reason why there are none."""
    tokenizer = card.ours
    if tokenizer is None:
        return {"why": "Its file does not say how it was trained: another program wrote it."}
    return {
        "figures": _figures(tokenizer),
        "births": _births(tokenizer),
        "words": _words(tokenizer),
        "lines": list(lines),
        "recipe": _recipe(tokenizer),
    }


def _figures(tokenizer: Tokenizer) -> list[tuple[str, str, str]]:
    """A name, a figure and what it counts."""
    report, rule = tokenizer.report, tokenizer.recipe.segmentation
    found = [("Vocabulary", f"{tokenizer.vocab_size:,}", "tokens")]
    held_out = report.get("held_out") or {}
    if held_out.get("tokens"):
        ratio = held_out["characters"] / held_out["tokens"]
        found.append(("On held-out text", f"{ratio:.2f}", "characters per token"))
    if isinstance(share := report.get("crossover"), float):
        found.append(("Crossover", f"{share:.0%}", "of the places, then phrases"))
    if isinstance(learnt := report.get("characters"), int):
        documents = f"characters in {report.get('trained_on', 0):,} documents"
        found.append(("Learnt from", _short(learnt), documents))
    return [*found, ("Rule", rule, _RULES[rule])]


def _short(number: int) -> str:
    for size, name in ((10**9, "billion"), (10**6, "million")):
        if number >= size:
            return f"{number / size:.1f} {name}"
    return f"{number:,}"


def _births(tokenizer: Tokenizer) -> list[dict[str, Any]]:
    """By pass: how many tokens it made, and their share."""
    counts = Counter(map(tokenizer.birth, tokenizer.ids))
    size = sum(counts.values())
    return [
        {"born": born, "letter": mark(born)[0], "meaning": mark(born)[2], "tokens": count,
         "share": count / size}
        for born, count in counts.items()
    ]  # fmt: skip


def _words(tokenizer: Tokenizer) -> list[dict[str, Any]]:
    """How many tokens have one word, two words, ..."""
    by_class = tokenizer.recipe.scripts is not None
    words = (len(_core.split_words(text, by_class)) for text in tokenizer.texts)
    counts = Counter(min(number, _MANY) for number in words)
    size = sum(counts.values())
    return [
        {"words": _named(words), "tokens": count, "share": count / size}
        for words, count in sorted(counts.items())
    ]


def _named(words: int) -> str:
    return "1 word" if words == 1 else f"{words} words{' or more' if words == _MANY else ''}"


def _recipe(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    """All settings, those of components as "component.name"."""
    rows: list[tuple[str, str]] = []
    for name, value in tokenizer.recipe.to_dict().items():
        if isinstance(value, dict):
            rows += [(f"{name}.{inner}", _value(setting)) for inner, setting in value.items()]
        else:
            rows.append((name, _value(value)))
    return rows


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value in ((), []):
        return "none"
    return f"{value:,}" if isinstance(value, int) else str(value)
