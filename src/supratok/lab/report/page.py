"""One page of the tables and pictures of runs, to send to a colleague.

    page(find([Path("build/runs")]), "Results")

The page is one file without network and script. It follows the reader's choice of light or dark,
fits a telephone, a wide screen and paper, and the same folders give the same bytes. `page.html` is
its template. Jinja2 escapes everything that comes from a table: a token may hold markup.
"""

from __future__ import annotations

import base64
import functools
import re
import xml.etree.ElementTree as Tree
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any

from ...common.packages import package
from ...common.text import visible
from .tables import NAME, NOTHING, Table, best, figure, one_line, read


@dataclass(frozen=True)
class Section:
    """A table with its pictures, as SVG."""

    table: Table
    pictures: list[str]


def find(folders: Iterable[Path]) -> list[Section]:
    """The tables in these folders and below them, each once and in the order given."""
    found: dict[Path, None] = {}
    for folder in folders:
        within = sorted(path.parent for path in folder.rglob(NAME))
        if not within:
            raise ValueError(
                f"{folder}: no {NAME} there or below; give the folder of a finished run, such as"
                " build/runs/sweep, or the one above it"
            )
        found |= dict.fromkeys(path.resolve() for path in within)
    return [_section(folder) for folder in found]


def _section(folder: Path) -> Section:
    table = read(folder)
    return Section(table, [_read_picture(folder / name) for name in table.pictures])


def _read_picture(path: Path) -> str:
    if not path.is_file():
        raise ValueError(f"{path}: the table names this picture; run what wrote the table again")
    picture = path.read_text(encoding="utf-8")
    try:
        _embedded(picture)
    except ValueError as error:
        raise ValueError(f"{path}: {error}; run what wrote it again") from error
    return picture


def page(sections: Sequence[Section], title: str | None = None) -> str:
    """The page, as HTML."""
    title = title or (sections[0].table.title if len(sections) == 1 else "Tables and pictures")
    shown = list(map(_shown, sections))
    return str(_template().render(title=title, sections=shown, nothing=NOTHING))


@functools.cache
def _template() -> Any:
    environment = package("jinja2", "lab").Environment(
        autoescape=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"marked": _marked, "paragraphs": _paragraphs}
    return environment.from_string(
        resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    )


# --- A section, as the template needs it -----------------------------------------------------


def _shown(section: Section) -> dict[str, Any]:
    table = section.table
    grouped = table.grouped and len(table.head) > 1  # the first column becomes headings
    groups = groupby(enumerate(table.lines), lambda line: line[1][0] if grouped else "")
    return {
        "table": table,
        "best": best(table),
        "pictures": [_embedded(picture) for picture in section.pictures],
        "columns": range(int(grouped), len(table.head)),
        "numbers": [place for place in range(len(table.head)) if _is_number(table, place)],
        "groups": [(name, list(lines)) for name, lines in groups],
    }


def _is_number(table: Table, column: int) -> bool:
    cells = [line[column] for line in table.lines if line[column] not in (NOTHING, "")]
    return all(figure(cell) is not None for cell in cells)


def _embedded(picture: str) -> dict[str, str]:
    """An SVG as the `data:` address of an <img>, where browsers run none of its scripts and load
    nothing for it: so it needs no cleaning, whoever wrote it."""
    try:
        root = Tree.fromstring(picture)
    except Tree.ParseError as error:
        raise ValueError(f"not an SVG picture ({error})") from error
    if root.tag.rpartition("}")[2] != "svg":
        raise ValueError(f"not an SVG picture (it begins with {root.tag!r})")
    address = "data:image/svg+xml;base64," + base64.b64encode(picture.encode()).decode()
    texts = {name: root.findtext(f".//{{*}}{name}", "") for name in ("title", "description")}
    return {"address": address, **texts}


# --- Text ------------------------------------------------------------------------------------

_MARKUP = re.compile(r"`([^`]+)`|\*\*(\S(?:[^*]*\S)?)\*\*|\*(\S(?:[^*]*\S)?)\*")


def _marked(text: str) -> Any:
    """A sentence as HTML, with its `code`, *emphasis* and **strong emphasis**."""

    def tagged(match: re.Match[str]) -> str:
        tag = ("code", "strong", "em")[(match.lastindex or 1) - 1]
        return f"<{tag}>{match[match.lastindex or 1]}</{tag}>"

    markup = package("markupsafe", "lab")
    return markup.Markup(_MARKUP.sub(tagged, str(markup.escape(one_line(text)))))


def _paragraphs(text: str) -> list[str]:
    return [part for part in re.split(r"\n\s*\n", text.replace("\r\n", "\n")) if part.strip()]
