"""Claim: at 100,000 tokens, fewer tokens than every baseline of the paper (its Table 4, panel A).

    python runs/compression.py                             # both panels
    python runs/compression.py --first SP-BPE-CrossBoundary=20000    # where memory is short

Panel A: all tokenizers learn from the same text. Panel B: those that cross words learn again, from
the documents that entropy filtering (paper 3.2, `supratok curate`) keeps. Characters per token of
WikiText-103, validation and test, article by article. Each panel has its own folder.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

import zstandard

from english import (
    CROSSING,
    FILES,
    STANDARD,
    SUPRATOK,
    about,
    bench_options,
    density,
    in_paper,
    lossy,
    make_bench,
    over,
    rows_of,
    seconds,
    whole,
    wikitext,
)
from rows import claim, command, identity, write_table
from supratok.corpus import open_corpus
from supratok.corpus.curate import Curator
from supratok.corpus.records import json_line
from supratok.corpus.split import digest
from supratok.lab.bench import Bench, Row, compared
from supratok.lab.report import pictures
from supratok.lab.report.tables import NOTHING, Table
from supratok.recipe import Curation

# Paper, Table 4 A: characters per token, over BPE, seconds of training, multiple of SupraTok's
# seconds. The paper rounds after it takes differences.
PAPER = {
    "SupraTok": (5.78, 0.175, 376, 1.0),
    "SuperBPE": (5.68, 0.155, 772, 2.1),
    CROSSING: (5.62, 0.144, 3466, 9.2),
    "WordPiece-BERT": (5.00, 0.018, 41, 0.11),
    STANDARD: (4.92, 0.0, 24, 0.06),
    "SentencePiece-BPE": (4.83, -0.017, 132, 0.35),
    "Unigram-SentencePiece": (4.46, -0.093, 47, 0.13),
}
# Paper, Table 4 B: characters per token, learnt from all documents and from the kept ones, and the
# gain.
FILTERED = {
    "SupraTok": (5.780, 5.990, 0.0363),
    "SuperBPE": (5.680, 5.740, 0.0106),
    CROSSING: (5.623, 5.621, -0.0005),
}
TIMED = "balanced"  # times are relative to this recipe
ROWS = [*SUPRATOK, *list(PAPER)[1:], "BPE-Bytes-GPT4o", "BoundlessBPE"]
# In panel B no recipe curates by itself.
BOTH = ("dense", "balanced", "paper, not curated", "SuperBPE", CROSSING)


# --- Panel A

HEAD_A = [
    "tokenizer", *(f"{test} {what}" for test in FILES for what in ("C/T", f"over {STANDARD}")),
    "lossless", "training s", f"times {TIMED}", "MB", "paper C/T", "over BPE", "s",
    "times SupraTok",
]  # fmt: skip


def line_a(row: Row, rows: Mapping[str, Row]) -> list[str]:
    standard, timed = rows.get(STANDARD), rows.get(TIMED)
    cells = ([density(row, test), over(row, standard, test)] for test in FILES)
    return [
        row.entry.name, *(cell for some in cells for cell in some), whole(row), seconds(row),
        NOTHING if timed is None else _times(row.seconds, timed.seconds),
        f"{(row.peak_bytes or 0) / 1e6:,.0f}", *_paper_a(in_paper(row.entry.name)),
    ]  # fmt: skip


def _paper_a(name: str) -> list[str]:
    if name not in PAPER:
        return [NOTHING] * 4
    value, more, took, times = PAPER[name]
    return [f"{value:.2f}", f"{more:+.1%}" if more else NOTHING, f"{took:,}", f"{times:g}"]


def _times(value: float | None, other: float | None) -> str:
    return f"{value / other:.2f}" if value and other else NOTHING


def picture_a(rows: Mapping[str, Row]) -> dict[str, str]:
    """The gains over BPE-Standard."""
    if STANDARD not in rows or len(rows) < 2:
        return {}
    items: dict[str, dict[str, float]] = {}
    for name, row in rows.items():
        found = {test: compared(row, rows[STANDARD], test) for test in FILES}
        items[name] = {test: one.value for test, one in found.items() if one}
        if (paper := in_paper(name)) in PAPER and name != STANDARD:
            items[name]["the paper"] = PAPER[paper][1]
    title = f"Characters per token of WikiText-103, over {STANDARD}"
    return {"compression.svg": pictures.bars(items, title=title, paper=["the paper"])}


def panel_a(args: argparse.Namespace, bench: Bench, typed: str) -> None:
    rows = {row.entry.name: row for row in rows_of(bench, args.only, args.sizes)}
    notes = [
        f"{args.sizes[0]:,} tokens; only the recipe `paper` drops documents (curation)",
        *about(args, bench, list(rows.values())),
        "each training was timed once: seconds differ from run to run",
        "the paper's (Table 4 A) are of other training text, at 100,000 tokens",
        typed,
    ]
    table = Table(
        f"Compression at {args.sizes[0]:,} tokens (Table 4, panel A)", claim(__doc__), HEAD_A,
        [line_a(row, rows) for row in rows.values()], notes, paper=[9, 10, 11, 12],
        higher=[1, 3], aside=lossy(list(rows.values())),
    )  # fmt: skip
    write_table(bench.folder, table, picture_a(rows))


# --- Panel B

CLAIM_B = (
    "Filtering the training text by entropy makes tokenizers that cross words denser (the paper's"
    " Table 4, panel B)."
)
HEAD_B = [
    "tokenizer", *(f"{test} {what}" for test in FILES for what in ("unfiltered", "filtered",
                                                                   "gain")),
    "paper unfiltered", "filtered", "gain",
]  # fmt: skip


def kept_documents(corpus: Path, folder: Path) -> Path:
    """A file of the documents that `supratok curate` keeps by the paper's thresholds."""
    path = folder / f"{identity(corpus)[:12]}-kept.jsonl.zst"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished, curator = path.with_suffix(".part"), Curator(Curation())
        with open_corpus(corpus) as texts, zstandard.open(unfinished, "wb") as file:
            for text in texts:
                if curator.keeps(text, digest(text), record=False):
                    file.write(json_line({"text": text}) + b"\n")
        unfinished.rename(path)
    return path


def line_b(before: Row, after: Row) -> list[str]:
    cells = (
        [density(before, test), density(after, test), over(after, before, test)] for test in FILES
    )
    old, new, gain = FILTERED[in_paper(before.entry.name)]
    return [
        before.entry.name, *(cell for some in cells for cell in some),
        f"{old:.3f}", f"{new:.3f}", f"{gain:+.2%}",
    ]  # fmt: skip


def picture_b(pairs: list[tuple[Row, Row]]) -> dict[str, str]:
    items: dict[str, dict[str, float]] = {}
    for before, after in pairs:
        found = {test: compared(after, before, test) for test in FILES}
        gains = {test: one.value for test, one in found.items() if one}
        gains["the paper"] = FILTERED[in_paper(before.entry.name)][2]
        items[before.entry.name] = gains
    title = "What entropy filtering changes in characters per token"
    return {"filtering.svg": pictures.bars(items, title=title, paper=["the paper"], form="+.2%")}


def panel_b(args: argparse.Namespace, bench: Bench, filtered: Bench, typed: str) -> None:
    names = [name for name in args.only if name in BOTH]
    pairs = list(
        zip(rows_of(bench, names, args.sizes), rows_of(filtered, names, args.sizes), strict=True)
    )
    if not pairs:
        return
    before, after = bench.learnt_from["documents"], filtered.learnt_from["documents"]
    notes = [
        f"{args.sizes[0]:,} tokens; filtering keeps {after:,} of {before:,} documents"
        f" ({after / before:.1%}) by the paper's thresholds; the paper kept 76,000 of 100,000",
        *about(args, bench, [row for row, _ in pairs]),
        f"filtered: {filtered.rows.about()}",
        "gain: on the same articles, paired; the paper's (Table 4 B) are of other training text",
        typed,
    ]
    table = Table(
        f"Entropy filtering at {args.sizes[0]:,} tokens (Table 4, panel B)", CLAIM_B, HEAD_B,
        [line_b(*pair) for pair in pairs], notes, paper=[7, 8, 9], higher=[1, 2, 4, 5],
        aside=lossy([row for row, _ in pairs]),
    )  # fmt: skip
    write_table(filtered.folder, table, picture_b(pairs))


def main(arguments: list[str] | None = None) -> None:
    description = "Characters per token at one size, beside the paper's, and with filtered text."
    args = bench_options(description, "compression", [100_000], ROWS).parse_args(arguments)
    tests, typed = wikitext(args), command("compression", arguments)
    bench = make_bench(args, args.out / "panel-a", tests)
    kept = kept_documents(bench.corpus[0], args.out / "panel-b")
    filtered = make_bench(args, args.out / "panel-b", tests, kept)
    panel_a(args, bench, typed)
    panel_b(args, bench, filtered, typed)


if __name__ == "__main__":
    main()
