"""Claim: some phrases pay a model in bits and others cost, told phrase by phrase.

    python runs/phrases.py
    python runs/phrases.py --only BPE-Bytes-GPT4o default --budget 16000000

Two models read the same held-out text, one over BPE and one over phrases. Where both have a token's
end, their surprise can be compared: so each phrase has a price, what it cost less what its
characters cost BPE. Prices are added up by kinds of phrases. They add up to the difference of the
models, which the words between phrases share in. The half of the held-out documents that decides
is looked at, so that recipes may be chosen by what is seen.
"""

from __future__ import annotations

import base64
import functools
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lm import BEST_HELP, BPE, Job, Models, job, model_options, notes, row_name, told
from rows import Figures, claim, command, write_table
from supratok.lab.bootstrap import difference
from supratok.lab.lm.bits import token_nats
from supratok.lab.lm.coder import Coder, Ids
from supratok.lab.lm.parts import Parts, Splitting, phrase_parts
from supratok.lab.tables import Table
from variants import BUDGET, RATE, SHAPE, SIZE

ROWS = [BPE, "default", f"default + {BEST_HELP}"]
TEST = "deciding"
WORDS, MIXED = "words, one or more", "both, not told apart"
HEAD = [
    "model", "tokens", "number", "share of the text", "bits/character", f"{BPE} there",
    f"over {BPE}", "of the whole difference",
]  # fmt: skip
LISTED = 12  # phrases at either end
OFTEN = 20  # times, to be listed


class Spent:
    """What a model spends on each token, packed; the tokens are found again by encoding."""

    __name__ = "nats of tokens"

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def __call__(self, model: Any, coder: Coder, device: str) -> Figures:
        nats = np.concatenate(token_nats(model, coder, self._texts, device))
        return {"spent": base64.b64encode(nats.astype("<f2").tobytes()).decode()}


def spent(row: Figures, coded: Sequence[Ids]) -> list[NDArray[np.float64]]:
    """The same, text by text."""
    nats = np.frombuffer(base64.b64decode(row["spent"]), dtype="<f2").astype(np.float64)
    ends = np.cumsum([len(ids) for ids in coded])
    if ends[-1] != len(nats):
        raise ValueError(f"{len(nats)} figures for {ends[-1]} tokens: made with another tokenizer")
    return np.split(nats, ends[:-1])


# --- Two readings of a text side by side


@dataclass(frozen=True)
class Read:
    """A text in one model's tokens: their texts, and what each cost."""

    ids: list[int]
    pieces: list[str]
    nats: NDArray[np.float64]


@dataclass(frozen=True)
class Stretch:
    """What stands between two ends that both readings have."""

    ids: list[int]
    characters: int
    nats: float
    base: float  # nats of the other model


def stretches(ours: Read, base: Read) -> Iterator[Stretch]:
    """The text cut as finely as both readings allow."""
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
    """Of every text; None where a token holds a part of a character, so that pieces are no text."""
    coder, texts = models.coder(one.name, one.size), models.texts.tests[TEST]
    coded = coder.encode_all(texts)
    found: list[Read | None] = []
    for text, ids, nats in zip(texts, coded, spent(row, coded), strict=True):
        pieces = coder.peer.token_strings(text)
        whole = "".join(pieces) == text and len(pieces) == len(ids)
        found.append(Read(ids.tolist(), pieces, nats) if whole else None)
    return found


# --- Kinds of phrases


@dataclass(frozen=True)
class Kinds:
    """What is known of the phrases of a tokenizer from the text that models learn from."""

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

    def __call__(self, id: int) -> list[str]:
        """The kinds a phrase belongs to, one of each question."""
        words = len(self.texts(id).split())
        punctuation = any(not (one.isalnum() or one.isspace()) for one in self.texts(id))
        return [
            f"phrases of {words if words < 4 else '4 or more'} words",
            f"phrases {'with' if punctuation else 'without'} punctuation",
            f"phrases used {_among(self.uses[id], (300, 1_000, 3_000, 10_000))} times",
            f"phrases of a PMI of {_among(self.pmi[id], (0, 2, 4, 6))}",
        ]


def _among(value: float, steps: Sequence[int]) -> str:
    """300 to 1,000; below the first, or above the last of the steps."""
    for low, high in zip([None, *steps], [*steps, None], strict=True):
        if high is not None and value >= high:
            continue
        if low is None:
            return f"less than {high:,}"
        return f"{low:,} or more" if high is None else f"{low:,} to {high:,}"
    raise AssertionError("the last step has no end")


# --- Sums


@dataclass
class Sum:
    """Of the stretches of one kind, document by document."""

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


def sums(ours: Sequence[Read | None], base: Sequence[Read | None], kinds: Kinds) -> dict[str, Sum]:
    """By kind; and under the text of each phrase that one alone."""
    found: dict[str, Sum] = defaultdict(Sum)
    for document, (one, other) in enumerate(zip(ours, base, strict=True)):
        if one is None or other is None:
            continue
        for stretch in stretches(one, other):
            for kind in _kinds_of(stretch, kinds):
                found[kind].add(document, stretch)
    return found


def _kinds_of(stretch: Stretch, kinds: Kinds) -> list[str]:
    phrases = [id for id in stretch.ids if kinds.parts.counts[id] > 1]
    if not phrases:
        return ["all", WORDS]
    if len(stretch.ids) > 1:
        return ["all", MIXED]
    return ["all", "phrases", *kinds(phrases[0]), repr(kinds.texts(phrases[0]))]


def lines(name: str, found: dict[str, Sum]) -> list[list[str]]:
    order = sorted((kind for kind in found if kind[:7] == "phrases"), key=_order)
    whole = found["all"]
    cells = []
    for kind in ("all", WORDS, MIXED, *order):
        one = found[kind]
        if not one.number:
            continue
        documents = sorted(one.base)
        more = difference(
            [one.base[place] for place in documents], [one.nats[place] for place in documents]
        )
        bits = [sum(some.values()) / one.characters / np.log(2) for some in (one.nats, one.base)]
        cells.append([
            name, kind, f"{one.number:,}", f"{one.characters / whole.characters:.1%}",
            f"{bits[0]:.4f}", f"{bits[1]:.4f}", told(more), f"{one.price / whole.price:+.0%}",
        ])  # fmt: skip
    return cells


def _order(kind: str) -> tuple[int, str, float]:
    """All of them, then question by question, each by its number."""
    digits = "".join(one for one in kind.partition(" to ")[0] if one.isdigit())
    question = kind.split()[1] if " " in kind else ""
    return (0 if kind == "phrases" else 1, question, int(digits or -1) - ("less" in kind) / 2)


def ends(found: dict[str, Sum]) -> str:
    """The phrases that pay most and those that cost most, with the bits of each use."""
    known = {text: one for text, one in found.items() if text[0] in "'\"" and one.number >= OFTEN}
    order = sorted(known, key=lambda text: known[text].price)
    said = [
        ", ".join(
            f"{text} ({known[text].price / known[text].number / np.log(2):+.1f})" for text in some
        )
        for some in (order[:LISTED], order[::-1][:LISTED])
    ]  # fmt: skip
    return f"pay most (bits of a use): {said[0]}; cost most: {said[1]}"


# --- All of it


def main(arguments: list[str] | None = None) -> None:
    parser = model_options("Bits phrase by phrase.", "phrases", SIZE, SHAPE, RATE)
    add = parser.add_argument
    add("--only", nargs="+", type=row_name, default=ROWS, metavar="ROW", help="RECIPE [+ HELP]")
    add("--budget", type=int, default=BUDGET, help="tokens")
    args = parser.parse_args(arguments)
    models, seed = Models(args), (args.seeds or [0])[0]
    jobs = {row: job(row, args, args.budget, seed) for row in dict.fromkeys([BPE, *args.only])}
    done = models.rows_of(list(jobs.values()), Spent(models.texts.tests[TEST]))
    cells, told_of = [], []
    base = reads(models, jobs[BPE], done[jobs[BPE]])
    for row, one in jobs.items():
        if row != BPE and one in done:
            kinds = Kinds.of(
                models.coder(one.name, one.size), models.ahead(one.name, one.size).result()
            )
            found = sums(reads(models, one, done[one]), base, kinds)
            cells += lines(row, found)
            told_of.append(f"{row}: {ends(found)}")
    left = sum(read is None for read in base)
    table = Table(
        f"Which phrases pay: {args.size:,} tokens, {args.budget / 1e6:g} M read", claim(__doc__),
        HEAD, cells,
        [*notes(models, list(done.values())), *told_of,
         f"{left} of {len(base)} documents are left out, where {BPE} has tokens of parts of"
         " characters; PMI: of a phrase as it is used, against its words as tokens",
         command("phrases", arguments)],
    )  # fmt: skip
    write_table(args.out, table)


if __name__ == "__main__":
    main()
