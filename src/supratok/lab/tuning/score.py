"""Equation 4 of the paper: one number for a tokenizer, against BPE-Standard of the same size.

    score(ours, reference)      # > 0: better than the reference

The score adds the gain in characters per token. It subtracts the increase in bits per token (the
logarithm of a model's perplexity) and the increase in the logarithm of the encoding time. Each is a
share of the reference's value.

With equal weights the first two terms combine. A model that needs B bits per character needs
log2 P = B * C bits for a token of C characters, so

    C/C' - B*C / (B'*C')  =  C/C' * (1 - B/B')        (' marks the reference)

Characters per token alone earn nothing: only fewer bits per character do, and they earn more the
longer the tokens are.

The third term has another scale. A tokenizer ten times as fast as a reference of 40 milliseconds
earns log2(10) / log2(40) = 0.62, while the first two terms move by hundredths: with the paper's
weights, time decides. To choose a recipe rather than a program, leave it out: `--weights 1 1 0`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# Choice: divide by one bit at least. The logarithm of a time depends on its unit: near one unit it
# is 0, and a share of it is infinite. In milliseconds, and on as much text as tuning encodes, the
# reference has 7 to 10 bits.
_LEAST = 1.0


@dataclass(frozen=True)
class Measured:
    """The figures of a tokenizer on held-out text."""

    compression: float  # characters per token
    perplexity: float  # per token, of a small model
    latency: float  # milliseconds to encode a fixed text on one thread

    def __post_init__(self) -> None:
        figures = (self.compression, self.perplexity, self.latency)
        if not all(math.isfinite(figure) and figure > 0 for figure in figures):
            raise ValueError(
                f"{self}: every figure must be a finite number above 0; give more text, or train"
                " the model on more tokens"
            )

    @property
    def bits_per_character(self) -> float:
        return math.log2(self.perplexity) / self.compression


@dataclass(frozen=True)
class Weights:
    """Paper, Appendix B: all 1. Without `latency` the same seed gives the same scores."""

    compression: float = 1.0
    perplexity: float = 1.0
    latency: float = 1.0

    def __post_init__(self) -> None:
        values = (self.compression, self.perplexity, self.latency)
        if not all(math.isfinite(value) and value >= 0 for value in values) or not any(values):
            raise ValueError(f"{self}: give three numbers of at least 0, not all of them 0")


def score(found: Measured, reference: Measured, weights: Weights | None = None) -> float:
    """Paper 3.5, Equation 4."""
    weights = weights or Weights()
    compression, perplexity, latency = terms(found, reference)
    return (
        weights.compression * compression
        - weights.perplexity * perplexity
        - weights.latency * latency
    )


def terms(found: Measured, reference: Measured) -> tuple[float, float, float]:
    """The paper's C_norm, P_norm and L_norm; less is better in the last two."""
    return (
        found.compression / reference.compression - 1,
        more_bits(found.perplexity, reference.perplexity),
        more_bits(found.latency, reference.latency),
    )


def more_bits(value: float, reference: float) -> float:
    """The increase of log2(value) over log2(reference), as a share of the latter."""
    bits = math.log2(reference)
    return (math.log2(value) - bits) / max(_LEAST, abs(bits))
