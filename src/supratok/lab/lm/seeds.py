"""A paired t-test: is one of two methods better over the same seeds by more than chance?

    paired([1.701, 1.704, 1.699], [1.688, 1.690, 1.689]).p

A seed sets the initial weights and the order of the texts. Both methods use the same seeds, so the
effect of a seed on both cancels in their differences (paper, 4.7). Two seeds are hardly enough: the
two differences must then be nearly equal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_STEPS = 100_001


class Paired(NamedTuple):
    mean: float  # of the first less the second
    deviation: float  # of the differences
    p: float  # two-sided


def paired(first: Sequence[float], second: Sequence[float]) -> Paired:
    """Figures by seed, both in the same order."""
    if len(first) != len(second) or len(first) < 2:
        raise ValueError(
            f"{len(first)} and {len(second)} seeds: pass the same number of both, at least 2"
        )
    differences = np.subtract(first, second)
    mean, deviation = float(differences.mean()), float(differences.std(ddof=1))
    if not deviation:
        return Paired(mean, 0.0, 0.0 if mean else 1.0)
    return Paired(
        mean, deviation, _beyond(abs(mean) / deviation * math.sqrt(len(first)), len(first))
    )


def _beyond(t: float, seeds: int) -> float:
    """The probability of |T| > t by Student's distribution: an integral whose infinite tail is
    mapped to the interval from 0 to 1."""
    freedom = seeds - 1
    half = (freedom + 1) / 2
    scale = math.exp(math.lgamma(half) - math.lgamma(freedom / 2)) / math.sqrt(math.pi * freedom)
    u = np.linspace(0.0, 1.0, _STEPS)[:-1]
    x = t + u / (1 - u)
    density = scale * (1 + x * x / freedom) ** -half / (1 - u) ** 2
    # The integrand at 1: 0, except with one degree of freedom, whose tail falls only as 1 / x^2.
    last = scale * math.sqrt(freedom) ** (2 * half) if freedom == 1 else 0.0
    return float(min(1.0, 2 * np.trapezoid(np.append(density, last), dx=1 / (_STEPS - 1))))
