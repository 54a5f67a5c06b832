"""How a tokenizer was trained, as facts for a page: figures first, then passes, then the recipe.

    training(card, lines)["figures"]      # [("vocabulary", "50,000", "tokens"), ...]

`lines` tell the passes in words; `supratok inspect` prints the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..tokenizer import Tokenizer
from .card import Card, mark
from .facts import held_out_density, ids_by_birth, tokens_by_words
from .recipes import listed

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
        "recipe": list(listed(tokenizer.recipe).items()),
    }


def _figures(tokenizer: Tokenizer) -> list[tuple[str, str, str]]:
    """A name, a figure and what it counts."""
    report, rule = tokenizer.report, tokenizer.recipe.segmentation
    found = [("Vocabulary", f"{tokenizer.vocab_size:,}", "tokens")]
    if (density := held_out_density(report)) is not None:
        found.append(("On held-out text", f"{density:.3f}", "characters per token"))
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
    size = len(tokenizer.ids)
    return [
        {"born": born, "letter": mark(born)[0], "meaning": mark(born)[2], "tokens": len(ids),
         "share": len(ids) / size}
        for born, ids in ids_by_birth(tokenizer).items()
    ]  # fmt: skip


def _words(tokenizer: Tokenizer) -> list[dict[str, Any]]:
    """How many tokens have one word, two words, ...; what no token has is left out."""
    counts = tokens_by_words(tokenizer)
    size = sum(counts.values())
    return [
        {"words": f"{name} word{'s' if name != '1' else ''}", "tokens": count,
         "share": count / size}
        for name, count in counts.items()
        if count
    ]  # fmt: skip
