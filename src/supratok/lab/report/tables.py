"""A table of a run: its claim, its figures, and how they were made.

    table = Table("Sweep", "fewer tokens at every size", ["size", "ours"], [["50,000", "5.350"]])
    table.write(Path("build/runs/sweep"))    # table.json, table.md, table.csv
    read(Path("build/runs/sweep")) == table

Cells are plain text, formatted for the reader. `table.json` is for programs (`supratok report`
makes a page of it), `table.md` for people, `table.csv` for spreadsheets. Pictures are in the same
folder. A person may add a `comment.md` about the figures; no run overwrites it.
"""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from ...common.files import whole_file
from ...common.text import visible

NAME = "table.json"
FILES = (NAME, "table.md", "table.csv")
NOTHING = "-"  # a cell without a figure


@dataclass(frozen=True)
class Table:
    """One table. Columns and lines are numbered from 0."""

    title: str
    claim: str  # one sentence: what the figures are to show
    head: list[str]
    lines: list[list[str]]
    notes: list[str] = field(default_factory=list)  # corpus, machine, date, command
    comment: str = ""  # which figures agree with the claim, which do not, and why
    pictures: list[str] = field(default_factory=list)  # SVG files in the same folder
    paper: list[int] = field(default_factory=list)  # columns of the paper's figures
    higher: list[int] = field(default_factory=list)  # columns where more is better
    lower: list[int] = field(default_factory=list)  # columns where less is better
    grouped: bool = False  # lines with the same first cell belong together, and compete there
    aside: list[int] = field(default_factory=list)  # lines that do not compete, such as lossy ones

    def __post_init__(self) -> None:
        for number, line in enumerate(self.lines):
            if len(line) != len(self.head):
                raise ValueError(
                    f"{self.title}: line {number} has {len(line)} cells and the head"
                    f" {len(self.head)}; give each column one, {NOTHING!r} if it is empty"
                )
        for name, end in (("paper", self.head), ("higher", self.head), ("lower", self.head),
                          ("aside", self.lines)):  # fmt: skip
            for place in getattr(self, name):
                if not 0 <= place < len(end):
                    raise ValueError(f"{self.title}: no place {place} for `{name}`; count from 0")
        for picture in self.pictures:
            if Path(picture).name != picture or Path(picture).suffix != ".svg":
                raise ValueError(
                    f"{self.title}: {picture!r} is no picture; name an .svg file in the same folder"
                )

    def write(self, folder: Path) -> None:
        """Write table.json, table.md and table.csv."""
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(asdict(self), indent=1) + "\n"
        rows = io.StringIO(newline="")
        csv.writer(rows).writerows([self.head, *self.lines])
        for name, content in zip(FILES, (text, self.markdown(), rows.getvalue()), strict=True):
            with whole_file(folder / name) as file:
                file.write(content.encode(errors="replace"))

    def markdown(self) -> str:
        """Title, claim, comment, figures, pictures and notes."""
        rows = [self.head, ["---"] * len(self.head), *self.lines]
        parts = [f"## {_plain(self.title)}", _plain(one_line(self.claim)), self.comment]
        parts += ["\n".join(f"| {' | '.join(map(_plain, row))} |" for row in rows)]
        parts += [f"![{_plain(name.removesuffix('.svg'))}]({name})" for name in self.pictures]
        parts += ["\n".join(f"- {one_line(note)}" for note in self.notes)]
        return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def read(folder: Path) -> Table:
    """The table of a run folder, with the `comment.md` there if the table has no comment."""
    path = folder / NAME
    try:
        table = _table(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ValueError(f"{path}: {error}; run what wrote it again") from error
    beside = folder / "comment.md"
    if not table.comment and beside.exists():
        return replace(table, comment=beside.read_text(encoding="utf-8").strip())
    return table


def _table(found: Any) -> Table:
    if not isinstance(found, dict):
        raise ValueError("not a table: it must be a JSON object")
    known = {item.name for item in fields(Table)}
    if missing := {"title", "claim", "head", "lines"} - found.keys():
        raise ValueError(f"{', '.join(sorted(missing))} missing")
    if unknown := found.keys() - known:
        raise ValueError(f"{', '.join(sorted(unknown))} unknown to this version")
    for name, value in found.items():
        if not _fits(name, value):
            raise ValueError(f"wrong type of {name!r}: {json.dumps(value)[:60]}")
    return Table(**found)


def _fits(name: str, value: Any) -> bool:
    """Whether a field of table.json has the right type."""
    if name == "grouped":
        return isinstance(value, bool)
    if name in ("title", "claim", "comment"):
        return isinstance(value, str)
    if name == "lines":
        return isinstance(value, list) and all(_fits("head", line) for line in value)
    kind = str if name in ("head", "notes", "pictures") else int
    return isinstance(value, list) and all(type(item) is kind for item in value)


def figure(cell: str) -> float | None:
    """The number at the start of a cell: 5.57 for "5.57 (+8.6%)"; None if there is none."""
    match = re.match(r"\(?([-+]?\d[\d,]*(?:\.\d+)?)", cell.strip())
    return float(match[1].replace(",", "")) if match else None


def best(table: Table) -> set[tuple[int, int]]:
    """The cells, as (line, column), that are the best of their column and group; none if all are
    equal."""
    groups: dict[str, list[int]] = {}
    for place, line in enumerate(table.lines):
        if place not in table.aside:
            groups.setdefault(line[0] if table.grouped else "", []).append(place)
    found = set()
    for column in {*table.higher, *table.lower}:
        choose = max if column in table.higher else min
        for places in groups.values():
            figures = {place: figure(table.lines[place][column]) for place in places}
            values = {value for value in figures.values() if value is not None}
            if len(values) > 1:
                found |= {(p, column) for p, value in figures.items() if value == choose(values)}
    return found


# --- Text ------------------------------------------------------------------------------------


def one_line(text: str) -> str:
    """A sentence in one line, with its line breaks as spaces."""
    return visible(re.sub(r"\s*\n\s*", " ", text.strip()))


def _plain(text: str) -> str:
    """Text as Markdown that shows just this text."""
    escaped = re.sub(r"([\\`*|\[\]]|<(?=[\w/!?])|~(?=~)|&(?=[#\w]))", r"\\\1", visible(text))
    return re.sub(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", r"\\_", escaped)
