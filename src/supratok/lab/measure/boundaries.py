"""How often a prompt ends inside a token, and what it takes to be exact there.

    cuts = choose(texts)
    for row in measure([Subject(open_any("my.json"), tokenizer)], texts, cuts):
        print(row.name, row.at["word ends"].inside)

A cut divides a text into a prompt and what follows. The cut lies inside a token if the encoding of
the whole text has a token that begins before it and ends after it:

    text      in New York|.        the encoding of the whole text
    prompt    in New               the cut lies inside " New York"

A model that learnt from such encodings never saw the ids of this prompt before " York".
"""

from __future__ import annotations

import bisect
import random
import re
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...formats.peer import Locating
from ...tokenizer import Tokenizer
from .composition import SENTENCE_END

CUTS = 2000  # of each kind
LONGEST = 10_000  # characters; a longer text counts as several, as long prompts are rare

_RUN = re.compile(r"\S+")
_LINE_END = re.compile(r"(?<=[^\r\n])(?=[\r\n])")


# --- Where texts are cut


def word_ends(text: str) -> Sequence[int]:
    """Behind the last letter or digit between two spaces, also if punctuation follows it.

    >>> [text[:place] for text in ["It's 3.5 m."] for place in word_ends(text)]
    ["It's", "It's 3.5", "It's 3.5 m"]

    Scripts without spaces have few of them: only a dictionary could tell where words end."""
    found = []
    for run in _RUN.finditer(text):
        start, end = run.span()
        # Marks, as in Thai, belong to the letter before them.
        while end > start and unicodedata.category(text[end - 1])[0] not in "LMN":
            end -= 1
        if end > start and end < len(text):
            found.append(end)
    return found


def sentence_ends(text: str) -> Sequence[int]:
    """Behind full stops, question and exclamation marks with their closing quotes; see
    `composition`."""
    ends = (found.end() for found in SENTENCE_END.finditer(text))
    return [end for end in ends if end < len(text)]


def line_ends(text: str) -> Sequence[int]:
    """Before the break behind a line that is not empty."""
    return [found.end() for found in _LINE_END.finditer(text)]


def characters(text: str) -> Sequence[int]:
    """Between any two characters."""
    return range(1, len(text))


KINDS: Mapping[str, Callable[[str], Sequence[int]]] = {
    "word ends": word_ends,
    "sentence ends": sentence_ends,
    "line ends": line_ends,
    "any character": characters,
}


@dataclass(frozen=True)
class Cuts:
    """Some of the cuts of texts."""

    documents: int
    all: dict[str, int]  # by kind, how many the texts have
    chosen: dict[int, list[tuple[str, int]]]  # by the number of a text: kind, and which of its cuts


def choose(texts: Iterable[str], most: int = CUTS, seed: int = 0) -> Cuts:
    """At most so many cuts of each kind, each as likely as any other. The same texts and seed give
    the same cuts."""
    if most < 1:
        raise ValueError(f"cuts={most}: must be at least 1")
    sums = {kind: array("q", [0]) for kind in KINDS}  # of the cuts before each text
    documents = 0
    for whole in texts:
        documents += 1
        for text in _pieces(whole):
            for kind, find in KINDS.items():
                sums[kind].append(sums[kind][-1] + len(find(text)))
    chosen: dict[int, list[tuple[str, int]]] = {}
    for kind, before in sums.items():
        total = before[-1]
        chance = random.Random(f"{seed} {kind}")
        for number in sorted(chance.sample(range(total), min(most, total))):
            owner = bisect.bisect_right(before, number) - 1  # the text with this cut
            chosen.setdefault(owner, []).append((kind, number - before[owner]))
    return Cuts(documents, {kind: before[-1] for kind, before in sums.items()}, chosen)


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), LONGEST):
        yield text[start : start + LONGEST]


# --- What a tokenizer does there


class Subject(NamedTuple):
    """A tokenizer to measure and, if supratok can run it, the same one as `Tokenizer`."""

    peer: Locating
    exact: Tokenizer | None


class Cut(NamedTuple):
    """One tokenizer at one cut; None: not known."""

    inside: bool  # a token
    missed: bool  # by one-token healing
    covers: int | None  # of the prompt
    back: int | None  # bytes of the prompt behind its stable ids


class Spread(NamedTuple):
    mean: float
    p95: int  # 95% of the values are not above it
    max: int


@dataclass(frozen=True)
class AtCuts:
    """One tokenizer at the cuts of one kind; None: not known."""

    cuts: int
    inside: float | None  # shares of the cuts
    missed: float | None
    covers: Spread | None
    bytes_back: Spread | None


@dataclass(frozen=True)
class Row:
    name: str
    at: dict[str, AtCuts]  # by kind


def measure(subjects: Sequence[Subject], texts: Iterable[str], cuts: Cuts) -> list[Row]:
    """Every tokenizer at the same cuts. `texts`: those that the cuts were chosen from."""
    found: list[dict[str, list[Cut]]] = [{kind: [] for kind in KINDS} for _ in subjects]
    pieces = (piece for text in texts for piece in _pieces(text))
    for number, text in enumerate(pieces):
        some = cuts.chosen.get(number, [])
        places = {kind: KINDS[kind](text) for kind in dict.fromkeys(kind for kind, _ in some)}
        if not places:
            continue
        for subject, at in zip(subjects, found, strict=True):
            encoded = subject.peer.encode_with_offsets(text)
            for kind, which in some:
                at[kind].append(at_cut(subject, text, places[kind][which], *encoded))
    return [
        Row(subject.peer.name, {kind: _summary(some) for kind, some in at.items()})
        for subject, at in zip(subjects, found, strict=True)
    ]


def at_cut(
    subject: Subject, text: str, place: int, ids: list[int], offsets: list[tuple[int, int]]
) -> Cut:
    """A cut of a text with these ids.

    One-token healing drops the last id of the prompt and has the model choose among the tokens that
    begin with the dropped text. This finds the ids of the whole text if they begin with those of
    the prompt, or the token that crosses the cut comes right behind all ids of the prompt but its
    last."""
    before = bisect.bisect_right(offsets, place, key=lambda span: span[1])
    inside = before < len(ids) and offsets[before][0] < place
    prompt = text[:place]
    kept = subject.peer.encode(prompt)
    if inside:
        kept = kept[:-1]
    covers = back = None
    if subject.exact:
        covers = len(subject.exact.covers(prompt))
        back = len(subject.exact.stable(prompt).rest.encode())
    return Cut(inside, kept != ids[:before], covers, back)


def _summary(cuts: list[Cut]) -> AtCuts:
    size = len(cuts)
    return AtCuts(
        size,
        sum(cut.inside for cut in cuts) / size if size else None,
        sum(cut.missed for cut in cuts) / size if size else None,
        spread([cut.covers for cut in cuts if cut.covers is not None]),
        spread([cut.back for cut in cuts if cut.back is not None]),
    )


def spread(values: Iterable[int]) -> Spread | None:
    """
    >>> spread(range(1, 101))
    Spread(mean=50.5, p95=95, max=100)
    """
    ordered = sorted(values)
    if not ordered:
        return None
    size = len(ordered)
    return Spread(sum(ordered) / size, ordered[(95 * size + 99) // 100 - 1], ordered[-1])
