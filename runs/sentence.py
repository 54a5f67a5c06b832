"""Claim: a sentence of 14 BPE tokens has 9 of ours, with whole names (the paper's figure).

python runs/sentence.py
python runs/sentence.py --only build/runs/sweep/dense-100000.json BPE-Standard
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Iterator
from pathlib import Path

from rows import (
    ENGLISH,
    Figures,
    Rows,
    claim,
    command,
    documents_used,
    first_documents,
    identity,
    located,
    options,
    percent,
    trained,
    write_table,
)
from supratok.formats.peer import Peer, open_any
from supratok.lab import baselines
from supratok.lab.bench import OURS, Entry, entries
from supratok.lab.report.tables import NOTHING, Table

SENTENCE = "The United Nations headquarters in New York announced new climate change initiatives."
NAMES = ["BPE-Standard", "SuperBPE", "BPE-Bytes-GPT4o", "default", "balanced", "dense", "paper"]
PAPER = {"BPE-Standard": 14, "default": 9, "balanced": 9, "dense": 9, "paper": 9}
# The tokens in the paper's figure.
SHOWN = {
    "the paper's BPE": "The United Nations head quarters in New York announced new climate change"
    " init iatives",
    "the paper's SupraTok": "The United_Nations headquarters in New_York announced new"
    " climate_change initiatives",
}
HEAD = ["size", "tokenizer", "tokens", "in the paper", "to BPE-Standard", "lossless", "the tokens"]


def shown(tokens: list[str]) -> str:
    """Tokens as a cell: [The] [␣United␣Nations]."""
    return " ".join(f"[{token.replace(' ', '␣')}]" for token in tokens)


class Tokenized:
    """The sentence under each tokenizer, computed once."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._args, self.rows = args, Rows(args.out, args.again)

    @functools.cached_property
    def whole(self) -> Path:
        return located(self._args.corpus, ENGLISH)

    @functools.cached_property
    def _corpus(self) -> baselines.Documents:
        """Hashed once."""
        return baselines.Documents(self._file)

    @functools.cached_property
    def _file(self) -> Path:
        return first_documents(self.whole, self._args.documents, self._args.out)

    def row(self, entry: Entry) -> Figures:
        return self.rows.get(self._asked(entry), lambda: tokenized(self._peer(entry)))

    def _asked(self, entry: Entry) -> Figures:
        asked: Figures = {"row": entry.label, "sentence": SENTENCE}
        if entry.size is None:
            return asked | {"file": identity(Path(entry.name))}
        asked |= {"corpus": identity(self.whole), "documents": self._args.documents}
        if entry.name in OURS:
            return asked | {"recipe": OURS[entry.name](entry.size).to_dict()}
        return asked | {"settings": dict(baselines.BASELINES[entry.name].settings)}

    def _peer(self, entry: Entry) -> Peer:
        if entry.size is None:
            return open_any(entry.name)
        if entry.name not in OURS:
            return baselines.trained(entry.name, self._corpus, entry.size, self._args.cache)
        kept = self._args.out / f"{entry.name}-{entry.size}.json"
        trained(self._file, OURS[entry.name](entry.size), self._args.threads)[0].save(kept)
        return open_any(kept)


def tokenized(peer: Peer) -> Figures:
    ids = peer.encode(SENTENCE)
    return {
        "tokens": len(ids),
        "shown": peer.token_strings(SENTENCE),
        "vocab_size": peer.vocab_size,
        "lossless": peer.decode(ids) == SENTENCE,
    }


def lines_of(found: dict[Entry, Figures]) -> Iterator[list[str]]:
    """A line for each row, compared with BPE-Standard of the same size."""
    for entry, row in found.items():
        standard = found.get(Entry("BPE-Standard", entry.size))
        yield [
            f"{entry.size or row['vocab_size']:,}",
            Path(entry.name).name,
            str(row["tokens"]),
            str(PAPER.get(entry.name, NOTHING)),
            percent(row["tokens"], standard["tokens"]) if standard else NOTHING,
            "yes" if row["lossless"] else "no",
            shown(row["shown"]),
        ]


def papers() -> Iterator[list[str]]:
    """The paper's two lines."""
    for name, text in SHOWN.items():
        tokens = [token.replace("_", " ") for token in text.split(" ")]
        count = str(len(tokens))
        yield ["the paper", name, NOTHING, count, NOTHING, NOTHING, shown(tokens)]


def main(arguments: list[str] | None = None) -> None:
    parser = options("A sentence under each tokenizer, beside the paper's.", "sentence")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000])
    parser.add_argument("--only", nargs="+", default=NAMES, metavar="ROW",
                        help=f"{', '.join(NAMES)}, another baseline or a file")  # fmt: skip
    parser.add_argument("--cache", type=Path, default=Path("build/baselines"),
                        help="folder of trained baselines")  # fmt: skip
    args = parser.parse_args(arguments)
    try:
        asked = entries(args.only, args.sizes)
    except ValueError as error:
        parser.error(str(error))
    sentence = Tokenized(args)
    lines = list(lines_of({entry: sentence.row(entry) for entry in asked}))
    learnt = [entry for entry in asked if entry.size is not None]
    notes = [
        f"the sentence: {SENTENCE}",
        *([f"learnt from {documents_used(args.documents)} of {sentence.whole.name} (SHA-256"
           f" {identity(sentence.whole)[:12]})"] if learnt else []),
        "␣ is a space within a token; BPE-Standard discards spaces",
        "the paper shows no token for the full stop, which every row here has, alone or in a longer"
        " token; it does not say how large its vocabularies are",
        sentence.rows.about(),
        command("sentence", arguments),
    ]  # fmt: skip
    table = Table(
        "A sentence", claim(__doc__), HEAD, [*lines, *papers()], notes, paper=[3], lower=[2],
        grouped=True, aside=[place for place, line in enumerate(lines) if line[5] == "no"],
    )  # fmt: skip
    write_table(args.out, table)


if __name__ == "__main__":
    main()
