"""Claim: fewer tokens are fewer steps of generation: 1.18 times as fast as BPE (paper, Table 7).

    python runs/latency.py

The paper's figure is a proxy: every token of every tokenizer takes 50 ms. The table adds a
measurement: the time of encoding, on one thread, all tokenizers in turn. The text: held-out
documents of the corpus, from which no tokenizer learnt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from english import (
    CROSSING,
    STANDARD,
    about,
    bench_options,
    density,
    in_paper,
    lossy,
    make_bench,
    rows_of,
    whole,
)
from rows import claim, command, identity, write_table
from supratok.lab.bench import HELD_OUT, Bench, Row
from supratok.lab.measure.cost import Speed
from supratok.lab.measure.figures import SECONDS_PER_TOKEN, latency
from supratok.lab.report import pictures
from supratok.lab.report.tables import NOTHING, Table

# Paper, Table 7: characters per token, tokens, speedup.
PAPER = {
    "SupraTok": (5.48, 9_130, 1.18),
    "SuperBPE": (5.24, 9_539, 1.13),
    CROSSING: (5.16, 9_699, 1.11),
    "WordPiece-BERT": (4.72, 10_600, 1.01),
    STANDARD: (4.66, 10_736, 1.00),
    "SentencePiece-BPE": (4.56, 10_961, 0.98),
    "Unigram-SentencePiece": (4.16, 12_024, 0.89),
}
RECIPES = ("dense", "balanced", "default", "paper")
ROWS = [*RECIPES, *list(PAPER)[1:], "BPE-Bytes-GPT4o"]
HEAD = [
    "tokenizer", "C/T", "tokens", "proxy s", "proxy speedup", "fewer tokens", "lossless",
    "encoding MB/s", "slowest to fastest", f"times {STANDARD}", "paper C/T", "tokens", "speedup",
]  # fmt: skip


def measured(bench: Bench, rows: Mapping[str, Row]) -> dict[str, Speed]:
    """The speed of encoding, measured once for the same tokenizers and text. BPE-Standard goes
    first, because ratios are relative to the first."""
    order = [rows[STANDARD], *(row for name, row in rows.items() if name != STANDARD)]
    asked = {
        "row": "encoding time",
        "tokenizers": [[row.entry.label, identity(row.path)] for row in order],
        "held out of": identity(bench.corpus[0]),
    }
    kept = bench.rows.get(
        asked, lambda: {name: asdict(found) for name, found in bench.speeds(order).items()}
    )
    return {
        name: Speed(kept[row.entry.label]["bytes"], *(
            tuple(kept[row.entry.label][part]) for part in ("seconds", "ratios")
        ))
        for name, row in rows.items()
    }  # fmt: skip


def line(row: Row, standard: Row, speed: Speed) -> list[str]:
    proxy = latency(row.counts[HELD_OUT], standard.counts[HELD_OUT])
    low, high = speed.spread
    theirs = PAPER.get(in_paper(row.entry.name))
    paper = [f"{theirs[0]:.2f}", f"{theirs[1]:,}", f"{theirs[2]:.2f}"] if theirs else [NOTHING] * 3
    return [
        row.entry.name, density(row, HELD_OUT), f"{proxy.tokens:,}", f"{proxy.seconds:,.0f}",
        f"{proxy.speedup:.2f}", f"{proxy.fewer:.1%}", whole(row),
        f"{speed.megabytes_per_second:.2f}", f"{low:.2f} to {high:.2f}", f"{speed.ratio:.2f}",
        *paper,
    ]  # fmt: skip


def drawn(rows: Mapping[str, Row], speeds: Mapping[str, Speed]) -> dict[str, str]:
    """Pictures: the proxy beside the paper's, and density against the speed of encoding."""
    items: dict[str, dict[str, float]] = {}
    points = {}
    for name, row in rows.items():
        proxy = latency(row.counts[HELD_OUT], rows[STANDARD].counts[HELD_OUT])
        points[name] = (speeds[name].megabytes_per_second, proxy.characters_per_token)
        paper = PAPER.get(in_paper(name))
        items[name] = {"here": proxy.speedup - 1, **({"the paper": paper[2] - 1} if paper else {})}
    return {
        "latency.svg": pictures.bars(
            items, title=f"Steps of generation: how much faster than {STANDARD}, by the proxy",
            paper=["the paper"],
        ),
        "encoding.svg": pictures.trade(
            points, title="Density against the speed of encoding",
            x="encoding, MB/s on one thread", y="characters per token, held out",
            strong=[name for name in RECIPES if name in points],
        ),
    }  # fmt: skip


def cost_note(rows: Mapping[str, Row], speeds: Mapping[str, Speed]) -> str:
    """The time of encoding as a share of the proxy's time."""
    shares = {}
    for name, row in rows.items():
        found = row.measured[HELD_OUT]
        encoding = found["bytes"] / 1e6 / speeds[name].megabytes_per_second
        shares[name] = encoding / (found["tokens"] * SECONDS_PER_TOKEN)
    worst = max(shares, key=shares.__getitem__)
    return (
        f"encoding takes at most {shares[worst]:.4%} ({worst}) of the time that the proxy assumes"
        " for generating the same text: the number of tokens matters, the tokenizer's speed does"
        " not"
    )


def main(arguments: list[str] | None = None) -> None:
    description = "Steps of generation by the paper's proxy, and the time of encoding."
    parser = bench_options(description, "latency", [64_000], ROWS)
    parser.set_defaults(documents=10_000)
    args = parser.parse_args(arguments)
    if args.test:
        parser.error("--test: this script measures on held-out documents of the corpus")
    bench = make_bench(args, args.out, None)
    found = rows_of(bench, dict.fromkeys([*args.only, STANDARD]), args.sizes)
    rows = {row.entry.name: row for row in found}
    speeds = measured(bench, rows)
    notes = [
        f"{args.sizes[0]:,} tokens; proxy: {SECONDS_PER_TOKEN * 1000:.0f} ms a token, so its"
        f" speedup is the ratio of tokens to those of {STANDARD}, without a clock",
        "encoding: text to ids, document by document, on one thread, the median of rounds in which"
        " all take turns; through the Python packages supratok, `tokenizers` and `sentencepiece`",
        cost_note(rows, speeds),
        *about(args, bench, found),
        "the paper's (Table 7) are of other text, about 50,000 characters: tokens compare by ratio",
        command("latency", arguments),
    ]
    table = Table(
        "Latency: the proxy, and encoding (Table 7)", claim(__doc__), HEAD,
        [line(row, rows[STANDARD], speeds[name]) for name, row in rows.items()], notes,
        paper=[10, 11, 12], higher=[1, 4, 7], aside=lossy(found),
    )  # fmt: skip
    write_table(args.out, table, drawn(rows, speeds))


if __name__ == "__main__":
    main()
