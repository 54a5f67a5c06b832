"""What a tokenizer has learnt: for `supratok inspect`, and for the end of `supratok train`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .show import new_console, new_table, quoted
from .tokenizer import BYTES, Token, Tokenizer


def learnt(tokenizer: Tokenizer, usage: NDArray[np.int64] | None, top: int) -> dict[str, Any]:
    first = len(tokenizer.special_tokens) + BYTES  # the id of the first entry of the vocabulary
    entries = tokenizer.vocabulary
    born = ["special"] * (first - BYTES) + ["byte"] * BYTES + [token.born for token in entries]
    by_class = tokenizer.recipe.scripts is not None
    crossing = [
        first + i
        for i, token in enumerate(entries)
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
            name: _share([id for id, birth in enumerate(born) if birth == name], usage, len(born))
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
    for line in itertools.chain(story(tokenizer), _leaves("", facts["report"])):
        console.print(f"  {line}", soft_wrap=True)


def _leaves(name: str, value: object) -> Iterator[str]:
    """Each figure of the report in a line: "passes traditional words: 237"."""
    if not isinstance(value, dict):
        yield f"{name}: {value:,}" if isinstance(value, int) else f"{name}: {value}"
        return
    for inner, part in value.items():
        yield from _leaves(f"{name} {inner}".strip(), part)


def story(tokenizer: Tokenizer) -> Iterator[str]:
    """What training found, in lines for people; what the report lacks is left out."""
    report = tokenizer.report
    if "crossover" in report:
        yield f"crossover from words to phrases: {report['crossover']:.1%}"
    if phrases := _phrases(tokenizer.vocabulary):
        yield f"phrases: {' '.join(map(quoted, phrases))}"
    held_out = report.get("held_out", {})
    if held_out.get("tokens"):
        yield f"held out: {held_out['characters'] / held_out['tokens']:.3f} characters per token"
    if skipped := report.get("skipped"):
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in skipped.items())
        yield f"skipped records: {sum(skipped.values()):,} ({reasons})"


def _phrases(vocabulary: Sequence[Token]) -> list[str]:
    """The two commonest phrases of each number of words, among those of letters alone."""
    found: dict[int, list[str]] = {}
    for token in sorted(vocabulary, key=lambda token: -token.count):
        words = _core.split_words(token.text) if token.born in ("multiword", "expression") else []
        if words and all(word.strip().isalpha() for word in words):
            found.setdefault(len(words), []).append(token.text)
    return [text for _, texts in sorted(found.items()) for text in texts[:2]]
