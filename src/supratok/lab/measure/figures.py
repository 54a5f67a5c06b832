"""The figures of a tokenizer, from its counts (`counts`), with intervals over documents.

    ours, theirs = count(peer, documents), count(other, documents)
    figures(ours)                            # all of one tokenizer, ready for JSON
    paired(ours, theirs)                     # +7.6%, between +7.1% and +8.2%

A ratio is one of sums over all documents, not a mean of ratios: long documents weigh more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bootstrap import (
    LEVEL,
    RESAMPLES,
    Difference,
    Floats,
    Interval,
    difference,
    interval_of,
    intervals,
)
from .counts import Counts, Integers

ALPHA = 2.5  # Zouhar et al. (2023): it predicted translation quality best
SECONDS_PER_TOKEN = 0.050  # paper 4.6: the assumed time of a forward pass


# --- One tokenizer


def characters_per_token(counts: Counts) -> float:
    """The paper's C/T: larger is denser."""
    return _ratio(counts, counts.characters, counts.tokens)


def bytes_per_token(counts: Counts) -> float:
    """Bytes of UTF-8 per token: fairer between scripts than characters."""
    return _ratio(counts, counts.bytes, counts.tokens)


def fertility(counts: Counts) -> float:
    """Tokens per word (`counts.words_in`). With spaces, only phrases bring it below 1."""
    return _ratio(counts, counts.tokens, counts.words)


def crossing_use(counts: Counts) -> float | None:
    """The share of the tokens of the text that cross words; None if unknown."""
    return None if counts.crossing is None else _ratio(counts, counts.crossing, counts.tokens)


def crossing_vocabulary(counts: Counts) -> float | None:
    """The share of the vocabulary that crosses words; None if unknown."""
    if counts.crosses is None:
        return None
    return int(np.count_nonzero(counts.crosses)) / max(1, counts.vocab_size)


def unused(counts: Counts) -> float:
    """The share of the vocabulary that the documents never use, special tokens included."""
    return 1 - int(np.count_nonzero(counts.usage)) / max(1, counts.vocab_size)


def renyi_efficiency(usage: Integers, vocab_size: int, alpha: float = ALPHA) -> float:
    """How evenly text uses the vocabulary: the Rényi entropy of the uses, over its maximum.

        H = log2(sum of p^alpha) / (1 - alpha),    efficiency = H / log2(vocab_size)

    1 if all tokens are equally frequent. We divide by the whole vocabulary, so that unused tokens
    count; the authors' program divides by the tokens that occur (for its figure, pass
    `np.count_nonzero(usage)`). With `alpha` 1 this is Shannon's entropy."""
    if vocab_size < 2 or not usage.any():
        raise ValueError(
            f"{vocab_size} tokens, {int(usage.sum())} uses: efficiency needs a vocabulary of 2 or"
            " more tokens, and some text"
        )
    p = usage[usage > 0] / usage.sum()
    shannon = alpha == 1
    entropy = -(p * np.log2(p)).sum() if shannon else np.log2((p**alpha).sum()) / (1 - alpha)
    return abs(float(entropy)) / math.log2(vocab_size)  # abs: a single token gives -0.0


def figures(
    counts: Counts, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Any]:
    """All figures, and the intervals of those that are ratios, for a row's JSON. One document has
    no intervals."""
    columns = {
        "characters_per_token": (counts.characters, counts.tokens),
        "bytes_per_token": (counts.bytes, counts.tokens),
        "fertility": (counts.tokens, counts.words),
        "crossing_use": (counts.crossing, counts.tokens),
    }
    found: dict[str, Any] = {
        "documents": len(counts.tokens),
        **{name: int(getattr(counts, name).sum()) for name in _SUMMED},
        "vocab_size": counts.vocab_size,
        "crossing_vocabulary": crossing_vocabulary(counts),
        "unused": unused(counts),
        "renyi_efficiency": renyi_efficiency(counts.usage, counts.vocab_size),
    }
    known = {name: (above, below) for name, (above, below) in columns.items() if above is not None}
    found |= {name: _ratio(counts, *known[name]) if name in known else None for name in columns}
    if np.count_nonzero(counts.characters) > 1:
        several = intervals(list(known.values()), level, resamples, seed)
        names = (f"{name}_interval" for name in known)
        found |= dict(zip(names, map(list, several), strict=True))
    return found


_SUMMED = ("characters", "bytes", "words", "tokens")


def _ratio(counts: Counts, above: Integers, below: Integers) -> float:
    if not below.any():
        raise ValueError(
            f"{counts.name}: no words or no tokens in {len(counts.tokens)} documents; pass text"
        )
    return int(above.sum()) / int(below.sum())


# --- Two tokenizers


def relative(value: float, baseline: float) -> float:
    """The paper's relative difference (4.1), and the first term of its Equation 4."""
    return (value - baseline) / abs(baseline)


def paired(
    counts: Counts,
    baseline: Counts,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Difference:
    """The difference of two tokenizers in characters per token on the same documents, with its
    interval and p-value."""
    _check_same_documents(counts, baseline)
    return difference(counts.tokens, baseline.tokens, level, resamples, seed)


def _check_same_documents(counts: Counts, baseline: Counts) -> None:
    if not np.array_equal(counts.bytes, baseline.bytes):
        raise ValueError(
            f"{counts.name} and {baseline.name} have counts of different documents; count both on"
            " the same ones, in the same order"
        )


@dataclass(frozen=True)
class Latency:
    """A line of the paper's Table 7."""

    characters_per_token: float
    tokens: int
    seconds: float  # to generate the text, at the assumed time per token
    speedup: float  # over the baseline
    fewer: float  # tokens saved, as a share of the baseline's


def latency(
    counts: Counts, baseline: Counts, seconds_per_token: float = SECONDS_PER_TOKEN
) -> Latency:
    """The paper's proxy (4.6): every token takes one forward pass of 50 ms, with any tokenizer. So
    the speedup is the ratio of tokens, and a larger vocabulary costs nothing."""
    _check_same_documents(counts, baseline)
    speedup = characters_per_token(counts) / characters_per_token(baseline)
    tokens = int(counts.tokens.sum())
    seconds = tokens * seconds_per_token
    return Latency(characters_per_token(counts), tokens, seconds, speedup, 1 - 1 / speedup)


# --- Many languages


@dataclass(frozen=True)
class Parity:
    """How equal languages are, by the cost of the same sentences in each."""

    best: str
    worst: str
    worst_over_best: float  # 1: all equal
    gini: float  # 0: all equal; towards 1: one language has all the cost
    premiums: dict[str, float]  # by language: its cost over that of the best


def parity(tokens: Mapping[str, float]) -> Parity:
    """Parity from the tokens of the same sentences in each language, or from another cost."""
    wrong = {language: cost for language, cost in tokens.items() if not cost > 0}
    if wrong or not tokens:
        raise ValueError(f"costs by language {wrong or '(none)'}: pass tokens, more than 0 in each")
    best, worst = min(tokens, key=tokens.__getitem__), max(tokens, key=tokens.__getitem__)
    costs = np.array(list(tokens.values()), np.float64)
    premiums = {language: cost / tokens[best] for language, cost in tokens.items()}
    return Parity(best, worst, premiums[worst], float(gini(costs)), premiums)


def gini(costs: Floats) -> NDArray[np.float64]:
    """The Gini coefficient of each row: the mean difference of two costs, over twice the mean."""
    ordered, number = np.sort(costs, axis=-1), costs.shape[-1]
    ranks = 2 * np.arange(1, number + 1) - number - 1
    return np.asarray((ordered * ranks).sum(axis=-1) / (number * ordered.sum(axis=-1)))


def variation(costs: Floats) -> NDArray[np.float64]:
    """The coefficient of variation of each row: the standard deviation of its costs, over their
    mean. 0 if all are equal.

    >>> float(variation(np.array([10.0, 20.0, 30.0])).round(3))
    0.408
    """
    return np.asarray(costs.std(axis=-1) / costs.mean(axis=-1))


def premium(costs: Floats, reference: int) -> NDArray[np.float64]:
    """What the other languages cost on average, in units of the language at this place: 1.2 if they
    take a fifth more tokens for the same sentences.

    >>> float(premium(np.array([10.0, 11.0, 15.0]), 0))
    1.3
    """
    others = np.delete(costs, reference, axis=-1)
    return np.asarray(others.mean(axis=-1) / costs[..., reference])


def parity_intervals(
    tokens: Mapping[str, Integers],
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[Interval, Interval]:
    """The intervals of worst over best and of the Gini coefficient, over sentences. `tokens` has a
    value for every sentence, in the same order in each language; a resample draws a sentence in all
    of them."""
    columns = np.stack(list(tokens.values()), axis=1)
    return (
        interval_of(
            columns, lambda sums: sums.max(axis=1) / sums.min(axis=1), level, resamples, seed
        ),
        interval_of(columns, gini, level, resamples, seed),
    )


# --- Documents


def articles(text: str) -> list[str]:
    """The articles of a WikiText file, each from its title (" = Title = ") to the next. Joined,
    they are the text."""
    starts = [match.start() for match in re.finditer(r"^ = [^=\n][^\n]*[^=\n] = \r?\n", text, re.M)]
    cuts = [0, *(start for start in starts if start), len(text)]
    return [text[start:end] for start, end in zip(cuts, cuts[1:], strict=False)]
