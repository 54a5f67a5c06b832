"""Claim: some phrases save a model bits and others cost bits, measured phrase by phrase.

    python runs/phrases.py
    python runs/phrases.py --only BPE-Bytes-GPT4o balanced --budget 16000000

Two models read the same held-out text, one over BPE and one over phrases. Between two places where
a token ends in both readings, their nats compare. So each phrase has a price: its nats less those
of BPE for the same characters. The table adds up prices by kinds of phrases; with those of the
words between phrases they add up to the difference of the models. The text is the deciding half of
the held-out documents, so recipes may be chosen by this table.
"""

from __future__ import annotations

import base64
import functools
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lm import Models
from lm_jobs import BEST_AID, BPE, Job, job, model_options
from lm_tables import difference_cell, notes
from rows import Figures, claim, command, write_table
from supratok.lab.lm.bits import token_nats
from supratok.lab.lm.coder import Coder, Ids
from supratok.lab.lm.parts import Parts, Splitting, phrase_parts
from supratok.lab.measure.bootstrap import difference
from supratok.lab.report.tables import Table
from variants import BUDGET, RATE, SHAPE, SIZE

ROWS = [BPE, "balanced", f"balanced + {BEST_AID}"]
TEST = "deciding"
HEAD = [
    "model", "tokens", "number", "share of the text", "bits/character", f"{BPE} there",
    f"over {BPE}", "of the whole difference",
]  # fmt: skip
PMI = (0, 2, 4, 6)
LISTED = 12  # phrases at either end
OFTEN = 20  # times, to be listed


class Spent:
    """The nats of each token, packed; encoding the text again gives the tokens."""

    __name__ = "nats of tokens"

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def __call__(self, model: Any, coder: Coder, device: str) -> Figures:
        nats = np.concatenate(token_nats(model, coder, self._texts, device))
        return {"spent": base64.b64encode(nats.astype("<f2").tobytes()).decode()}


def spent(row: Figures, coded: Sequence[Ids]) -> list[NDArray[np.float64]]:
    """The nats of each token, text by text."""
    nats = np.frombuffer(base64.b64decode(row["spent"]), dtype="<f2").astype(np.float64)
    ends = np.cumsum([len(ids) for ids in coded])
    if ends[-1] != len(nats):
        raise ValueError(f"{len(nats)} figures for {ends[-1]} tokens: made with another tokenizer")
    return np.split(nats, ends[:-1])


# --- Two readings of a text side by side


@dataclass(frozen=True)
class Read:
    """A text in one model's tokens: their ids, texts and nats."""

    ids: list[int]
    pieces: list[str]
    nats: NDArray[np.float64]


@dataclass(frozen=True)
class Stretch:
    """The text between two ends of tokens that both readings share."""

    ids: list[int]
    characters: int
    nats: float
    base: float  # nats of the other model


def stretches(ours: Read, base: Read) -> Iterator[Stretch]:
    """The text, cut wherever a token ends in both readings."""
    ends, others = (np.cumsum([len(piece) for piece in read.pieces]) for read in (ours, base))
    common, mine, theirs = np.intersect1d(ends, others, return_indices=True)
    costs = [
        np.diff(np.cumsum(read.nats)[last], prepend=0.0)
        for read, last in ((ours, mine), (base, theirs))
    ]
    firsts = np.concatenate([[0], mine + 1])
    sizes = np.diff(common, prepend=0)
    for place, (size, nats, other) in enumerate(zip(sizes, *costs, strict=True)):
        ids = ours.ids[firsts[place] : firsts[place + 1]]
        yield Stretch(ids, int(size), float(nats), float(other))


def reads(models: Models, one: Job, row: Figures) -> list[Read | None]:
    """A reading of every text; None where a token holds a part of a character."""
    coder, texts = models.coder(one.name, one.size), models.texts.tests[TEST]
    coded = coder.encode_all(texts)
    found: list[Read | None] = []
    for text, ids, nats in zip(texts, coded, spent(row, coded), strict=True):
        pieces = coder.peer.token_strings(text)
        whole = "".join(pieces) == text and len(pieces) == len(ids)
        found.append(Read(ids.tolist(), pieces, nats) if whole else None)
    return found


# --- Kinds of phrases


class Kind(NamedTuple):
    """A question about a phrase, the order of the answer, and the answer."""

    question: int
    place: int
    name: str


ALL, WORDS, MIXED, PHRASES = (
    Kind(0, place, name)
    for place, name in enumerate(("all", "words, one or more", "both, inseparable", "phrases"))
)


@dataclass(frozen=True)
class Kinds:
    """Sorts the phrases of a tokenizer by how the training text uses them."""

    parts: Parts
    texts: Callable[[int], str]
    uses: NDArray[np.int64]
    pmi: NDArray[np.float64]

    @staticmethod
    def of(coder: Coder, documents: Sequence[Ids]) -> Kinds:
        parts = phrase_parts(coder)
        flat = np.concatenate(documents)
        words = Splitting(parts, 1.0)(flat, 0, np.random.default_rng(0))
        uses, seen = (np.bincount(ids, minlength=coder.rows) for ids in (flat, words))
        chance = np.log2(np.maximum(seen, 1) / len(words))
        pmi = np.array([
            np.log2(max(1, uses[id]) / len(words)) - chance[parts.of(id)].sum()
            for id in range(coder.rows)
        ])  # fmt: skip
        spell = functools.cache(coder.peer.token_text)  # type: ignore[attr-defined]
        return Kinds(parts, spell, uses, pmi)

    def __call__(self, id: int) -> list[Kind]:
        """The kinds of a phrase, one for each question."""
        words = min(4, len(self.texts(id).split()))
        marks = any(not (one.isalnum() or one.isspace()) for one in self.texts(id))
        uses, pmi = _among(self.uses[id], (300, 1_000, 3_000, 10_000)), _among(self.pmi[id], PMI)
        return [
            Kind(1, words, f"phrases of {words if words < 4 else '4 or more'} words"),
            Kind(2, marks, f"phrases {'with' if marks else 'without'} punctuation"),
            Kind(3, uses[0], f"phrases used {uses[1]} times"),
            Kind(4, pmi[0], f"phrases of a PMI of {pmi[1]}"),
        ]


def _among(value: float, steps: Sequence[int]) -> tuple[int, str]:
    """The number of steps reached, and the range in words: 300 to 1,000."""
    taken = sum(value >= step for step in steps)
    if not taken:
        return taken, f"less than {steps[0]:,}"
    if taken == len(steps):
        return taken, f"{steps[-1]:,} or more"
    return taken, f"{steps[taken - 1]:,} to {steps[taken]:,}"


# --- Sums


@dataclass
class Sum:
    """Sums over the stretches of one kind, document by document."""

    number: int = 0
    characters: int = 0
    nats: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    base: dict[int, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, document: int, stretch: Stretch) -> None:
        self.number += 1
        self.characters += stretch.characters
        self.nats[document] += stretch.nats
        self.base[document] += stretch.base

    @property
    def price(self) -> float:
        return sum(self.nats.values()) - sum(self.base.values())


Sums = tuple[dict[Kind, Sum], dict[str, Sum]]  # by kind, and of each phrase


def sums(ours: Sequence[Read | None], base: Sequence[Read | None], kinds: Kinds) -> Sums:
    found: Sums = defaultdict(Sum), defaultdict(Sum)
    for document, (one, other) in enumerate(zip(ours, base, strict=True)):
        for stretch in stretches(one, other) if one and other else ():
            phrases = [id for id in stretch.ids if kinds.parts.counts[id] > 1]
            if phrases and len(stretch.ids) == 1:
                found[1][kinds.texts(phrases[0])].add(document, stretch)
                some = [PHRASES, *kinds(phrases[0])]
            else:
                some = [MIXED if phrases else WORDS]
            for kind in (ALL, *some):
                found[0][kind].add(document, stretch)
    return found


def lines(name: str, found: dict[Kind, Sum]) -> list[list[str]]:
    cells = []
    for kind, one in sorted(found.items()):
        documents = sorted(one.base)
        more = difference(
            [one.base[place] for place in documents], [one.nats[place] for place in documents]
        )
        bits = [sum(some.values()) / one.characters / np.log(2) for some in (one.nats, one.base)]
        cells.append([
            name, kind.name, f"{one.number:,}", f"{one.characters / found[ALL].characters:.1%}",
            f"{bits[0]:.4f}", f"{bits[1]:.4f}", difference_cell(more),
            f"{one.price / found[ALL].price:+.0%}",
        ])  # fmt: skip
    return cells


def ends(found: dict[str, Sum]) -> str:
    """The phrases that save most and those that cost most, with the bits of a use."""
    known = {text: one for text, one in found.items() if one.number >= OFTEN}
    order = sorted(known, key=lambda text: known[text].price)
    said = [
        ", ".join(
            f"{text!r} ({known[text].price / known[text].number / np.log(2):+.1f})" for text in some
        )
        for some in (order[:LISTED], order[::-1][:LISTED])
    ]
    return f"save most (bits of a use): {said[0]}; cost most: {said[1]}"


# --- The run


def main(arguments: list[str] | None = None) -> None:
    parser = model_options("Bits phrase by phrase.", "phrases", SIZE, SHAPE, RATE, ROWS)
    parser.add_argument("--budget", type=int, default=BUDGET, help="tokens")
    args = parser.parse_args(arguments)
    models, seed = Models(args), (args.seeds or [0])[0]
    jobs = {row: job(row, args, args.budget, seed) for row in dict.fromkeys([BPE, *args.only])}
    done = models.rows_of(list(jobs.values()), Spent(models.texts.tests[TEST]))
    cells, extremes = [], []
    if jobs[BPE] not in done:
        raise SystemExit(f"{args.out}: the row of {BPE} is not finished; all others need it")
    base = reads(models, jobs[BPE], done[jobs[BPE]])
    for row, one in jobs.items():
        if row != BPE and one in done:
            kinds = Kinds.of(
                models.coder(one.name, one.size), models.encoded(one.name, one.size).result()
            )
            found = sums(reads(models, one, done[one]), base, kinds)
            cells += lines(row, found[0])
            extremes.append(f"{row}: {ends(found[1])}")
    left = sum(read is None for read in base)
    table = Table(
        f"Which phrases pay: {args.size:,} tokens, {args.budget / 1e6:g} M read", claim(__doc__),
        HEAD, cells,
        [*notes(models, list(done.values())), *extremes,
         f"{left} of {len(base)} documents are left out, because {BPE} has tokens of parts of"
         " characters there; PMI: of a phrase's uses, against its words as tokens",
         command("phrases", arguments)],
    )  # fmt: skip
    write_table(args.out, table)


if __name__ == "__main__":
    main()
