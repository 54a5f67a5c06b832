"""The file `supratok.json`: one JSON document with a checksum, a line for each token.

{"format": "supratok", "version": 1, "sha256": ..., "recipe": ..., "report": ..., "tokens": [...]}
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, get_args

from ..common.files import write_whole
from ..common.shapes import check_shape
from ..recipe import Recipe
from .ids import LAYOUT, Layout
from .inputs import LONGEST_TOKEN, find_file, parse_object, read_file
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
    version. Whoever calls it says `naming(path)`."""
    data = read_file(find_file(path, FILE))
    if not data.lstrip().startswith(b"{"):
        raise ValueError(_no_tokenizer(data))
    try:
        document = parse_object(data)
    except ValueError as error:
        raise ValueError(f"not a supratok tokenizer ({error})") from error
    if document.get("format") != FORMAT:
        raise ValueError(_no_tokenizer(document))
    version = document.get("version")
    if version not in (1, VERSION):
        raise ValueError(
            f"format version {version!r:.20}, this supratok reads 1 and {VERSION};"
            " install the supratok that wrote it, or a later one"
        )
    shape = _SHAPE | ({"layout": LAYOUT} if version == VERSION else {})
    body: dict[str, Any] = {name: document.get(name) for name in shape}
    if document.get("sha256") != _checksum(body):
        raise ValueError("the checksum does not match, the file was changed or damaged")
    check_shape(document, shape)
    _check_tokens(body["tokens"])
    layout = Layout.from_dict(body["layout"]) if version == VERSION else None
    return body["tokens"], Recipe.from_dict(body["recipe"]), body["report"], layout


_SHAPE = {"recipe": {str: Any}, "report": {str: Any}, "tokens": [(str, range(1 << 53), str)]}


def _check_tokens(rows: list[Row]) -> None:
    known = set(get_args(Birth))
    seen = set[str]()
    for place, (text, _, born) in enumerate(rows):
        if born not in known:
            raise ValueError(
                f"tokens[{place}] was made by {born!r:.40}, a pass that does not exist"
            )
        if not text or text in seen or len(text) > LONGEST_TOKEN // 4:
            _check_text(place, text, text in seen)
        seen.add(text)


def _check_text(place: int, text: str, twice: bool) -> None:
    if twice or not text:
        raise ValueError(f"tokens[{place}] is {'empty' if not text else 'listed twice'}")
    if len(text.encode()) > LONGEST_TOKEN:
        raise ValueError(f"tokens[{place}] has more than {LONGEST_TOKEN:,} bytes")


def _no_tokenizer(found: bytes | dict[str, Any]) -> str:
    """What a file is that is not ours, and which function reads it."""
    remedy = "train one with `supratok train`"
    if isinstance(found, dict) and "model" in found:
        remedy = "Tokenizer.from_huggingface and `supratok import` read a tokenizer.json"
    if isinstance(found, bytes) and found[:1] == b"\n":  # the tag of the first piece
        remedy = "Tokenizer.from_sentencepiece and `supratok import` read a SentencePiece .model"
    return f"not a supratok tokenizer; {remedy}"


def _checksum(body: dict[str, Any]) -> str:
    canonical = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
