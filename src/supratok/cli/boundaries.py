"""`supratok boundaries`: tell how often prompts end inside tokens, and what it takes to be exact.

supratok boundaries prompts.jsonl my.json tokenizer.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.text import Text

from ..common.progress import make_progress
from ..corpus import open_corpus
from ..corpus.stream import shown_reading
from ..formats.huggingface.run import HuggingFace
from ..formats.peer import Locating, open_any
from ..formats.runtime import Ours
from ..formats.sentencepiece.run import SentencePiece
from ..lab.measure.boundaries import CUTS, LONGEST, AtCuts, Row, Spread, Subject, choose, measure
from ..tokenizer import Tokenizer
from .common import (
    ANY_TOKENIZER,
    FILES,
    add_reading_arguments,
    print_left_out,
    print_line,
    reading_of,
)
from .draw import new_console, new_table, print_table

NOTES = (
    "A cut divides a text into a prompt and what follows. Inside a token: the encoding of the whole"
    " text has a token that crosses the cut. One token back fails: the ids of the whole text cannot"
    " be reached by dropping the last id of the prompt and choosing a token that begins with its"
    " text. Covers: the ways in which the prompt may go on. Bytes back: the text behind the ids"
    " that no continuation changes. Figures of covers and bytes are the mean, the value that 95%"
    f" do not exceed, and the maximum. Texts longer than {LONGEST:,} characters count as several."
)
_COLUMNS = ("cuts", "inside a token", "one token back fails", "covers", "bytes back")


def add_arguments(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("file", metavar="FILE", help=f"the texts to cut, one of {FILES}")
    add("tokenizers", nargs="+", metavar="TOKENIZER", help=ANY_TOKENIZER)
    add(
        "--cuts",
        type=int,
        default=CUTS,
        metavar="N",
        help=f"try N cuts of each kind, drawn at random (default: {CUTS})",
    )
    add("--seed", type=int, default=0, metavar="N", help="draw other cuts (default: 0)")
    add_reading_arguments(command)
    shown = command.add_mutually_exclusive_group()
    shown.add_argument("--quiet", action="store_true", help="show no progress")
    shown.add_argument("--json", action="store_true", help="print JSON (default: a table)")


def run(args: argparse.Namespace) -> None:
    if args.cuts < 1:
        raise ValueError(f"--cuts {args.cuts}: must be at least 1")
    missing: dict[str, str] = {}
    subjects = [_open(path, args.file, missing) for path in args.tokenizers]
    progress = make_progress(not (args.quiet or args.json))
    with open_corpus(Path(args.file), **reading_of(args)) as corpus, progress:
        cuts = choose(shown_reading(corpus, corpus, "cuts", progress), args.cuts, args.seed)
        progress.end(cuts=sum(map(len, cuts.chosen.values())))
        if not cuts.documents:
            corpus.refuse_empty()
        rows = measure(subjects, shown_reading(corpus, corpus, "tokens", progress), cuts)
        progress.end()
        print_left_out(args.file, corpus)
    said = list(advice(rows[0]))
    if args.json:
        facts = {
            "file": args.file,
            "seed": args.seed,
            "documents": cuts.documents,
            "all_cuts": cuts.all,
            "tokenizers": [
                {"name": row.name, "at": {kind: _known(found) for kind, found in row.at.items()}}
                for row in rows
            ],
            "missing": missing,
            "advice": said,
        }
        print_line(json.dumps(facts))
        return
    _show(rows, cuts.all)
    console = new_console()
    lines = [f"No covers for {name}: {why}" for name, why in missing.items()]
    for line in ["Covers, bytes back: mean / 95% have at most / maximum.", *lines, *said]:
        console.print(Text(line), soft_wrap=True)


# --- Tokenizers


def _open(path: str, text: str, missing: dict[str, str]) -> Subject:
    """The tokenizer; notes in `missing` why its covers are not known."""
    try:
        peer = open_any(path)
    except ValueError as error:
        if _is_tokenizer(text):
            raise ValueError(
                f"{text}: a tokenizer, where the texts belong; pass the texts first: supratok"
                " boundaries FILE TOKENIZER ..."
            ) from error
        raise
    try:
        exact = _exact(peer, path)
        exact.covers("")
    except (ValueError, ImportError) as error:
        missing[peer.name] = " ".join(str(error).split()).removeprefix(f"{path}: ")
        return Subject(peer, None)
    return Subject(peer, exact)


def _is_tokenizer(path: str) -> bool:
    try:
        open_any(path)
    except (ValueError, OSError, ImportError):
        return False
    return True


def _exact(peer: Locating, path: str) -> Tokenizer:
    """The same tokenizer as ours; a ValueError if it cannot be imported."""
    if isinstance(peer, Ours):
        return peer.tokenizer
    if isinstance(peer, HuggingFace):
        return Tokenizer.from_huggingface(path)
    if isinstance(peer, SentencePiece):
        return Tokenizer.from_sentencepiece(path)
    raise ValueError("supratok imports no files of this format")


# --- For people


def _show(rows: list[Row], all_cuts: dict[str, int]) -> None:
    """One tokenizer: a line for each kind of cut. Several: a table for each kind."""
    console = new_console()
    if len(rows) == 1:
        table = new_table("cuts at", *_COLUMNS)
        for kind, found in rows[0].at.items():
            table.add_row(kind, *_cells(found))
        console.print(Text(rows[0].name, style="bold"), soft_wrap=True)
        print_table(console, table)
        return
    for kind, total in all_cuts.items():
        console.print(Text(f"{kind}: {total:,} in the texts", style="bold"))
        if total:
            table = new_table("tokenizer", *_COLUMNS)
            for row in rows:
                table.add_row(row.name, *_cells(row.at[kind]))
            print_table(console, table)


def _cells(found: AtCuts) -> list[str]:
    return [
        f"{found.cuts:,}",
        _percent(found.inside),
        _percent(found.missed),
        _spread(found.covers),
        _spread(found.bytes_back),
    ]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _spread(found: Spread | None) -> str:
    return "-" if found is None else f"{found.mean:.1f} / {found.p95:,} / {found.max:,}"


def _known(found: AtCuts) -> dict[str, Any]:
    facts = asdict(found)
    spreads = {"covers": found.covers, "bytes_back": found.bytes_back}
    facts |= {name: value._asdict() for name, value in spreads.items() if value}
    return {name: value for name, value in facts.items() if value is not None}


def advice(row: Row) -> Iterator[str]:
    """What the figures of a tokenizer mean for prompts, in plain words."""
    inside = {kind: found.inside for kind, found in row.at.items() if found.inside is not None}
    if not inside:
        yield "No text has two characters, so there is nothing to cut."
        return
    shares = ", ".join(f"{share:.1%} ({kind})" for kind, share in inside.items())
    yield f"{row.name}: prompts that end inside a token of their text: {shares}."
    if not any(inside.values()):
        yield "So their ids are those that a model learns before what follows."
        return
    yield "A model that learns from whole texts never sees their last ids before what follows."
    best = [kind for kind, share in inside.items() if share == min(inside.values())]
    if len(best) < len(inside):
        breaks = "; the line break belongs to what follows" if "line ends" in best else ""
        yield f"If you can choose where prompts end, choose {' or '.join(best)}{breaks}."
    if inside.get("sentence ends"):
        yield (
            "Hardly any sentence ends inside a token of tokenizers that were trained with"
            " --boundaries clauses."
        )
    missed = max(found.missed or 0.0 for found in row.at.values())
    if missed:
        yield f"Going one token back (token healing) fails for up to {missed:.1%} of these cuts."
    yield from _exactness(list(row.at.values()))


def _exactness(found: list[AtCuts]) -> Iterator[str]:
    covers = [at.covers for at in found if at.covers]
    back = [at.bytes_back for at in found if at.bytes_back]
    if not covers:
        yield "supratok cannot be exact with this tokenizer; see why above."
        return
    mean, most = max(one.mean for one in covers), max(one.max for one in covers)
    yield (
        "supratok.generate and supratok.logprob are exact at every cut: they weigh all covers of"
        f" the prompt, {mean:.1f} on average and at most {most:,}."
    )
    mean, most = max(one.mean for one in back), max(one.max for one in back)
    yield (
        "Ids that must not change while a text grows are those of tokenizer.stable(text): they end"
        f" {mean:.1f} bytes before the text on average, and at most {most:,}."
    )
