"""One page of the tables and pictures of runs, to be sent to a colleague.

    page(find([Path("build/runs")]), "Results")

The page is one file: no network, no script, fonts of the reader's own system, light or dark as
they have it, from a telephone to a wall and on paper. The same folders give the same bytes.
Everything that comes from a table is text in it, whatever it looks like: a token may hold markup,
or letters that run from right to left.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import groupby
from pathlib import Path

from .svg import STYLE, inline, title_of
from .tables import (
    NAME,
    NOTHING,
    Table,
    best,
    figure,
    read,
    visible,
)


@dataclass(frozen=True)
class Section:
    """A table with the pictures that it names, as SVG."""

    table: Table
    pictures: list[str]


def find(folders: Iterable[Path]) -> list[Section]:
    """The tables of run folders and of all folders in them, each once and in the order given."""
    found: dict[Path, None] = {}
    for folder in folders:
        within = sorted(path.parent for path in folder.rglob(NAME))
        if not within:
            raise ValueError(
                f"{folder}: no {NAME} there, nor in the folders in it; give a folder that a run has"
                " finished in, such as build/runs/sweep, or the one above it"
            )
        found |= dict.fromkeys(path.resolve() for path in within)
    return [_section(folder) for folder in found]


def _section(folder: Path) -> Section:
    table = read(folder)
    return Section(table, [_picture(folder / name) for name in table.pictures])


def _picture(path: Path) -> str:
    if not path.is_file():
        raise ValueError(f"{path}: the table names this picture; run what wrote the table again")
    picture = path.read_text(encoding="utf-8")
    try:
        title_of(picture)
    except ValueError as error:
        raise ValueError(f"{path}: {error}; run what wrote it again") from error
    return picture


def page(sections: Sequence[Section], title: str | None = None) -> str:
    """The page, as HTML."""
    title = title or (sections[0].table.title if len(sections) == 1 else "Tables and pictures")
    names = _anchors([section.table.title for section in sections])
    parts = [_show(section, name) for section, name in zip(sections, names, strict=True)]
    contents = _contents(sections, names) if len(sections) > 1 else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{_text(title)}</title>\n<style>\n{_style()}\n{STYLE}\n</style>\n</head>\n<body>\n"
        f"<header>\n<h1>{_isolated(title)}</h1>\n</header>\n{contents}"
        f"<main>\n{''.join(parts)}</main>\n</body>\n</html>\n"
    )


@cache
def _style() -> str:
    return resources.files(__package__).joinpath("report.css").read_text(encoding="utf-8").strip()


def _contents(sections: Sequence[Section], names: Sequence[str]) -> str:
    entries = (
        f'<li><a href="#{name}">{_isolated(section.table.title)}</a></li>\n'
        for section, name in zip(sections, names, strict=True)
    )
    return f'<nav aria-label="Contents">\n<ol>\n{"".join(entries)}</ol>\n</nav>\n'


def _anchors(titles: Sequence[str]) -> list[str]:
    """A name for each section, made of its title; no two alike."""
    names: list[str] = []
    for title in titles:
        name = wanted = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "table"
        number = 2
        while name in names:
            name, number = f"{wanted}-{number}", number + 1
        names.append(name)
    return names


def _show(section: Section, name: str) -> str:
    table = section.table
    pictures = (
        _figure(picture, f"{name}.{number}.") for number, picture in enumerate(section.pictures, 1)
    )
    return (
        f'<section id="{name}">\n'
        f'<h2>{_isolated(table.title)} <a class="anchor" href="#{name}"'
        f' aria-label="Link to this section">#</a></h2>\n'
        f'<p class="claim">{_marked(table.claim)}</p>\n{_paragraphs(table.comment)}'
        f"{_pictures(pictures)}{_box(table)}{_notes(table)}</section>\n"
    )


def _pictures(figures: Iterable[str]) -> str:
    shown = "".join(figures)
    return f'<div class="pictures">\n{shown}</div>\n' if shown else ""


def _figure(picture: str, prefix: str) -> str:
    title = title_of(picture)
    caption = f"<figcaption>{_isolated(title)}</figcaption>\n" if title else ""
    return f"<figure>\n{caption}{inline(picture, prefix)}\n</figure>\n"


def _notes(table: Table) -> str:
    legend = [f"Bold: the best of its {_rivals(table)}."] if best(table) else []
    notes = [_marked(note) for note in table.notes] + legend
    return f'<ul class="notes">\n{_each("li", notes)}</ul>\n' if notes else ""


def _rivals(table: Table) -> str:
    aside = ", lines in grey apart" if table.aside else ""
    return f"column in its group{aside}" if table.grouped else f"column{aside}"


# --- The table -------------------------------------------------------------------------------


def _box(table: Table) -> str:
    """The table in a box that scrolls by itself where it is too wide, also by the keyboard."""
    return (
        f'<div class="box" role="region" tabindex="0" aria-label="{_text(table.title)}">\n<table>\n'
        f"<thead>\n<tr>{''.join(_heads(table))}</tr>\n</thead>\n{''.join(_bodies(table))}"
        "</table>\n</div>\n"
    )


def _columns(table: Table) -> list[int]:
    """Those that are shown as such: the one that groups is not."""
    return list(range(int(table.grouped and len(table.head) > 1), len(table.head)))


def _heads(table: Table) -> Iterable[str]:
    for place, column in enumerate(_columns(table)):
        arrow = _arrow(column in table.higher, column in table.lower)
        label = _isolated(table.head[column]) + arrow
        width = "" if place else _room(table, column)
        yield f'<th scope="col"{_classes(table, column)}{width}>{label}</th>'


def _room(table: Table, column: int) -> str:
    """For the names of lines, which are not broken where there is room for them."""
    longest = max((len(line[column]) for line in table.lines), default=0)
    return f' style="min-width:min({min(longest * 0.85 + 2, 24):.0f}ch,38vw)"'


def _arrow(higher: bool, lower: bool) -> str:
    if not higher and not lower:
        return ""
    sign, word = ("↑", "higher") if higher else ("↓", "lower")
    return f'\u00a0<span class="better" role="img" aria-label="{word} is better">{sign}</span>'


def _bodies(table: Table) -> Iterable[str]:
    """A body for each group, or one for all."""
    marked, columns = best(table), _columns(table)
    places = range(len(table.lines))
    groups = groupby(places, lambda place: table.lines[place][0] if columns[:1] == [1] else "")
    for value, members in groups:
        title = ""
        if columns[:1] == [1]:
            label = f"{_isolated(table.head[0])} <b>{_isolated(value)}</b>"
            title = (
                f'<tr class="group"><th scope="rowgroup" colspan="{len(columns)}">'
                f"<span>{label}</span></th></tr>\n"
            )
        lines = (_line(table, place, columns, marked) for place in members)
        yield f"<tbody>\n{title}{''.join(lines)}</tbody>\n"


def _line(table: Table, place: int, columns: list[int], marked: set[tuple[int, int]]) -> str:
    cells = []
    for column in columns:
        tag, scope = ("th", ' scope="row"') if column == columns[0] else ("td", "")
        value = table.lines[place][column]
        shown = '<span class="none">-</span>' if value == NOTHING else _isolated(value)
        shown = f"<strong>{shown}</strong>" if (place, column) in marked else shown
        cells.append(f"<{tag}{scope}{_classes(table, column)}>{shown}</{tag}>")
    aside = ' class="aside"' if place in table.aside else ""
    return f"<tr{aside}>{''.join(cells)}</tr>\n"


def _classes(table: Table, column: int) -> str:
    classes = []
    if _is_number(table, column):
        classes.append("number")
    if column in table.paper:
        classes.append("paper")
    return f' class="{" ".join(classes)}"' if classes else ""


def _is_number(table: Table, column: int) -> bool:
    cells = [line[column] for line in table.lines if line[column] not in (NOTHING, "")]
    return all(figure(cell) is not None for cell in cells)


# --- Text ------------------------------------------------------------------------------------


def _text(text: str) -> str:
    return html.escape(visible(text))


def _isolated(text: str) -> str:
    """Text that does not change the direction of what stands beside it."""
    return f"<bdi>{_text(text)}</bdi>"


_MARKUP = re.compile(r"`([^`]+)`|\*\*(\S(?:[^*]*\S)?)\*\*|\*(\S(?:[^*]*\S)?)\*")


def _marked(text: str) -> str:
    """A sentence, in which `code`, *stress* and **more of it** are shown as such."""

    def show(match: re.Match[str]) -> str:
        tag = ("code", "strong", "em")[(match.lastindex or 1) - 1]
        return f"<{tag}>{match[match.lastindex or 1]}</{tag}>"

    return f"<bdi>{_MARKUP.sub(show, _text(text))}</bdi>"


def _paragraphs(text: str) -> str:
    parts = [part for part in re.split(r"\n\s*\n", text.replace("\r\n", "\n")) if part.strip()]
    return _each("p", map(_marked, parts))


def _each(tag: str, parts: Iterable[str]) -> str:
    return "".join(f"<{tag}>{part}</{tag}>\n" for part in parts)
