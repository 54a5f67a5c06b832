"""What a tokenizer has learnt, for `supratok inspect`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..tokenizer import Tokenizer
from .show import new_console, new_table, quoted
from .summary import story


def learnt(tokenizer: Tokenizer, usage: NDArray[np.int64] | None, top: int) -> dict[str, Any]:
    entries = tokenizer.vocabulary
    born = [tokenizer.birth(id) for id in tokenizer.ids]
    by_class = tokenizer.recipe.scripts is not None
    crossing = [
        id
        for id, token in zip(tokenizer.entry_ids, entries, strict=True)
        if len(_core.split_words(token.text, by_class)) > 1
    ]
    learnt = [token for token in entries if token.born != "alphabet"]
    if usage is None:
        rows = [(token.text, token.count) for token in sorted(learnt, key=lambda t: -t.count)[:top]]
    else:
        order = np.argsort(-usage, kind="stable")[:top].tolist()
        rows = [(tokenizer.token_text(id), int(usage[id])) for id in order]
    return {
        "vocab_size": tokenizer.vocab_size,
        "recipe": tokenizer.recipe.to_dict(),
        "born": {
            name: _share(
                [id for id, birth in zip(tokenizer.ids, born, strict=True) if birth == name],
                usage,
                len(born),
            )
            for name in dict.fromkeys(born)
        },
        "crossing": _share(crossing, usage, len(born)),
        "longest": sorted((token.text for token in learnt), key=lambda t: (-len(t), t))[:top],
        "most_used": {"by": "count at birth" if usage is None else "use", "tokens": rows},
        "report": tokenizer.report,
    }


def _share(ids: list[int], usage: NDArray[np.int64] | None, size: int) -> dict[str, float]:
    """How many of the vocabulary these are, and of its use on the corpus, if there is one."""
    facts = {"tokens": len(ids), "share": len(ids) / size}
    if usage is not None:
        facts["use"] = float(usage[ids].sum() / max(1, usage.sum()))
    return facts


def show_learnt(facts: dict[str, Any], tokenizer: Tokenizer) -> None:
    console = new_console()
    boundaries = facts["recipe"].pop("boundaries")
    for name, value in (facts["recipe"] | boundaries).items():
        console.print(f"{name:20} {value}")
    table = new_table("vocabulary", "tokens", "share", "use")
    rows = facts["born"] | {"cross a word boundary": facts["crossing"]}
    for name, row in rows.items():
        use = f"{row['use']:.1%}" if "use" in row else "-"
        table.add_row(name, f"{row['tokens']:,}", f"{row['share']:.1%}", use)
    console.print(table)
    console.print("longest")
    for text in facts["longest"]:
        console.print(f"  {len(text):>10,}  {quoted(text)}", soft_wrap=True)
    console.print(f"\nmost used, by {facts['most_used']['by']}")
    for text, count in facts["most_used"]["tokens"]:
        console.print(f"  {count:>10,}  {quoted(text)}", soft_wrap=True)
    console.print("\ntraining")
    for line in story(tokenizer):
        console.print(f"  {line}", soft_wrap=True)
