"""Curation, paper 3.2: a document with few different pairs of characters is likely to go.

"abab" has the pairs ab, ba, ab: 0.918 bits. English prose has 7 to 8."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence

from ..corpus.split import digest
from ..recipe import Curation


def curate(documents: Sequence[str], curation: Curation | None) -> list[str]:
    """The documents to keep: of low, medium and high entropy a share each."""
    if curation is None:
        return list(documents)
    low, high = curation.low, curation.high
    if curation.by_quantile:
        low, high = thresholds(documents, low, high)
    kept = []
    for text in documents:
        bits = bigram_entropy(text)
        share = curation.keep[0 if bits < low else 2 if bits > high else 1]
        if chance(text) < share * 2**64:
            kept.append(text)
    return kept


def bigram_entropy(text: str) -> float:
    """The entropy of the pairs of neighbouring characters, in bits: log2(n) - sum(c log2(c)) / n,
    for n pairs of which each is seen c times. The sum goes by rising c, so that it has one result.
    """
    counts = Counter(zip(text, text[1:], strict=False))
    pairs, logs = counts.total(), 0.0
    for count, times in sorted(Counter(counts.values()).items()):
        logs += times * count * math.log2(count)
    return (pairs * math.log2(pairs) - logs) / pairs if pairs else 0.0


def thresholds(documents: Sequence[str], low: float, high: float) -> tuple[float, float]:
    """Choice: bits such that the share `low` of the documents lies below the first, and the share
    `high` not above the second."""
    bits = sorted(map(bigram_entropy, documents))
    below = math.floor(round(low * len(bits), 6))  # Rounded: 0.07 * 100 is 7.000000000000001.
    not_above = math.ceil(round(high * len(bits), 6))
    first = bits[below] if below < len(bits) else math.nextafter(bits[-1], math.inf)
    return first, max(first, bits[max(not_above - 1, 0)])


def chance(text: str) -> int:
    """A number below 2**64 that depends on the text alone. Choice: a hash of its digest, because
    the digest itself decides which documents are held out."""
    code = hashlib.blake2b(digest(text).to_bytes(8, "big"), digest_size=8, person=b"curation")
    return int.from_bytes(code.digest(), "big")
