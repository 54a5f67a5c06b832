"""The file `supratok.json`: one JSON document with a checksum, a line for each token.

{"format": "supratok", "version": 1, "sha256": ..., "recipe": ..., "report": ..., "tokens": [...]}
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from ..common.files import write_whole
from ..recipe import Recipe
from .ids import Layout
from .token import Birth

FORMAT = "supratok"
FILE = "supratok.json"  # its name in a folder
VERSION = 2  # of files with a layout; files without one keep version 1

Row = tuple[str, int, Birth]  # a token: its text, its count, the pass that made it


def write_document(
    path: Path, rows: list[Row], recipe: Recipe, report: dict[str, Any], layout: Layout | None
) -> None:
    tokens = [list(row) for row in rows]
    extra = {"layout": layout.to_dict()} if layout else {}
    body = {"recipe": recipe.to_dict(), "report": report}
    checksum = _checksum(body | {"tokens": tokens} | extra)
    version = VERSION if layout else 1
    document = {"format": FORMAT, "version": version, "sha256": checksum, **body}
    head = json.dumps(document, ensure_ascii=False, indent=1)[:-2]
    for name, values in extra.items():
        parts = (f'  "{k}": {json.dumps(v, ensure_ascii=False)}' for k, v in values.items())
        head += f',\n "{name}": {{\n' + ",\n".join(parts) + "\n }"
    lines = ",\n".join(json.dumps(token, ensure_ascii=False) for token in tokens)
    write_whole(path, f'{head},\n "tokens": [\n{lines}\n]}}\n')


def read_document(path: Path) -> tuple[list[Row], Recipe, dict[str, Any], Layout | None]:
    """Read this file, or the one in this exported folder. Refuses a damaged file and one of a later
    version."""
    if path.is_dir():
        path = path / FILE
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a supratok tokenizer ({error})") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"{path}: not a supratok tokenizer; train one with `supratok train`")
    version = document.get("version")
    if version not in (1, VERSION):
        raise ValueError(
            f"{path}: format version {version}, this supratok reads 1 and {VERSION};"
            " install the supratok that wrote it, or a later one"
        )
    names = ("recipe", "report", "tokens") + (("layout",) if version == VERSION else ())
    body: dict[str, Any] = {name: document.get(name) for name in names}
    if document.get("sha256") != _checksum(body):
        raise ValueError(f"{path}: the checksum does not match, the file was changed or damaged")
    layout = Layout.from_dict(body["layout"]) if "layout" in body else None
    return body["tokens"], Recipe.from_dict(body["recipe"]), body["report"], layout


def _checksum(body: dict[str, Any]) -> str:
    canonical = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
