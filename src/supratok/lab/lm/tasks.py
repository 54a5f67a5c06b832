"""HellaSwag and MMLU: questions with four endings, one of them right.

    items = hellaswag("hellaswag_val.jsonl.zst")
    scores = endings(model, coder, questions(items), "cuda")
    accuracy(is_right(items, scores, by="characters"))

The texts are those of lm-evaluation-harness, version 0.4. The model's answer is the likeliest
ending: by its whole score (`acc` in the harness), or by its score per character (`acc_norm`), since
a longer text is always less likely. We report HellaSwag by characters and MMLU by the whole.

A model that knows nothing is right once in four times. An accuracy whose interval holds 25% shows
nothing but chance.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
import zstandard
from numpy.typing import NDArray

from ..measure.bootstrap import LEVEL, Interval, interval_of
from .coder import Coder
from .likelihood import Question, Score

LETTERS = "ABCD"
Right = NDArray[np.bool_]  # an item each


@dataclass(frozen=True)
class Item:
    """Endings begin with the space that joins them to the context. `left_out` counts the examples
    before the question that did not fit."""

    context: str
    endings: tuple[str, ...]
    label: int
    left_out: int = 0


def questions(items: Sequence[Item]) -> list[Question]:
    """The input of `likelihood.endings`."""
    return [(item.context, item.endings) for item in items]


# --- HellaSwag


def hellaswag(path: str | os.PathLike[str]) -> list[Item]:
    """From JSON lines with activity_label, ctx, endings and label."""
    return [_hellaswag_item(row) for row in json_lines(path)]


def _hellaswag_item(row: dict[str, Any]) -> Item:
    """As in the harness: the unfinished last sentence, lower case in the data, gets a capital."""
    *before, last = re.split(r"""(?<=[.!?]['")]) |(?<=[.!?]) """, str(row["ctx"]).strip())
    unfinished = not re.search(r"""[.!?]['")]?$""", last)
    context = " ".join([*before, last.capitalize() if unfinished and before else last])
    return Item(
        _without_marks(f"{row['activity_label']}: {context}"),
        tuple(" " + _without_marks(ending) for ending in row["endings"]),
        int(str(row["label"])),
    )


def _without_marks(text: str) -> str:
    """Without WikiHow's marks in square brackets; [title] becomes a full stop."""
    text = re.sub(r"\[.*?\]", "", text.strip().replace(" [title]", ". "))
    return text.replace("  ", " ")


# --- MMLU


class Row(NamedTuple):
    question: str
    choices: tuple[str, ...]
    answer: int


def mmlu(
    path: str | os.PathLike[str],
    coder: Coder,
    room: int,
    shots: int = 5,
    full_text: bool = False,
    split: str = "test",
) -> list[Item]:
    """From the archive of 57 subjects in CSV, with `shots` answered questions of the subject (its
    `dev` rows) before each question. The first of these are left out until an item fits into `room`
    tokens.

    The endings are the letters of the choices. With `full_text` they are the texts of the choices,
    and the question does not list them (`mmlu_continuation` in the harness): small models do not
    know what the letters are for, so only the texts can show a difference."""
    if not 0 <= shots <= 5:
        raise ValueError(f"shots={shots}: each subject has 5 answered questions; ask for 0 to 5")
    tables = read_mmlu(path)
    asked = [(subject, row) for part, subject in sorted(tables) if part == split
             for row in tables[part, subject]]  # fmt: skip
    if not asked:
        raise ValueError(f"split={split!r}: not in {path}; it may be dev, val or test")

    def made(number: int, left_out: int) -> Item:
        subject, row = asked[number]
        examples = tables["dev", subject][left_out:shots]
        return _mmlu_item(subject, row, examples, left_out, full_text)

    items = [made(number, 0) for number in range(len(asked))]
    waiting = list(range(len(asked)))
    for left_out in range(1, shots + 1):
        lengths = _longest([items[number] for number in waiting], coder)
        waiting = [number for number, size in zip(waiting, lengths, strict=True) if size > room]
        for number in waiting:
            items[number] = made(number, left_out)
    return items


def _longest(items: list[Item], coder: Coder) -> list[int]:
    """The number of tokens of each item with its longest ending."""
    texts = (item.context + ending for item in items for ending in item.endings)
    lengths = iter([len(ids) for ids in coder.encode_all(texts)])
    return [max(next(lengths) for _ in item.endings) for item in items]


def _mmlu_item(
    subject: str, row: Row, examples: Sequence[Row], left_out: int, full_text: bool
) -> Item:
    kind = "questions" if full_text else "multiple choice questions"
    about = f"The following are {kind} (with answers) about {subject.replace('_', ' ')}.\n\n"
    solved = [_asking(one, full_text) + _answers(one, full_text)[one.answer] for one in examples]
    context = about + "\n\n".join([*solved, _asking(row, full_text)])
    return Item(context, _answers(row, full_text), row.answer, left_out)


def _asking(row: Row, full_text: bool) -> str:
    if full_text:
        return f"Question: {row.question.strip()}\nAnswer:"
    listed = [f"{letter}. {text}" for letter, text in zip(LETTERS, row.choices, strict=True)]
    return "\n".join([row.question.strip(), *listed, "Answer:"])


def _answers(row: Row, full_text: bool) -> tuple[str, ...]:
    return tuple(f" {text}" for text in (row.choices if full_text else LETTERS))


def read_mmlu(path: str | os.PathLike[str]) -> dict[tuple[str, str], list[Row]]:
    """The rows of each split and subject, from files such as `dev/anatomy_dev.csv`."""
    found: dict[tuple[str, str], list[Row]] = {}
    with tarfile.open(fileobj=io.BytesIO(_content(Path(path)))) as archive:
        for member in archive:
            name = re.search(r"(\w+)/(\w+)_\1\.csv$", member.name)
            file = archive.extractfile(member) if name else None
            if name and file:
                found[name[1], name[2]] = list(_rows(file.read().decode()))
    if not found:
        raise ValueError(f"{path}: no files such as dev/anatomy_dev.csv in it; fetch it again")
    return found


def _rows(text: str) -> Iterator[Row]:
    for question, *choices, letter in csv.reader(io.StringIO(text, newline="")):
        yield Row(question, tuple(choices), LETTERS.index(letter))


# --- Files


def json_lines(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines, also packed (.zst)."""
    lines = _content(Path(path)).decode().split("\n")
    return [json.loads(line) for line in lines if line.strip()]


def _content(path: Path) -> bytes:
    if path.suffix != ".zst":
        return path.read_bytes()
    with path.open("rb") as file:
        unpacker = zstandard.ZstdDecompressor()
        return unpacker.stream_reader(file, read_across_frames=True).read()


# --- Accuracy

By = Literal["whole", "characters", "bytes"]


def chosen(scores: Sequence[Score], by: By = "whole") -> int:
    """The likeliest ending; of equal ones the first."""
    sizes = [1 if by == "whole" else max(1, getattr(score, by)) for score in scores]
    values = [score.nats / size for score, size in zip(scores, sizes, strict=True)]
    return values.index(max(values))


def is_right(items: Sequence[Item], scores: Sequence[Sequence[Score]], by: By = "whole") -> Right:
    """For each item: whether the model chose the right ending."""
    pairs = zip(items, scores, strict=True)
    return np.array([chosen(found, by) == item.label for item, found in pairs], dtype=np.bool_)


@dataclass(frozen=True)
class Accuracy:
    right: int
    items: int
    interval: Interval  # 95%, by Wilson's rule
    chance: float

    @property
    def share(self) -> float:
        return self.right / self.items

    @property
    def at_chance(self) -> bool:
        """Whether a model that knows nothing might do as well."""
        return self.interval.low <= self.chance <= self.interval.high


def accuracy(right: Right, chance: float = 0.25) -> Accuracy:
    if not len(right):
        raise ValueError("no items: an accuracy needs at least 1")
    count, items = int(right.sum()), len(right)
    return Accuracy(count, items, _wilson(count, items), chance)


def _wilson(right: int, items: int) -> Interval:
    """The true shares that are compatible with the found one, between 0 and 1."""
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    share, scale = right / items, 1 + z * z / items
    middle = (share + z * z / (2 * items)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / items + (z / (2 * items)) ** 2)
    return Interval(max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)))


@dataclass(frozen=True)
class Compared:
    """Two models on the same items."""

    difference: float  # share of the first less share of the second
    interval: Interval  # bootstrap over items, the same resamples for both
    first_only: int  # items that only the first has right
    second_only: int
    p: float  # McNemar's exact test: how often a fair coin divides these as unevenly


def compared(first: Right, second: Right) -> Compared:
    """McNemar's test uses only the items that one model has right and the other wrong."""
    if len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} items: pass those of the same task")
    columns = np.stack([first, second, np.ones(len(first))], axis=1).astype(np.float64)
    found = interval_of(columns, lambda sums: (sums[:, 0] - sums[:, 1]) / sums[:, 2])
    one, two = int((first & ~second).sum()), int((second & ~first).sum())
    return Compared((one - two) / len(first), found, one, two, _coin(one, two))


def _coin(one: int, two: int) -> float:
    tosses = one + two
    tail = sum(math.comb(tosses, heads) for heads in range(min(one, two) + 1))
    return float(min(1.0, 2 * tail / 2**tosses))
