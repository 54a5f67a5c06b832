"""The file `supratok.json`: one JSON document with a checksum, a line for each token.

{"format": "supratok", "version": 1, "sha256": ..., "recipe": ..., "report": ..., "tokens": [...]}
"""

from __future__ import annotations

import hashlib
import json
from array import array
from pathlib import Path
from typing import Any, get_args

from ..common import _core
from ..common.files import write_whole
from ..common.shapes import check_shape
from ..recipe import Recipe
from .ids import LAYOUT, Layout
from .inputs import LONGEST_TOKEN, parse_object
from .token import Birth, Columns, columns_of

FORMAT = "supratok"
FILE = "supratok.json"  # its name in a folder
VERSION = 2  # of files with a layout; files without one keep version 1

Document = tuple[Columns, Recipe, dict[str, Any], Layout | None]


def write_document(
    path: Path, columns: Columns, recipe: Recipe, report: dict[str, Any], layout: Layout | None
) -> None:
    tokens = [list(row) for row in zip(*columns, strict=True)]
    extra = {"layout": layout.to_dict()} if layout else {}
    body = {"recipe": recipe.to_dict(), "report": report}
    checksum = _checksum(body | extra, _canonical(tokens))
    version = VERSION if layout else 1
    document = {"format": FORMAT, "version": version, "sha256": checksum, **body}
    head = json.dumps(document, ensure_ascii=False, indent=1)[:-2]
    for name, values in extra.items():
        parts = (f'  "{k}": {json.dumps(v, ensure_ascii=False)}' for k, v in values.items())
        head += f',\n "{name}": {{\n' + ",\n".join(parts) + "\n }"
    lines = ",\n".join(json.dumps(token, ensure_ascii=False) for token in tokens)
    write_whole(path, f'{head},\n "tokens": [\n{lines}\n]}}\n')


def read_written(data: bytes) -> Document | None:
    """Read what `save` writes, fast: the core reads the lines of the tokens. None or a ValueError
    if the file has another form or is damaged: `read_document` reads it, or says what is wrong.
    That a text is listed twice is for the encoder to find."""
    at = data.find(_TOKENS)
    if at < 0:
        return None
    found = _core.read_tokens(data, at + len(_TOKENS), list(get_args(Birth)), LONGEST_TOKEN)
    if found is None:
        return None
    texts, counts, births, lines = found
    body = _verified(parse_object(data[:at] + b"}"), b"[" + lines + b"]")
    return Columns(texts, array("q", counts), births), *_settings(body)


def read_document(data: bytes) -> Document:
    """Read a file. Refuses a damaged one and one of a later version. Whoever calls it says
    `naming(path)`."""
    if not data.lstrip().startswith(b"{"):
        raise ValueError(_no_tokenizer(data))
    try:
        document = parse_object(data)
    except ValueError as error:
        raise ValueError(f"not a supratok tokenizer ({error})") from error
    rows: Any = document.get("tokens")
    body = _verified(document, _canonical(rows))
    check_shape(document, {"tokens": [(str, range(1 << 53), str)]})
    _check_tokens(rows)
    return columns_of(rows), *_settings(body)


def _verified(document: dict[str, Any], tokens: bytes) -> dict[str, Any]:
    """What a document holds besides its tokens, which look so in the checksum."""
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
    if document.get("sha256") != _checksum(body, tokens):
        raise ValueError("the checksum does not match, the file was changed or damaged")
    check_shape(document, shape)
    return body


def _settings(body: dict[str, Any]) -> tuple[Recipe, dict[str, Any], Layout | None]:
    layout = Layout.from_dict(body["layout"]) if "layout" in body else None
    return Recipe.from_dict(body["recipe"]), body["report"], layout


_SHAPE = {"recipe": {str: Any}, "report": {str: Any}}
_TOKENS = b',\n "tokens": [\n'  # in a file that `save` wrote, where the lines of tokens begin


def _check_tokens(rows: list[tuple[str, int, Birth]]) -> None:
    """Refuse texts that are empty, too long or listed twice, and passes that do not exist."""
    if unknown := {born for _, _, born in rows} - set(get_args(Birth)):
        raise ValueError(f"a token was made by {min(unknown)!r:.40}, which is no pass of training")
    places = {text: place for place, (text, _, _) in enumerate(rows)}
    for place, (text, _, _) in enumerate(rows) if len(places) < len(rows) else ():
        if places[text] != place:
            raise ValueError(f"tokens[{place}] and tokens[{places[text]}] are the same")
    if "" in places:
        raise ValueError(f"tokens[{places['']}] is empty")
    for text in (text for text in places if len(text) > LONGEST_TOKEN // 4):
        if len(text.encode()) > LONGEST_TOKEN:
            raise ValueError(f"tokens[{places[text]}] has more than {LONGEST_TOKEN:,} bytes")


def _no_tokenizer(found: bytes | dict[str, Any]) -> str:
    """What a file is that is not ours, and which function reads it."""
    remedy = "train one with `supratok train`"
    if isinstance(found, dict) and "model" in found:
        remedy = "Tokenizer.from_huggingface and `supratok import` read a tokenizer.json"
    if isinstance(found, bytes) and found[:1] == b"\n":  # the tag of the first piece
        remedy = "Tokenizer.from_sentencepiece and `supratok import` read a SentencePiece .model"
    return f"not a supratok tokenizer; {remedy}"


def _checksum(body: dict[str, Any], tokens: bytes) -> str:
    """Of the canonical JSON of all, in which the tokens come last."""
    return hashlib.sha256(_canonical(body)[:-1] + b',"tokens":' + tokens + b"}").hexdigest()


def _canonical(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
