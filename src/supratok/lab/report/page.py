"""One page of the tables and pictures of runs, to send to a colleague.

    page(find([Path("build/runs")]), "Results")

The page is one file without network and script. It follows the reader's choice of light or dark,
fits a telephone, a wide screen and paper, and the same folders give the same bytes. Figures come
first: the best of each table, then bars and pictures, then the table. `page.html` is its template.
"""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as Tree
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any

from ...common.packages import package
from ...pages.recipes import nearest
from ...pages.template import template
from ...recipe import Recipe
from .lead import Letters, charts, letters, marked_cells, naming_column, tiles, unit
from .tables import NAME, NOTHING, Table, best, figure, one_line, read

RECIPE = "recipe.toml"  # beside a table: the recipe that the run found


@dataclass(frozen=True)
class Section:
    """A table with its pictures, as SVG, and the recipe that its run found, if it did."""

    table: Table
    pictures: list[str]
    recipe: Recipe | None = None


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
    return [section(folder) for folder in found]


def section(folder: Path) -> Section:
    """What a run has left in its folder."""
    table = read(folder)
    recipe = Recipe.from_toml(folder / RECIPE) if (folder / RECIPE).is_file() else None
    return Section(table, [_read_picture(folder / name) for name in table.pictures], recipe)


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
    known = letters(section.table for section in sections)
    text = resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    return str(
        template(text, "lab").render(
            title=title,
            sections=[_shown(*numbered, known) for numbered in enumerate(sections, 1)],
            nothing=NOTHING,
            marked=_marked,
            paragraphs=_paragraphs,
        )
    )


# --- A section, as the template needs it -----------------------------------------------------


def _shown(number: int, section: Section, known: Letters) -> dict[str, Any]:
    table, first = section.table, naming_column(section.table)
    groups = groupby(enumerate(table.lines), lambda line: line[1][0] if first else "")
    return {
        "number": number,
        "table": table,
        "unit": unit(table),
        "tiles": tiles(table, known),
        "charts": charts(table, known),
        "marks": marked_cells(table, known),
        "recipe": section.recipe and _shown_recipe(section.recipe),
        "best": best(table),
        "pictures": [_embedded(picture) for picture in section.pictures],
        "columns": range(first, len(table.head)),
        "numbers": [place for place in range(len(table.head)) if _is_number(table, place)],
        "groups": [(name, list(lines)) for name, lines in groups],
    }


def _shown_recipe(recipe: Recipe) -> dict[str, Any]:
    preset, changes = nearest(recipe)
    size = f"{recipe.vocab_size:,}"
    return {
        "preset": preset,
        "changes": changes,
        "size": size,
        "lines": recipe.to_toml().splitlines(),
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
