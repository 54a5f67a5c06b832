"""Appendix A: the worth of a span of words, and the reasons to reject it.

Each function is an equation of the paper and works on columns: `Spans` has a row for each span, so
one call scores a hundred thousand spans. The paper's c, df and N_n are `counts`, `documents` and
`ngrams` here.

    " New York City": seen 8 times among 1,000 triples -> p = 0.008; a PMI of 13 bits; ...
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...recipe import Expressions

Counts = NDArray[np.int64]
Figures = NDArray[np.float64]


@dataclass(frozen=True)
class Totals:
    """The totals of the training text, for relative frequencies."""

    ngrams: Counts  # N_1, N_2, ...: sequences of so many words
    documents: int  # D


@dataclass
class Spans:
    """The raw figures of spans, a row each. Two-dimensional columns have a place for each word (or
    each pair of neighbouring words), and 0 where the span is shorter."""

    words: Counts  # n
    counts: Counts  # c_train(s)
    word_counts: Counts  # c_train(w_i), a place a word
    word_documents: Counts  # df(w_i), likewise
    pair_counts: Counts  # c_train(w_i, w_i+1), a place a pair
    stopwords: Counts  # how many of the words are
    letters: Counts  # of all words together, without spaces
    characters: Counts  # of the surface, without the space in front
    held_out_counts: Figures  # c_holdout(s)
    held_out_documents: Figures  # df_holdout(s)
    tokens: Counts  # l_tok(s)
    # Of the words before and after the span: entropy in bits, share of the most frequent one.
    left_entropy: Figures
    right_entropy: Figures
    left_peak: Figures
    right_peak: Figures

    def __len__(self) -> int:
        return len(self.words)

    def take(self, rows: NDArray[np.intp]) -> Spans:
        """These rows."""
        return Spans(**{name: column[rows] for name, column in vars(self).items()})


@dataclass(frozen=True)
class Score:
    """S(s) and its intermediate values, named as in the paper."""

    p_train: Figures
    pmi: Figures
    npmi: Figures
    h_b: Figures
    idf: Figures
    adj_npmi: Figures
    c_peak: Figures
    g_tok: Figures
    g_b: Figures
    g_n: Figures
    b_spec: Figures
    b_con: Figures
    p_stop: Figures
    b_len: Figures
    b_cont: Figures
    p_surf: Figures
    g_hold: Figures
    s: Figures


def score(spans: Spans, totals: Totals, options: Expressions) -> Score:
    """S(s): the held-out gain, times gates, bonuses and penalties."""
    p_train = spans.counts / totals.ngrams[spans.words - 1]
    pmi_, npmi_ = pmi(spans, totals), npmi(spans, totals)
    h_b = np.minimum(spans.left_entropy, spans.right_entropy)
    idf = mean_idf(spans, totals)
    adj_npmi = adjacent_npmi(spans, totals)
    c_peak = np.maximum(spans.left_peak, spans.right_peak)
    g_tok = spans.tokens.astype(np.float64) - 1

    g_b = _sigmoid(options.boundary_slope, h_b - options.boundary_anchor)
    g_n = _sigmoid(options.npmi_slope, npmi_ - options.npmi_anchor)
    b_spec = 1 + options.specificity * np.maximum(0, idf - 1)
    b_con = 1 + options.connection * np.maximum(0, adj_npmi - c_peak)

    r_stop = spans.stopwords / spans.words
    p_stop = np.maximum(options.stop_floor, 1 - options.stop_weight * r_stop**options.stop_power)
    b_len = 1 + options.length * np.maximum(0.0, spans.words - 2)
    mean_letters = spans.letters / spans.words
    b_cont = 1 + options.content * np.maximum(0, mean_letters - options.content_from)
    p_surf = np.where(spans.characters > options.long_surface, options.long_penalty, 1.0)

    g_hold = g_tok * (
        spans.held_out_counts
        + options.document_gain * spans.held_out_documents
        + options.training_gain * np.sqrt(spans.counts)
    )
    s = g_hold * g_n * g_b * b_spec * b_con * p_stop * b_len * b_cont * p_surf
    s = np.where(spans.held_out_counts == 0, options.unseen_factor * s, s)
    return Score(
        p_train, pmi_, npmi_, h_b, idf, adj_npmi, c_peak, g_tok, g_b, g_n,
        b_spec, b_con, p_stop, b_len, b_cont, p_surf, g_hold, s,
    )  # fmt: skip


def pmi(spans: Spans, totals: Totals) -> Figures:
    """How much more often the words occur together than by chance, in bits."""
    return _pmi(spans.counts, spans.word_counts, totals.ngrams[spans.words - 1], totals)


def npmi(spans: Spans, totals: Totals) -> Figures:
    ngrams = totals.ngrams[spans.words - 1]
    return _normalised(pmi(spans, totals), spans.counts, ngrams)


def adjacent_npmi(spans: Spans, totals: Totals) -> Figures:
    """The mean NPMI of the span's neighbouring words."""
    total = np.zeros(len(spans))
    for i in range(spans.pair_counts.shape[1]):
        present = spans.pair_counts[:, i] > 0
        counts = spans.pair_counts[present, i]
        pairs = totals.ngrams[1]
        value = _pmi(counts, spans.word_counts[present, i : i + 2], pairs, totals)
        total[present] += _normalised(value, counts, pairs)
    return total / (spans.words - 1)


def mean_idf(spans: Spans, totals: Totals) -> Figures:
    """How rare the words are: the mean of their inverse document frequencies (natural log)."""
    present = np.arange(spans.word_documents.shape[1]) < spans.words[:, None]
    idf = np.log((totals.documents + 1) / (1 + spans.word_documents))
    return np.asarray(np.where(present, idf, 0.0).sum(axis=1) / spans.words)


def _pmi(counts: Counts, words: Counts, ngrams: Counts | np.int64, totals: Totals) -> Figures:
    words = np.where(words > 0, words, totals.ngrams[0])  # no word: p = 1
    chance = np.log2(words / totals.ngrams[0]).sum(axis=1)
    return np.asarray(np.log2(counts / ngrams) - chance)


def _normalised(value: Figures, counts: Counts, ngrams: Counts | np.int64) -> Figures:
    """A PMI as a share of its maximum; 0 if the text is nothing but that one span."""
    highest = -np.log2(counts / ngrams)
    return np.divide(value, highest, out=np.zeros_like(value), where=highest > 0)


def _sigmoid(slope: float, x: Figures) -> Figures:
    return 1 / (1 + np.exp(-slope * x))


# --- Hard rejections


RARE, COHESION, STOPWORDS, ONE_TOKEN, BOUNDARY, SCORE = REASONS = (
    "rare", "weak cohesion", "stopwords", "one token already", "weak boundary", "low score",
)  # fmt: skip


def rejected_early(spans: Spans, totals: Totals, options: Expressions) -> NDArray[np.object_]:
    """By span, the first reason to reject it that needs no neighbours, or None."""
    r_stop = spans.stopwords / spans.words
    return _first_reason(
        len(spans),
        {
            RARE: spans.counts < options.min_count,
            COHESION: pmi(spans, totals) < options.min_pmi,
            STOPWORDS: (r_stop >= options.max_stopwords) | (r_stop == 1),
            ONE_TOKEN: spans.tokens <= 1,
        },
    )


def rejected(
    spans: Spans, totals: Totals, found: Score, options: Expressions
) -> NDArray[np.object_]:
    """By span, the first reason to reject it, or None."""
    reasons = rejected_early(spans, totals, options)
    late = _first_reason(
        len(spans),
        {BOUNDARY: found.g_b < options.min_boundary_gate, SCORE: found.s <= options.min_score},
    )
    return np.where(reasons == None, late, reasons)  # noqa: E711


def _first_reason(rows: int, reasons: dict[str, NDArray[np.bool_]]) -> NDArray[np.object_]:
    first = np.full(rows, None, dtype=object)
    for reason, holds in reversed(reasons.items()):
        first[holds] = reason
    return first


# --- The worth and the cost of a span


def utility(counts: Figures, documents: Figures, options: Expressions) -> Figures:
    """U(m): the worth of a token by its uses in held-out text."""
    return counts + options.utility_documents * documents


def gain(counts: Figures, documents: Figures, tokens: Counts, options: Expressions) -> Figures:
    """A(s): the tokens that a span would save in held-out text, plus a share of its documents."""
    return counts * np.maximum(1, tokens - 1) + options.utility_documents * documents


def net(gained: float, displaced: list[float]) -> float:
    """Net(s): accepted if above 0."""
    return gained - sum(displaced)


def priority(net: float, s: float, options: Expressions) -> float:
    """Priority(s): surgery takes the spans with the highest first."""
    return net + options.priority_score * s
