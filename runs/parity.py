"""Claim: more text of the languages that need most tokens makes languages more equal.

    python runs/parity.py
    python runs/parity.py --price 10 --rounds 0    # only the tokenizer of equal texts

Tokenizers over 14 languages. Round 0 gives each language its text once. Each further round gives
more text to the languages whose sentences took more tokens than the mean in the round before, and
less to the others; the text of all stays about as much. A weight of 2.4 is the file twice and a
sample of 0.4 of its documents, as `supratok curate --keep 0.4 0.4 0.4` makes it.

**Test text decides here**: the first half of the sentences of FLORES-200 devtest sets the weights,
because we have no other text that is the same in all languages; the second half measures.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from statistics import mean

import numpy as np
import zstandard
from numpy.typing import NDArray

from flores import NAMES, cell, corpora, sentences, worst_over_best
from rows import (
    Figures,
    Rows,
    claim,
    command,
    documents_used,
    held_out,
    identity,
    located,
    options,
    ratio,
    trained,
    write_table,
)
from supratok import Curation, Recipe
from supratok.corpus.curate import curate
from supratok.corpus.records import json_line
from supratok.lab.measure.bootstrap import resampled_sums
from supratok.lab.measure.figures import gini, premium, variation
from supratok.lab.report.tables import NOTHING, Table

Values = NDArray[np.float64]
Weights = dict[str, float]  # by language: how many times its text counts

LEAST = 0.05  # a language keeps some text


# --- Weights


def next_weights(weights: Weights, tokens: dict[str, int], power: float) -> Weights:
    """More for the languages with more tokens than the mean; the mean of the weights is 1, before
    they are rounded."""
    middle = mean(tokens.values())
    raw = {code: weights[code] * (tokens[code] / middle) ** power for code in weights}
    level = mean(raw.values())
    return {code: max(LEAST, round(weight / level, 2)) for code, weight in raw.items()}


def weighted(path: Path, weight: float, folder: Path) -> list[Path]:
    """The files that give the text of a file so many times: itself, and a sample of its documents
    for the rest."""
    times, rest = int(weight), round(weight % 1, 2)
    return [path] * times + ([sample(path, rest, folder)] if rest else [])


def sample(path: Path, share: float, folder: Path) -> Path:
    """A file with this share of the documents, by hash."""
    part = folder / f"{identity(path)[:12]}-{share:.2f}.jsonl.zst"
    if not part.exists():
        unfinished = part.with_suffix(".part")
        with unfinished.open("wb") as file, zstandard.ZstdCompressor().stream_writer(file) as out:
            for text in curate(path, Curation(keep=(share, share, share))):
                out.write(json_line({"text": text}) + b"\n")
        unfinished.rename(part)
    return part


# --- Rounds


class Rounds:
    """The texts, and the rows: a tokenizer for each round."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.languages: list[str] = args.languages
        self.files = dict(zip(args.languages, corpora(args), strict=True))
        self.sentences = sentences(args)
        self.documents = {code: held_out(path) for code, path in self.files.items()}
        self.rows, self._args = Rows(args.out, args.again), args
        self._recipe = Recipe(vocab_size=args.sizes[0], phrase_price=args.price)
        self._half = len(self.sentences[args.languages[0]]) // 2
        test = located(args.test, "test/flores200")
        self._asked = {
            "recipe": self._recipe.to_dict(),
            "corpus": [identity(path) for path in self.files.values()],
            "test": [identity(test / f"{code}.devtest") for code in args.languages],
        }

    def all(self) -> list[tuple[Weights, Figures]]:
        """The weights and the figures of each round."""
        weights, found = dict.fromkeys(self.languages, 1.0), []
        for number in range(self._args.rounds + 1):
            figures = self._row(number, weights)
            found.append((weights, figures))
            deciding = {code: sum(figures["tokens"][code][: self._half]) for code in self.languages}
            weights = next_weights(weights, deciding, self._args.power)
        return found

    def _row(self, number: int, weights: Weights) -> Figures:
        return self.rows.get(
            {**self._asked, "row": f"round {number}", "weights": weights},
            lambda: self._measure(weights),
        )

    def _measure(self, weights: Weights) -> Figures:
        """Tokens of each sentence, and characters per token of held-out documents, by language."""
        files = [
            part
            for code, path in self.files.items()
            for part in weighted(path, weights[code], self._args.out)
        ]
        tokenizer, seconds = trained(files, self._recipe, self._args.threads)
        held = {
            code: ratio(texts, int(tokenizer.usage(texts, self._args.threads).sum()))
            for code, texts in self.documents.items()
        }
        tokens = {code: list(map(tokenizer.count, lines)) for code, lines in self.sentences.items()}
        return {"tokens": tokens, "held_out": held, "seconds": seconds}

    def sums(self, figures: Figures) -> tuple[Values, Values]:
        """Characters and tokens of the measuring half by language: of the sentences themselves,
        then of each resample."""
        columns = [list(map(len, self.sentences[code][self._half :])) for code in self.languages]
        columns += [figures["tokens"][code][self._half :] for code in self.languages]
        table = np.array(columns, dtype=np.float64).T
        sums = np.vstack([table.sum(axis=0), resampled_sums(table)])
        characters, tokens = np.split(sums, 2, axis=1)
        return characters, tokens


# --- The table


def lines_of(rounds: Rounds, found: list[tuple[Weights, Figures]]) -> list[list[str]]:
    """A line for each language, then parity and density."""
    sums = [rounds.sums(figures) for _, figures in found]
    held = [changes_of(figures, found[0][1]) for _, figures in found]
    lines = []
    for at, code in enumerate(rounds.languages):
        cells = []
        for (weights, _), (_, tokens) in zip(found, sums, strict=True):
            cells += [f"{weights[code]:.2f}", cell(tokens[:, at] / tokens.mean(axis=1))]
        before = found[0][1]["held_out"][code]
        lines.append([NAMES[code], *cells, f"{before:.3f}", f"{held[-1][code]:+.1%}"])
    for label, of in measures(rounds.languages).items():
        lines.append(spread(label, [cell(of(tokens)) for _, tokens in sums]))
    density = [(characters / tokens).mean(axis=1) for characters, tokens in sums]
    totals = [float(tokens[0].sum()) for _, tokens in sums]
    means = [mean(by_language.values()) for by_language in held]
    lines += [
        spread("tokens of all, change", [f"{one / totals[0] - 1:+.1%}" for one in totals]),
        spread("C/T, mean of languages", [cell(values) for values in density]),
        spread("C/T held out, mean of changes", [f"{one:+.1%}" for one in means]),
    ]
    return lines


def changes_of(figures: Figures, before: Figures) -> dict[str, float]:
    """By language: how the characters per token of held-out documents changed."""
    old, new = before["held_out"], figures["held_out"]
    return {code: new[code] / old[code] - 1 for code in new}


def measures(languages: list[str]) -> dict[str, Callable[[Values], Values]]:
    """How unequal the tokens of the same sentences are, by the name of the figure."""
    found: dict[str, Callable[[Values], Values]] = {
        "tokens, worst over best": worst_over_best,
        "tokens, Gini": gini,
        "tokens, coefficient of variation": variation,
    }
    if "en" in languages and len(languages) > 1:
        at = languages.index("en")
        found["tokens, other languages over English"] = lambda tokens: premium(tokens, at)
    return found


def spread(label: str, cells: list[str]) -> list[str]:
    """A line with nothing in the columns of weights and in the last two."""
    return [label, *(part for one in cells for part in (NOTHING, one)), NOTHING, NOTHING]


def make_parser() -> argparse.ArgumentParser:
    parser = options("Weights of languages for equal numbers of tokens.", "parity", 100_000)
    add = parser.add_argument
    add("--languages", nargs="+", choices=list(NAMES), default=list(NAMES), metavar="CODE")
    add("--rounds", type=int, default=2, help="rounds with new weights (default: 2)")
    add("--power", type=float, default=6.0,
        help="a weight grows by tokens over their mean, to this power (default: 6)")  # fmt: skip
    add("--price", type=float, default=1.5, help="phrase_price of the recipe (default: 1.5)")
    return parser


def main(arguments: list[str] | None = None) -> None:
    args = make_parser().parse_args(arguments)
    args.languages = list(dict.fromkeys(args.languages))
    rounds = Rounds(args)
    found = rounds.all()
    head = ["language"]
    for number in range(len(found)):
        head += [f"text, round {number}", f"tokens, round {number}"]
    head += ["C/T held out, round 0", "C/T held out, change"]
    notes = [
        f"{documents_used(args.documents)} of {', '.join(args.languages)}; {args.sizes[0]:,} tokens"
        f" in all; phrase_price {args.price:g}",
        "text: how many times the text of the language counts; tokens: of the same sentences, over"
        " the mean of all languages; C/T held out, change: from round 0 to the last",
        "the first half of the sentences of FLORES-200 devtest decided the weights; all figures are"
        " of the second half, or of documents that training held out and that decided nothing",
        "±: half the width of the 95% interval, bootstrap over sentences",
        "training took "
        + ", ".join(f"{figures['seconds']:.0f} s" for _, figures in found)
        + ", beside other work",
        rounds.rows.about(),
        command("parity", arguments),
    ]
    table = Table("Parity by choice", claim(__doc__), head, lines_of(rounds, found), notes)
    write_table(args.out, table)


if __name__ == "__main__":
    main()
