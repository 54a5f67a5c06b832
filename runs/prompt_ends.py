"""Claim: exact ends of prompts cost microseconds, and a text that grows is encoded as it comes.

    python runs/prompt_ends.py mine.json dense.json

Takes finished tokenizers. The prompts are the contexts of HellaSwag; each figure is the best of
five turns. A stream takes the characters one by one, in calls from Python: the time of calls that
do nothing is beside it. The lines of documents of the corpus go through a stream in the same way;
after each document the ids are compared with those of `encode`.
"""

from __future__ import annotations

import functools
import json
import random
import time
from collections.abc import Callable
from pathlib import Path

import zstandard

from rows import ENGLISH, Rows, claim, command, identity, located, options, write_table
from supratok import Tokenizer
from supratok.corpus import open_corpus
from supratok.lab.report.tables import Table

PROMPTS = "test/hellaswag/hellaswag_val.jsonl.zst"


class Nothing:
    """What a call costs that does nothing."""

    def append(self, text: str) -> None:
        return None


def best(work: Callable[[], object], parts: int) -> float:
    """Microseconds a part."""
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds) / parts * 1e6


def spread(counts: list[int]) -> str:
    counts = sorted(counts)
    return f"{sum(counts) / len(counts):.1f}, {counts[len(counts) * 95 // 100]}, {counts[-1]}"


def one_by_one(stream: Callable[[], object], chars: list[str]) -> None:
    append = stream().append  # type: ignore[attr-defined]
    for char in chars:
        append(char)


def differing(one: Tokenizer, corpus: Path, lines: int) -> str:
    """How many lines were streamed, and in how many documents the ids differ."""
    seen = wrong = 0
    for text in open_corpus(corpus):
        stream, ids = one.encode_stream(), list[int]()
        for char in text:
            keep, fresh = stream.append(char)
            ids[keep:] = fresh
        wrong += ids != one.encode(text)
        seen += text.count("\n") + 1
        if seen >= lines:
            break
    return f"{seen:,}, {wrong}"


def measured(path: Path, prompts: list[str], long: str, corpus: Path, lines: int) -> dict[str, str]:
    one = Tokenizer.load(path)
    start = time.perf_counter()
    one.covers("")
    first = time.perf_counter() - start
    found = [one.covers(text) for text in prompts]
    covers = [cover for some in found for cover in some[1:]]
    chars, ids = list(long), one.encode(long)
    many, size = len(prompts), len(long.encode())
    behind = [one.encode(text) for text in prompts]
    if one.encode_stream().append(long).ids != ids:
        raise SystemExit("a stream differs")

    def micro(work: Callable[[], object], parts: int) -> str:
        return f"{best(work, parts):.2f}"

    def nano(work: Callable[[], object], parts: int) -> str:
        return f"{best(work, parts) * 1000:.1f}"

    return {
        "lines streamed by characters, documents that differ": differing(one, corpus, lines),
        "the first question, once (ms)": f"{first * 1000:.0f}",
        "covers a prompt: mean, 95%, most": spread([len(some) for some in found]),
        "bytes back: mean, 95%, most": spread([len(some[-1].rest.encode()) for some in found]),
        "encode, a prompt (µs)": micro(lambda: [one.encode(text) for text in prompts], many),
        "covers, a prompt (µs)": micro(lambda: [one.covers(text) for text in prompts], many),
        "stable, a prompt (µs)": micro(lambda: [one.stable(text) for text in prompts], many),
        "may_come, a cover (µs)": micro(lambda: [one.may_come(c) for c in covers], len(covers)),
        "next_mask, a token (µs)": micro(lambda: [one.next_mask(ids) for ids in behind], many),
        "is_canonical, an id (ns)": nano(lambda: one.is_canonical(ids), len(ids)),
        "encode, a byte of a long text (ns)": nano(lambda: one.encode(long), size),
        "stream, all at once, a byte (ns)": nano(lambda: one.encode_stream().append(long), size),
        "stream, by single characters, a character (ns)": nano(
            lambda: one_by_one(one.encode_stream, chars), len(chars)
        ),
        "stream, one patch for all characters, a character (ns)": nano(
            lambda: one.encode_stream().extend(chars), len(chars)
        ),
        "calls that do nothing, a character (ns)": nano(
            lambda: one_by_one(Nothing, chars), len(chars)
        ),
        "encode of each single character (ns)": nano(
            lambda: [one.encode(char) for char in chars], len(chars)
        ),
    }  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    parser = options("What exact ends of prompts cost.", "prompt_ends")
    parser.add_argument("tokenizers", type=Path, nargs="+", help="files of finished tokenizers")
    parser.add_argument("--lines", type=int, default=200_000, help="default: 200,000")
    args = parser.parse_args(arguments)
    source, corpus = located(args.test, PROMPTS), located(args.corpus, ENGLISH)
    data = zstandard.ZstdDecompressor().stream_reader(source.read_bytes()).read()
    prompts = [json.loads(line)["ctx"] for line in data.decode().splitlines()]
    prompts = random.Random(1).sample(prompts, min(1000, len(prompts)))
    long = "\n".join(prompts)
    rows = Rows(args.out, args.again)
    columns = [
        rows.get(
            {
                "row": path.name,
                "tokenizer": identity(path),
                "text": identity(source),
                "lines": args.lines,
            },
            functools.partial(measured, path, prompts, long, corpus, args.lines),
        )
        for path in args.tokenizers
    ]
    names = [path.name for path in args.tokenizers]
    lines = [[name, *(column[name] for column in columns)] for name in columns[0]]
    size = f"{len(prompts):,} prompts, {len(long.encode()):,} bytes"
    notes = [size, rows.about(), command("prompt_ends", arguments)]
    write_table(args.out, Table("Ends of prompts", claim(__doc__), ["", *names], lines, notes))


if __name__ == "__main__":
    main()
