"""The rows of a bench as a table with a picture."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from ..measure.bootstrap import Difference
from ..measure.cost import Speed
from ..measure.rows import Figures
from ..report import pictures
from ..report.tables import NOTHING, Table
from .bench import Bench, Row, compared

HEAD = [
    "vocabulary", "tokenizer", "C/T", "95%", "to the first", "95%", "bytes/token", "tokens/word",
    "crossing, vocabulary", "use", "Rényi", "unused", "lossless", "training s", "MB",
    "encoding MB/s",
]  # fmt: skip


def bench_table(
    bench: Bench, rows: list[Row], speeds: Mapping[str, Speed], test: str, drawn: list[str]
) -> Table:
    """One line for each row; within a size, the first row is the baseline of the others."""
    lines: list[list[str]] = []
    aside: list[int] = []
    for _, group in itertools.groupby(rows, lambda row: row.entry.size):
        same = list(group)
        for row in same:
            if row.lossy:
                aside.append(len(lines))
            difference = compared(row, same[0], test)
            lines.append(_line(row, row.measured[test], difference, speeds.get(row.entry.label)))
    facts = bench.learnt_from
    return Table(
        title=f"Tokenizers on {', '.join(path.name for path in bench.corpus)}",
        claim=_claim(lines, aside, test),
        head=HEAD,
        lines=lines,
        notes=[
            f"learnt from {facts['documents']:,} documents, {facts['bytes'] / 1e6:,.1f} MB (SHA-256"
            f" {facts['sha256'][:12]}); measured on {len(bench.tests[test]):,} documents",
            *(f"{row.entry.name}: {row.lossy}" for row in _once(rows) if row.lossy),
            *(
                f"{name}: learnt from the first {count:,} documents"
                for name, count in bench.first.items()
            ),
            "C/T: characters per token; crossing: the share of tokens that cross a word boundary,"
            " in the vocabulary and in use; Rényi: how evenly the tokens are used, 1 at most;"
            " unused: the share of the vocabulary that these documents do not use",
            "intervals: bootstrap over documents, with the same resamples for all tokenizers",
            bench.rows.about(),
        ],
        pictures=drawn,
        higher=[2, 6],
        grouped=True,
        aside=aside,
    )


def bench_pictures(rows: list[Row], test: str) -> dict[str, str]:
    """Characters per token over sizes, if there are several."""
    series: dict[str, dict[int, float]] = {}
    bands: dict[str, dict[int, tuple[float, float]]] = {}
    for row in rows:
        if row.entry.size is not None:
            found = row.measured[test]
            series.setdefault(row.entry.name, {})[row.entry.size] = found["characters_per_token"]
            if interval := found.get("characters_per_token_interval"):
                bands.setdefault(row.entry.name, {})[row.entry.size] = (interval[0], interval[1])
    if len({size for points in series.values() for size in points}) < 2:
        return {}
    ours: tuple[str, ...] = ("dense", "default", "paper")
    strong = [name for name in ours if name in series][:1]
    shown = {name: bands[name] for name in strong if name in bands}  # more would cover each other
    title = f"Characters per token of {test} documents"
    if shown:
        title += f"; shaded: the 95% interval of {strong[0]}"
    picture = pictures.sweep(series, title=title, strong=strong, bands=shown)
    return {"sweep.svg": picture}


def _claim(lines: list[list[str]], aside: list[int], test: str) -> str:
    """The densest tokenizer of the largest size that several have; those that lose text do not
    compete."""
    groups: dict[str, list[list[str]]] = {}
    for number, line in enumerate(lines):
        if number not in aside:
            groups.setdefault(line[0], []).append(line)
    several = [same for same in groups.values() if len(same) > 1]
    if not several:
        return f"Characters per token of {test} documents, with time and memory."
    same = max(several, key=lambda same: int(same[0][0].replace(",", "")))
    size, name, density, _, more, interval, *_ = max(same, key=lambda line: float(line[2]))
    first = next(line[1] for line in lines if line[0] == size)
    against = f", {more} ({interval}) against {first}" if more != NOTHING else ""
    return (
        f"At {size} tokens, {name} puts the most text of {test} documents into a token:"
        f" {density} characters{against}."
    )


def _once(rows: list[Row]) -> list[Row]:
    return list({row.entry.name: row for row in rows}.values())


def _line(
    row: Row, found: Figures, difference: Difference | None, speed: Speed | None
) -> list[str]:
    lost = row.losses or {}
    whole = "yes" if not lost.get("changed") else f"no: {lost['changed']} of {lost['texts']}"
    return [
        f"{row.entry.size or row.vocab_size:,}",
        row.entry.name,
        f"{found['characters_per_token']:.3f}",
        _interval(found.get("characters_per_token_interval"), ".3f"),
        NOTHING if difference is None else f"{difference.value:+.1%}",
        NOTHING if difference is None else _interval([difference.low, difference.high], "+.1%"),
        f"{found['bytes_per_token']:.3f}",
        f"{found['fertility']:.3f}",
        _share(found["crossing_vocabulary"]),
        _share(found["crossing_use"]),
        f"{found['renyi_efficiency']:.3f}",
        _share(found["unused"]),
        whole,
        NOTHING if row.seconds is None else f"{row.seconds:,.1f}",
        NOTHING if row.peak_bytes is None else f"{row.peak_bytes / 1e6:,.0f}",
        NOTHING if speed is None else f"{speed.megabytes_per_second:.1f}",
    ]


def _share(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.1%}"


def _interval(found: list[float] | None, form: str) -> str:
    return NOTHING if not found else f"{found[0]:{form}} to {found[1]:{form}}"
