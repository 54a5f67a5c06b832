"""Claim: hardly any token is never used, and to remove the least used gains little.

    python runs/residues.py
    python runs/residues.py default.json dense.json --only SuperBPE BPE-Bytes-GPT4o --sizes 50000

How often each learnt token is used in the text that was learnt from and in held-out documents that
decided nothing; how many of the rarely used ones are scaffolding, which other tokens are made of.
Then what removal gives: `refine` lets pairs take the places of tokens that save less, and `prune`
drops the least useful of a vocabulary that is a tenth larger; measured on held-out text. Neither
knows the price of phrases, so the number of phrases stands beside.
"""

from __future__ import annotations

import argparse
import functools
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rows import (
    ENGLISH,
    Figures,
    Rows,
    claim,
    command,
    documents_used,
    first_documents,
    held_out,
    identity,
    located,
    number,
    options,
    percent,
    ratio,
    token_texts,
    write_table,
)
from supratok import Tokenizer, train
from supratok.corpus import open_corpus
from supratok.corpus.split import digest, is_held_out
from supratok.formats.peer import Peer, open_any
from supratok.formats.runtime import Ours
from supratok.lab.baselines import BASELINES, Documents, trained
from supratok.lab.baselines.superbpe import merges_of
from supratok.lab.bench import OURS
from supratok.lab.measure.counts import count, crosses_words
from supratok.lab.report.tables import NOTHING, Table
from supratok.learn.rework import prune, refine
from supratok.tokenizer import BYTES, alphabet_size, encoder_of_tokens

RARE = (1, 5, 20)  # used fewer times than
LARGER = 1.1  # the size of the vocabulary that is pruned to the size asked for
HEAD = [
    "tokenizer", "learnt tokens", "unused in its text", "under 5 uses", "under 20 uses",
    "of these, parts of others", "unused, held out", "under 5 uses, held out", "C/T held out",
    "after refine", "pruned from a tenth more", "phrases before, refined, pruned",
]  # fmt: skip


@dataclass(frozen=True)
class Learnt:
    """The learnt tokens of a tokenizer: their ids, and whether others are made of them."""

    ids: NDArray[np.int64]
    parts: NDArray[np.bool_]


def learnt_by(peer: Peer, path: Path) -> Learnt:
    """Of ours, all but special tokens, bytes and the alphabet; of a tokenizer.json, its merges."""
    if isinstance(peer, Ours):
        return _of_ours(peer.tokenizer)
    model = json.loads(path.read_text(encoding="utf-8"))
    vocabulary = model["model"]["vocab"]
    merges = merges_of(model)
    joined = list(dict.fromkeys(left + right for left, right in merges))
    within = {part for pair in merges for part in pair}
    ids = np.array([vocabulary[text] for text in joined], np.int64)
    return Learnt(ids, np.array([text in within for text in joined], bool))


def _of_ours(tokenizer: Tokenizer) -> Learnt:
    tokens, recipe = list(tokenizer.vocabulary), tokenizer.recipe
    first, skipped = len(recipe.special_tokens) + BYTES, alphabet_size(tokens)
    parts = np.zeros(len(tokens), bool)
    if recipe.segmentation == "merges":  # under `fewest` no token needs another
        encoder = encoder_of_tokens(tokens, fewest=False)
        used = [part for place in range(len(tokens)) for part in encoder.parts(place) or ()]
        parts[used] = True
    places = np.arange(skipped, len(tokens))
    return Learnt(first + places, parts[places])


class Work:
    """The texts, and the tokenizers."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.corpus = first_documents(located(args.corpus, ENGLISH), args.documents, args.out)
        self.rows = Rows(args.out, args.again)

    @functools.cached_property
    def measuring(self) -> list[str]:
        return held_out(self.corpus)

    def opened(self, name: str) -> tuple[Peer, Path]:
        """A file, or a tokenizer that is trained now."""
        (size,) = self.args.sizes
        if name in BASELINES:
            found = trained(name, Documents(self.corpus), size, self.args.out / "baselines")
            return found.peer, found.path
        if name not in OURS:
            return open_any(name), Path(name)
        path = self.args.out / f"{name}-{size}-{identity(self.corpus)[:12]}.json"
        if not path.exists():
            train(self.corpus, OURS[name](size), self.args.threads, progress=False).save(path)
        return open_any(path), path

    def uses(self, name: str) -> Figures:
        """How many learnt tokens are rarely used."""
        peer, path = self.opened(name)
        learnt = learnt_by(peer, path)
        own = (text for text in open_corpus(self.corpus) if not is_held_out(digest(text)))
        used = count(peer, own, self.args.threads).usage[learnt.ids]
        counts = count(peer, self.measuring, self.args.threads)
        seen = counts.usage[learnt.ids]
        return {
            "learnt": len(learnt.ids),
            "rare": [int((used < uses).sum()) for uses in RARE],
            "parts": int((learnt.parts & (used < RARE[-1])).sum()),
            "rare_held_out": [int((seen < uses).sum()) for uses in RARE],
            "held_out": ratio(self.measuring, int(counts.tokens.sum())),
        }

    def removal(self, name: str) -> Figures:
        """What removal gives; only for ours, as no other trainer can prune or refine."""
        peer, _ = self.opened(name)
        if not isinstance(peer, Ours):
            return {"refined": None, "pruned": None, "phrases": []}
        tokenizer, threads = peer.tokenizer, self.args.threads
        refined = refine(tokenizer, self.corpus, rounds=3, threads=threads, progress=False)
        size = tokenizer.vocab_size
        larger = replace(tokenizer.recipe, vocab_size=int(size * LARGER))
        pruned = prune(
            train(self.corpus, larger, threads, progress=False), self.corpus, size, threads,
            progress=False,
        )  # fmt: skip
        return {
            "refined": self._density(refined), "pruned": self._density(pruned),
            "phrases": [sum(map(crosses_words, token_texts(one)))
                        for one in (tokenizer, refined, pruned)],
        }  # fmt: skip

    def _density(self, tokenizer: Tokenizer) -> float:
        used = tokenizer.usage(self.measuring, self.args.threads)
        return ratio(self.measuring, int(used.sum()))

    def line(self, name: str) -> list[str]:
        asked: dict[str, Any] = {
            "corpus": identity(self.corpus), "size": self.args.sizes[0],
            "tokenizer": identity(Path(name)) if Path(name).is_file() else name,
        }  # fmt: skip
        label = Path(name).stem if Path(name).is_file() else name
        uses = self.rows.get({**asked, "row": f"uses of {label}"}, lambda: self.uses(name))
        wanted = {**asked, "row": f"removal from {label}"}
        skip = self.args.no_removal and not self.rows.has(wanted)
        removed = {} if skip else self.rows.get(wanted, lambda: self.removal(name))
        total = uses["learnt"]
        shares = [f"{some:,} ({some / total:.1%})" for some in uses["rare"]]
        after = [removed.get(kind) for kind in ("refined", "pruned")]
        return [
            label, f"{total:,}", *shares, f"{uses['parts']:,}",
            *(f"{some:,} ({some / total:.1%})" for some in uses["rare_held_out"][:2]),
            number(uses["held_out"]),
            *(f"{value:.3f} ({percent(value, uses['held_out'])})" if value else NOTHING
              for value in after),
            ", ".join(f"{some:,}" for some in removed.get("phrases", [])) or NOTHING,
        ]  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    parser = options("Tokens that are hardly ever used.", "residues", 50_000)
    names = [*OURS, "SuperBPE", "BPE-Bytes-GPT4o"]
    add = parser.add_argument
    add("files", nargs="*", help="finished tokenizers, of --corpus")
    add("--only", nargs="*", choices=names, metavar="ROW", help=f"to train: {', '.join(names)}")
    add("--no-removal", action="store_true", help="count uses only")
    args = parser.parse_args(arguments)
    chosen = [*args.files, *(args.only or [])] or ["default", "balanced", "dense", *names[-2:]]
    work = Work(args)
    lines = [work.line(name) for name in chosen]
    notes = [
        f"{located(args.corpus, ENGLISH).name} (SHA-256 {identity(work.corpus)[:12]}),"
        f" {documents_used(args.documents)}; uses are those of the documents that our training"
        f" learns from; held out: {sum(map(len, work.measuring)) / 1e6:.1f} M characters of"
        " documents that decided nothing (the others learnt from them too)",
        "parts of others: of the tokens under 20 uses, those that another token is made of; without"
        " them that token cannot form; phrases: tokens with more than one word",
        work.rows.about(),
        command("residues", arguments),
    ]
    write_table(args.out, Table("Residues", claim(__doc__), HEAD, lines, notes))


if __name__ == "__main__":
    main()
