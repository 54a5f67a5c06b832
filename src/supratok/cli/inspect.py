"""`supratok inspect`: show the recipe, the tokens and the training of a tokenizer.

supratok inspect my.json
supratok inspect my.json --corpus book.txt --top 30
supratok inspect my.json --toml > recipe.toml
"""

from __future__ import annotations

import argparse
import itertools
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..corpus import open_corpus
from ..tokenizer import Tokenizer
from ..tokenizer.inputs import naming
from .common import (
    TOKENIZER,
    add_reading_arguments,
    paths,
    print_left_out,
    print_line,
    reading_of,
    write_output,
)
from .draw import new_console, new_table, print_table, quoted
from .summary import summary_of

Usage = NDArray[np.int64]  # by id, how often a text uses it


def add_arguments(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("tokenizer", metavar="TOKENIZER", help=TOKENIZER)
    add(
        "--top",
        type=int,
        default=10,
        metavar="N",
        help="number of tokens in each list (default: 10)",
    )
    add(
        "--corpus",
        nargs="+",
        metavar="FILES",
        help="count how often these files use each token (default: show counts from training)",
    )
    add_reading_arguments(command)
    shown = command.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print JSON (default: tables)")
    shown.add_argument(
        "--toml", action="store_true", help="print the recipe for `train --recipe` and no more"
    )


def run(args: argparse.Namespace) -> None:
    tokenizer = Tokenizer.load(args.tokenizer)
    if args.toml:
        write_output(tokenizer.recipe.to_toml().encode())
        return
    usage = _usage(tokenizer, args) if args.corpus else None
    with naming(args.tokenizer):  # the report of a damaged file may hold anything
        facts = describe(tokenizer, usage, max(args.top, 0))
        if args.json:
            print_line(json.dumps({"tokenizer": args.tokenizer, **facts}))
        else:
            _show(facts, tokenizer)


def _usage(tokenizer: Tokenizer, args: argparse.Namespace) -> Usage:
    """How often the files of --corpus use each id, counted a few documents at a time."""
    usage = np.zeros(tokenizer.vocab_size, dtype=np.int64)
    with open_corpus(paths(args.corpus), **reading_of(args)) as corpus:
        documents = iter(corpus)
        while some := list(itertools.islice(documents, 256)):
            usage += tokenizer.usage(some)
        print_left_out("--corpus", corpus)
    return usage


def describe(tokenizer: Tokenizer, usage: Usage | None, top: int) -> dict[str, Any]:
    """The facts that `inspect` prints."""
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


def _share(ids: list[int], usage: Usage | None, size: int) -> dict[str, float]:
    """The share of these ids in the vocabulary and, given a corpus, in its tokens."""
    facts = {"tokens": len(ids), "share": len(ids) / size}
    if usage is not None:
        facts["use"] = float(usage[ids].sum() / max(1, usage.sum()))
    return facts


def _show(facts: dict[str, Any], tokenizer: Tokenizer) -> None:
    console = new_console()
    boundaries = facts["recipe"].pop("boundaries")
    for name, value in (facts["recipe"] | boundaries).items():
        console.print(f"{name:20} {value}")
    table = new_table("vocabulary", "tokens", "share", "use")
    rows = facts["born"] | {"cross a word boundary": facts["crossing"]}
    for name, row in rows.items():
        use = f"{row['use']:.1%}" if "use" in row else "-"
        table.add_row(name, f"{row['tokens']:,}", f"{row['share']:.1%}", use)
    print_table(console, table)
    console.print("longest")
    for text in facts["longest"]:
        console.print(f"  {len(text):>10,}  {quoted(text)}", soft_wrap=True)
    console.print(f"\nmost used, by {facts['most_used']['by']}")
    for text, count in facts["most_used"]["tokens"]:
        console.print(f"  {count:>10,}  {quoted(text)}", soft_wrap=True)
    console.print("\ntraining")
    for line in summary_of(tokenizer):
        console.print(f"  {line}", soft_wrap=True)
