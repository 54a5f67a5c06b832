"""Where a prompt could be cut: what no continuation changes, and how the open end may go on.

    cuts(card, "in New")
    # stable: "in"; open end: " New"; two ways on: a token ends here, or one begins with " New"

`Tokenizer.stable` and `Tokenizer.covers` say it exactly (docs/boundaries.md). Tokenizers of other
programs cannot tell; `supratok import` makes ours of many of them.
"""

from __future__ import annotations

from typing import Any

from ..tokenizer import Tokenizer
from ..tokenizer.boundaries import Cover
from .card import Card, mark, safe

_TAIL = 6  # stable tokens shown, the last ones
_EXAMPLES = 6  # tokens that may come next
_COVERS = 40  # ways shown


def cuts(card: Card, text: str) -> dict[str, Any]:
    """The facts of a page, or the reason why there are none."""
    tokenizer = card.ours
    if tokenizer is None:
        return {
            "why": "Only a tokenizer of supratok can tell exactly which ids a continuation may"
            " change; `supratok import` makes one of many tokenizers of other programs."
        }
    try:
        stable, covers = tokenizer.stable(text), tokenizer.covers(text)
    except ValueError as error:  # layouts of some imported tokenizers
        return {"why": f"{str(error)[:1].upper()}{str(error)[1:]}."}
    kept = len(stable.ids)
    return {
        "ids": kept,
        "characters": len(text) - len(stable.rest),
        "tail": [_token(card, id) for id in stable.ids[-_TAIL:]],
        "rest": safe(stable.rest),
        "covers": [_cover(card, tokenizer, cover, kept) for cover in covers[:_COVERS]],
        "more": max(0, len(covers) - _COVERS),
    }


def _cover(card: Card, tokenizer: Tokenizer, cover: Cover, kept: int) -> dict[str, Any]:
    """One way on: the tokens behind the stable ones, how the next token begins, which may come."""
    next_ids = tokenizer.may_come(cover)
    shown = next_ids[:_EXAMPLES].tolist() if cover.rest else []
    return {
        "tokens": [_token(card, id) for id in cover.ids[kept:]],
        "rest": safe(cover.rest),
        "next": len(next_ids),
        "examples": [_token(card, id) for id in shown],
    }


def _token(card: Card, id: int) -> list[Any]:
    born = card.born(id)
    return [id, safe(card.text(id)), born, mark(born)[0]]
