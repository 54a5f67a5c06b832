"""The figures of a tokenizer, from its counts (`lab.counts`), with intervals over documents.

    ours, theirs = count(peer, documents), count(other, documents)
    figures(ours)                            # all of one tokenizer, ready for JSON
    paired(ours, theirs)                     # +7.6%, between +7.1% and +8.2%

Ratios are of sums over all documents, not means of the ratios of documents: a long document weighs
as much as its length.
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

ALPHA = 2.5  # Zouhar and others (2023), where it foretold translation quality best
SECONDS_PER_TOKEN = 0.050  # paper 4.6: the assumed time of a forward pass


# --- One tokenizer


def characters_per_token(counts: Counts) -> float:
    """The paper's C/T: larger is denser."""
    return _ratio(counts, counts.characters, counts.tokens)


def bytes_per_token(counts: Counts) -> float:
    """Of UTF-8: fairer between scripts than characters."""
    return _ratio(counts, counts.bytes, counts.tokens)


def fertility(counts: Counts) -> float:
    """Tokens per word; what a word is, says `counts.words_in`. Below 1 only with phrases, where
    there are spaces."""
    return _ratio(counts, counts.tokens, counts.words)


def crossing_use(counts: Counts) -> float | None:
    """The share of the tokens of the text that cross words; None where that is not known."""
    return None if counts.crossing is None else _ratio(counts, counts.crossing, counts.tokens)


def crossing_vocabulary(counts: Counts) -> float | None:
    """The share of the vocabulary that crosses words; None where that is not known."""
    if counts.crosses is None:
        return None
    return int(np.count_nonzero(counts.crosses)) / max(1, counts.vocab_size)


def unused(counts: Counts) -> float:
    """The share of the vocabulary that the documents never use, special tokens and all."""
    return 1 - int(np.count_nonzero(counts.usage)) / max(1, counts.vocab_size)


def renyi_efficiency(usage: Integers, vocab_size: int, alpha: float = ALPHA) -> float:
    """How evenly the vocabulary is used: the Rényi entropy of its use, over the most it could be.

        H = log2(sum of p^alpha) / (1 - alpha),    efficiency = H / log2(vocab_size)

    1 if each token is used as often as any other. The vocabulary is the whole one, not the part
    that occurs in this text, so that unused tokens tell; the authors' program divides by the latter
    (for its figure, pass `np.count_nonzero(usage)`). With `alpha` 1 this is Shannon's."""
    if vocab_size < 2 or not usage.any():
        raise ValueError(
            f"{vocab_size} tokens, {int(usage.sum())} uses: there is no efficiency; it needs a"
            " vocabulary of 2 or more and some text"
        )
    p = usage[usage > 0] / usage.sum()
    shannon = alpha == 1
    entropy = -(p * np.log2(p)).sum() if shannon else np.log2((p**alpha).sum()) / (1 - alpha)
    return abs(float(entropy)) / math.log2(vocab_size)  # abs: one token alone gives -0.0


def figures(
    counts: Counts, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Any]:
    """All of them, with the intervals of those that are ratios; for a row's JSON. One document has
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
    """How much denser a tokenizer is than another on the same documents, in characters per token;
    its interval, and the p of no difference."""
    _check_same_documents(counts, baseline)
    return difference(counts.tokens, baseline.tokens, level, resamples, seed)


def _check_same_documents(counts: Counts, baseline: Counts) -> None:
    if not np.array_equal(counts.bytes, baseline.bytes):
        raise ValueError(
            f"{counts.name} and {baseline.name} were counted on different documents; count both on"
            " the same ones, in the same order"
        )


@dataclass(frozen=True)
class Latency:
    """A line of the paper's Table 7."""

    characters_per_token: float
    tokens: int
    seconds: float  # to generate the text, if each token takes as long as assumed
    speedup: float  # over the baseline
    fewer: float  # the share of the baseline's tokens that is saved


def latency(
    counts: Counts, baseline: Counts, seconds_per_token: float = SECONDS_PER_TOKEN
) -> Latency:
    """The paper's proxy (4.6): every token takes one forward pass of 50 ms, whatever the tokenizer.
    So the speedup is nothing but the ratio of tokens; a larger vocabulary costs nothing here."""
    _check_same_documents(counts, baseline)
    speedup = characters_per_token(counts) / characters_per_token(baseline)
    tokens = int(counts.tokens.sum())
    seconds = tokens * seconds_per_token
    return Latency(characters_per_token(counts), tokens, seconds, speedup, 1 - 1 / speedup)


# --- Many languages


@dataclass(frozen=True)
class Parity:
    """How alike languages are treated, by what the same sentences cost in each."""

    best: str
    worst: str
    worst_over_best: float  # 1: all alike
    gini: float  # 0: all alike; towards 1: one language bears all
    premiums: dict[str, float]  # by language: cost over that of the best


def parity(tokens: Mapping[str, float]) -> Parity:
    """From the tokens of the same sentences in each language, or another cost that is low where a
    language is treated well."""
    wrong = {language: cost for language, cost in tokens.items() if not cost > 0}
    if wrong or not tokens:
        raise ValueError(f"costs by language {wrong or '(none)'}: pass tokens, more than 0 in each")
    best, worst = min(tokens, key=tokens.__getitem__), max(tokens, key=tokens.__getitem__)
    costs = np.array(list(tokens.values()), np.float64)
    premiums = {language: cost / tokens[best] for language, cost in tokens.items()}
    return Parity(best, worst, premiums[worst], float(gini(costs)), premiums)


def gini(costs: Floats) -> NDArray[np.float64]:
    """Gini's coefficient of each row: the mean difference of two, over twice the mean."""
    ordered, number = np.sort(costs, axis=-1), costs.shape[-1]
    ranks = 2 * np.arange(1, number + 1) - number - 1
    return np.asarray((ordered * ranks).sum(axis=-1) / (number * ordered.sum(axis=-1)))


def parity_intervals(
    tokens: Mapping[str, Integers],
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[Interval, Interval]:
    """Of worst over best and of Gini's coefficient, over sentences. `tokens` has a value for every
    sentence, in the same order in each language; a resample takes a sentence in all of them."""
    columns = np.stack(list(tokens.values()), axis=1)
    return (
        interval_of(
            columns, lambda sums: sums.max(axis=1) / sums.min(axis=1), level, resamples, seed
        ),
        interval_of(columns, gini, level, resamples, seed),
    )


# --- Documents


def articles(text: str) -> list[str]:
    """The articles of a WikiText file, each from its title to the next: " = Title = ". Joined, they
    are the text."""
    starts = [match.start() for match in re.finditer(r"^ = [^=\n][^\n]*[^=\n] = \r?\n", text, re.M)]
    cuts = [0, *(start for start in starts if start), len(text)]
    return [text[start:end] for start, end in zip(cuts, cuts[1:], strict=False)]
