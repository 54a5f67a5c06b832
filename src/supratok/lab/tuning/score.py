"""Equation 4 of the paper: one number for a tokenizer, against BPE-Standard of the same size.

    score(ours, reference)      # > 0: better than the reference

It adds up what the tokenizer gains in characters per token, and takes away what it adds to the bits
of a token (the logarithm of a model's perplexity) and to the logarithm of the time for encoding,
each as a share of what the reference has.

With equal weights the first two terms are nearly one. A model that needs B bits for a character
needs log2 P = B * C bits for a token of C characters, so

    C/C' - B*C / (B'*C')  =  C/C' * (1 - B/B')        (' is the reference's)

Characters per token by themselves earn nothing: what counts is fewer bits per character, and that
the more, the more characters a token has.

The third term is of another size. Who encodes ten times as fast as a reference of 40 milliseconds
earns log2(10) / log2(40) = 0.62, where the first two move by hundredths; so with the paper's
weights the clock decides. To choose a recipe, rather than a program, leave it out:
`--weights 1 1 0`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# Choice: a share of less than this many bits is not taken. The logarithm of a time depends on its
# unit: near one unit it is 0, and a share of it without end. In milliseconds, over as much text as
# is taken here, the reference stands at 7 to 10 bits; over a text so short that it stands near 0,
# one bit is what is divided by.
_LEAST = 1.0


@dataclass(frozen=True)
class Measured:
    """Of a tokenizer, on held-out text."""

    compression: float  # characters per token
    perplexity: float  # of a token, by a small model
    latency: float  # milliseconds for encoding a fixed text, of one thread

    def __post_init__(self) -> None:
        figures = (self.compression, self.perplexity, self.latency)
        if not all(math.isfinite(figure) and figure > 0 for figure in figures):
            raise ValueError(
                f"{self}: every figure must be a number above 0; give more text, or let the model"
                " learn from more tokens"
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
            raise ValueError(f"{self}: three numbers of at least 0, one of them above it")


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
    """The paper's C_norm, P_norm and L_norm. Of the latter two, less is better."""
    return (
        found.compression / reference.compression - 1,
        more_bits(found.perplexity, reference.perplexity),
        more_bits(found.latency, reference.latency),
    )


def more_bits(value: float, reference: float) -> float:
    """How much larger a logarithm is than another one, as a share of that."""
    bits = math.log2(reference)
    return (math.log2(value) - bits) / max(_LEAST, abs(bits))
