"""Cells and notes for tables of language models."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from lm import Models
from rows import Figures
from supratok.lab.measure.bootstrap import Difference, difference
from supratok.lab.report.tables import NOTHING


def bits(row: Figures, test: str) -> float:
    return float(row["tests"][test]["bits_per_character"])


def known_tests(tests: Sequence[str], rows: Iterable[Figures]) -> list[str]:
    """Those of the tests that at least one row has: rows made earlier may lack some."""
    known = {test for row in rows for test in row["tests"]}
    return [test for test in tests if test in known]


def against(row: Figures, other: Figures, test: str) -> Difference:
    """How many more bits a model takes than another for the same texts, paired."""
    return mean_against([row], [other], test)


def mean_against(rows: Sequence[Figures], others: Sequence[Figures], test: str) -> Difference:
    """The same for several seeds: of the means over seeds, text by text."""
    means = [
        [
            sum(values) / len(values)
            for values in zip(*(row["tests"][test]["nats"] for row in some), strict=True)
        ]
        for some in (others, rows)
    ]
    return difference(means[0], means[1])  # how much more the second has


def compared(row: Figures, base: Figures | None, tests: Sequence[str]) -> list[str]:
    """Two cells for each test: the bits, and how many more than the base takes. `NOTHING` where
    the row or the base lacks the test."""
    cells = []
    for test in tests:
        has = test in row["tests"]
        pair = base if has and base is not row and base and test in base["tests"] else None
        cells += [
            f"{bits(row, test):.4f}" if has else NOTHING,
            difference_cell(against(row, pair, test)) if pair else NOTHING,
        ]
    return cells


def difference_cell(found: Difference) -> str:
    """+1.2% (+0.9% to +1.5%); fewer bits are better."""
    return f"{found.value:+.2%} ({found.low:+.2%} to {found.high:+.2%})"


def spread(values: Sequence[float], form: str = ".4f") -> str:
    """The mean, and the standard deviation of several values."""
    mean = sum(values) / len(values)
    if len(values) < 2:
        return format(mean, form)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return f"{mean:{form}} ± {deviation:{form}}"


def notes(models: Models, found: Sequence[Figures]) -> list[str]:
    """The training text, the comparison, and the machines."""
    return [
        f"trained on {len(models.texts.learn):,} of {models.texts.facts['documents']:,} documents"
        f" ({models.texts.characters / 1e6:,.0f} M characters), SHA-256"
        f" {models.texts.facts['sha256'][:12]}; the rest is held out, half to decide by, half to"
        " measure on",
        "over: how many more bits for the same texts; in brackets 95% intervals by bootstrap over"
        " documents, which say nothing about other seeds",
        f"device: {', '.join(dict.fromkeys(row['device'] for row in found))};"
        f" {models.rows.about()}",
    ]
