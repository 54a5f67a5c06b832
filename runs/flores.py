"""Claim: in 14 languages 34.9% more characters per token than BPE (the paper's Table 6).

    python runs/flores.py
    python runs/flores.py --only default BPE-Bytes-GPT4o SuperBPE

Tokenizers over 14 languages, ours and others; characters per token of FLORES-200 devtest by
language, each line a document. The sentences are the same in all languages, so their tokens show
how equally a tokenizer treats languages (parity).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rows import ROOT, claim, command, first_documents, located, options, write_table
from supratok.lab.bench import OURS, Bench, Row, entries
from supratok.lab.measure.bootstrap import middle, resampled_sums
from supratok.lab.measure.figures import gini, premium, variation
from supratok.lab.report import pictures
from supratok.lab.report.tables import NOTHING, Table

# Paper, Table 6: characters per token of SupraTok and of BPE.
GROUPS = {
    "Germanic": {"en": (5.43, 3.93), "de": (5.40, 3.70), "nl": (5.51, 3.81)},
    "Romance": {"fr": (4.99, 3.67), "es": (5.35, 3.81), "it": (5.35, 3.81)},
    "Slavic": {"ru": (4.32, 3.39), "uk": (4.24, 3.25), "pl": (4.79, 3.36)},
    "CJK": {"zh": (1.36, 1.30), "ja": (1.83, 1.53), "ko": (2.26, 1.85)},
    "Agglutinative": {"tr": (5.42, 3.52), "fi": (5.18, 3.63)},
}
PAPER = {code: found for group in GROUPS.values() for code, found in group.items()}
NAMES = {
    "en": "English", "de": "German", "nl": "Dutch", "fr": "French", "es": "Spanish",
    "it": "Italian", "ru": "Russian", "uk": "Ukrainian", "pl": "Polish", "zh": "Chinese",
    "ja": "Japanese", "ko": "Korean", "tr": "Turkish", "fi": "Finnish",
}  # fmt: skip
REFERENCE = "BPE-Standard-NFD"  # the paper's BPE in this benchmark
PAPERS = ("the paper's SupraTok", "the paper's BPE")

Values = NDArray[np.float64]  # a figure of the sentences themselves, then of each resample


# --- Texts


def corpora(args: argparse.Namespace) -> list[Path]:
    """A file for each language."""
    folder = located(args.corpus, "train/ml")
    wholes = [located(folder / f"{code}.jsonl.zst", "") for code in args.languages]
    return [first_documents(path, args.documents, args.out) for path in wholes]


def sentences(args: argparse.Namespace) -> dict[str, list[str]]:
    """The lines of each language; all must have the same number."""
    folder = located(args.test, "test/flores200")
    texts = {}
    for code in args.languages:
        text = located(folder / f"{code}.devtest", "").read_text(encoding="utf-8")
        texts[code] = text.removesuffix("\n").split("\n")
    lengths = {code: len(lines) for code, lines in texts.items()}
    if len(set(lengths.values())) > 1:
        raise SystemExit(f"{folder}: lines {lengths}; take files of the same sentences, in order")
    return texts


# --- Figures


class Found:
    """Figures of all tokenizers on the same resamples of the sentences. A resample draws a sentence
    for all languages and tokenizers together, so all figures compare."""

    def __init__(self, rows: list[Row], languages: list[str]) -> None:
        self.rows, self.languages = {row.entry.name: row for row in rows}, languages
        columns = [rows[0].counts[code].characters for code in languages]
        columns += [row.counts[code].tokens for row in rows for code in languages]
        table = np.stack(columns, axis=1).astype(np.float64)
        sums = np.vstack([table.sum(axis=0), resampled_sums(table)])
        parts = np.split(sums, len(rows) + 1, axis=1)
        self.characters = parts[0]  # a column for each language
        self.tokens = dict(zip(self.rows, parts[1:], strict=True))

    def density(self, name: str, languages: list[str]) -> Values:
        """Characters per token; the mean over languages."""
        at = [self.languages.index(code) for code in languages]
        return np.asarray((self.characters[:, at] / self.tokens[name][:, at]).mean(axis=1))

    def gain(self, name: str, languages: list[str]) -> Values:
        """The gain over the reference; the mean over languages."""
        at = [self.languages.index(code) for code in languages]
        return np.asarray((self.tokens[REFERENCE] / self.tokens[name] - 1)[:, at].mean(axis=1))


def papers(languages: list[str]) -> tuple[float, float, float]:
    """The paper's two figures and its gain; means over languages."""
    ours, theirs = (np.array([PAPER[code][side] for code in languages]) for side in (0, 1))
    return float(ours.mean()), float(theirs.mean()), float((ours / theirs - 1).mean())


def worst_over_best(tokens: Values) -> Values:
    return np.asarray(tokens.max(axis=1) / tokens.min(axis=1))


def cell(values: Values, form: str = ".3f") -> str:
    """The figure, and half the width of its interval."""
    low, high = middle(values[1:])
    return f"{values[0]:{form}} ±{format((high - low) / 2, form).removeprefix('+')}"


# --- The table


def head(names: list[str]) -> list[str]:
    cells = ["group", "language"]
    for name in names:
        cells += [name] if name == REFERENCE else [name, f"{name}, gain"]
    return [*cells, *PAPERS, "the paper's gain"]


def line(found: Found, group: str, label: str, languages: list[str]) -> list[str]:
    """The line of one language, or the means of several."""
    cells = [group, label]
    for name in found.rows:
        cells.append(cell(found.density(name, languages)))
        cells += [] if name == REFERENCE else [cell(found.gain(name, languages), "+.1%")]
    ours, theirs, gain = papers(languages)
    return [*cells, f"{ours:.2f}", f"{theirs:.2f}", f"{gain:+.1%}"]


def parity_lines(found: Found) -> list[list[str]]:
    """How unequal the tokens of the same sentences are. The paper gives none of these; we compute
    its from its characters per token and these sentences."""
    measures: dict[str, Callable[[Values], Values]] = {
        "tokens, worst over best": worst_over_best,
        "tokens, Gini": gini,
        "tokens, coefficient of variation": variation,
    }
    if "en" in found.languages and len(found.languages) > 1:
        at = found.languages.index("en")
        measures["tokens, other languages over English"] = lambda tokens: premium(tokens, at)
    lines = []
    for label, of in measures.items():
        cells = ["parity", label]
        for name, tokens in found.tokens.items():
            cells.append(cell(of(tokens)))
            cells += [] if name == REFERENCE else [NOTHING]
        densities = np.array([PAPER[code] for code in found.languages])
        costs = found.characters[0] / densities.T
        lines.append([*cells, *(f"{value:.3f}" for value in of(costs)), NOTHING])
    return lines


def lines_of(found: Found) -> list[list[str]]:
    """The languages and the mean of each group; then the mean of all, and parity."""
    lines = []
    for group, known in GROUPS.items():
        codes = [code for code in known if code in found.languages]
        lines += [line(found, group, NAMES[code], [code]) for code in codes]
        lines += [line(found, group, "mean", codes)] if len(codes) > 1 else []
    every = f"{len(found.languages)} languages"
    return [*lines, line(found, every, "mean", found.languages), *parity_lines(found)]


def extremes(found: Found) -> list[str]:
    """The languages with the fewest and the most tokens, in words."""
    names = [NAMES[code] for code in found.languages]
    return [
        f"{name}: fewest tokens in {names[int(tokens[0].argmin())]}, most in"
        f" {names[int(tokens[0].argmax())]}"
        for name, tokens in found.tokens.items()
    ]


def drawn(found: Found, size: int) -> str:
    items = {}
    for code in found.languages:
        own = {name: float(found.density(name, [code])[0]) for name in found.rows}
        items[NAMES[code]] = own | dict(zip(PAPERS, PAPER[code], strict=True))
    title = f"Characters per token of FLORES-200, {size:,} tokens for {len(items)} languages"
    return pictures.languages(items, title=title, paper=PAPERS)


def make_parser() -> argparse.ArgumentParser:
    parser = options("Characters per token by language, beside the paper's.", "flores", 100_000)
    names = ["dense", "balanced", "default", "paper", "BPE-Bytes-GPT4o", "SuperBPE"]
    add = parser.add_argument
    add("--only", nargs="+", choices=names, default=names[:3], metavar="ROW",
        help=f"beside {REFERENCE}: {', '.join(names)}")  # fmt: skip
    add("--languages", nargs="+", choices=list(PAPER), default=list(PAPER), metavar="CODE")
    return parser


def main(arguments: list[str] | None = None) -> None:
    args = make_parser().parse_args(arguments)
    args.languages = list(dict.fromkeys(args.languages))
    bench = Bench(
        corpora(args), args.out, tests=sentences(args), recipes=OURS, threads=args.threads,
        again=args.again, checkout=ROOT,
    )  # fmt: skip
    rows = [bench.row(entry) for entry in entries([*args.only, REFERENCE], args.sizes)]
    found = Found(rows, args.languages)
    facts, part = bench.learnt_from, f"first {args.documents:,}" if args.documents else ""
    notes = [
        f"learnt from {facts['documents']:,} documents, {facts['bytes'] / 1e6:,.1f} MB (SHA-256"
        f" {facts['sha256'][:12]}): the {part or 'whole'} of {', '.join(args.languages)};"
        f" {args.sizes[0]:,} tokens in all; the paper's are of other text (CulturaX)",
        f"{len(bench.tests[args.languages[0]]):,} sentences of FLORES-200 devtest; characters are"
        " those of the original text, before any normalisation; means are over the figures of"
        f" languages; gains are over {REFERENCE}",
        "±: half the width of the 95% interval, bootstrap over sentences, the same for all",
        *(f"{row.entry.name}: {row.lossy}" for row in rows if row.lossy),
        *extremes(found),
        bench.rows.about(),
        command("flores", arguments),
    ]
    columns = head(list(found.rows))
    table = Table(
        "Languages (Table 6)", claim(__doc__), columns, lines_of(found), notes, grouped=True,
        paper=[len(columns) - 3, len(columns) - 2, len(columns) - 1],
    )  # fmt: skip
    write_table(args.out, table, {"languages.svg": drawn(found, args.sizes[0])})


if __name__ == "__main__":
    main()
