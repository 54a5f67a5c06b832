"""Claim: the multilingual training text is balanced by documents (the paper's Table E1).

    python runs/composition.py

Documents, sentences and words of each of the 14 languages of `flores.py`.
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import asdict
from pathlib import Path

from flores import NAMES, corpora
from rows import (
    Figures,
    Rows,
    claim,
    command,
    documents_used,
    identity,
    options,
    write_table,
)
from supratok.corpus import open_corpus
from supratok.lab.measure.composition import SHORTEST, composition
from supratok.lab.report.tables import NOTHING, Table

# Paper, Table E1: sentences and phase-1 tokens of 8,000 documents.
DOCUMENTS = 8_000
PAPER = {
    "en": (276_019, 5_680_850), "de": (280_883, 4_719_950), "nl": (234_237, 4_141_152),
    "fr": (223_292, 5_529_978), "es": (204_417, 5_062_536), "it": (188_699, 4_772_012),
    "ru": (312_747, 4_917_576), "uk": (253_128, 4_312_276), "pl": (270_589, 4_349_563),
    "zh": (241_053, 2_700_273), "ja": (242_065, 2_306_322), "ko": (312_485, 5_116_734),
    "tr": (211_838, 3_516_811), "fi": (313_079, 4_286_315),
}  # fmt: skip
HEAD = [
    "language", "documents", "too short", "sentences", "words", "words a sentence",
    "the paper's documents", "sentences", "phase-1 tokens", "tokens a sentence",
]  # fmt: skip


def counted(path: Path, threads: int | None) -> Figures:
    with open_corpus(path) as texts:
        return asdict(composition(texts, threads))


def line(name: str, found: Figures, documents: int, sentences: int, tokens: int) -> list[str]:
    """Our figures, beside the paper's."""
    keys = ("documents", "left_out", "sentences", "words")
    ratio = f"{found['words'] / found['sentences']:.1f}" if found["sentences"] else NOTHING
    return [
        name, *(f"{found[key]:,}" for key in keys), ratio,
        f"{documents:,}", f"{sentences:,}", f"{tokens:,}", f"{tokens / sentences:.1f}",
    ]  # fmt: skip


def lines_of(found: dict[str, Figures]) -> list[list[str]]:
    """A line for each language, and one for all."""
    lines = [line(NAMES[code], row, DOCUMENTS, *PAPER[code]) for code, row in found.items()]
    total = {key: sum(row[key] for row in found.values()) for key in next(iter(found.values()))}
    sentences, tokens = (sum(PAPER[code][side] for code in found) for side in (0, 1))
    return [*lines, line("in all", total, DOCUMENTS * len(found), sentences, tokens)]


def main(arguments: list[str] | None = None) -> None:
    parser = options("Documents, sentences and words, beside the paper's.", "composition")
    parser.add_argument("--languages", nargs="+", choices=list(PAPER), default=list(PAPER),
                        metavar="CODE")  # fmt: skip
    args = parser.parse_args(arguments)
    rows, program = Rows(args.out, args.again), identity(Path(inspect.getfile(composition)))
    found = {}
    for code, path in zip(args.languages, corpora(args), strict=True):
        asked = {"row": code, "corpus": identity(path), "counted by": program}
        found[code] = rows.get(asked, functools.partial(counted, path, args.threads))
    notes = [
        f"{documents_used(args.documents)} of train/ml; too short: under {SHORTEST} characters"
        " without surrounding space; these are not counted further",
        "a sentence ends with its line, at . ! ? … with closing marks before a space, and at 。！？"
        " anywhere; it holds a letter or digit; the paper does not say how it counts sentences",
        "words: runs of letters, of digits and of punctuation, within which our first pass joins;"
        " so the text between two marks of Chinese or Japanese is one word; the paper's tokens come"
        " from a pre-tokenizer that it does not define",
        "the paper's: Table E1, of CulturaX",
        rows.about(),
        command("composition", arguments),
    ]
    table = Table(
        "The multilingual training text (Table E1)", claim(__doc__), HEAD, lines_of(found),
        notes, paper=[6, 7, 8, 9],
    )  # fmt: skip
    write_table(args.out, table)


if __name__ == "__main__":
    main()
