"""An extension, and the folder that holds it.

`supratok_extension.json` is in the folder of the new tokenizer.json:

    {"base": ..., "base_vocab_size": ..., "first_new_id": ..., "report": {...}, "versions": {...},
     "tokens": [[id, text, [base ids], count], ...]}
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..common.files import refuse_unwritable, sync_folder
from ..common.packages import package
from ..common.shapes import check_shape
from ..formats.huggingface.document import Document
from ..tokenizer.inputs import IDS, naming, parse_object, read_file
from .base import Base

FILE = "supratok_extension.json"

# Files of the base's folder that also fit the new tokenizer.
_CONFIG = "tokenizer_config.json"
_KEPT = ("special_tokens_map.json", "chat_template.jinja", "chat_template.json")
# Files that repeat the old tokenizer.json, and would disagree with the new one.
_STALE = (
    "vocab.json", "merges.txt", "vocab.txt", "tokenizer.model", "spiece.model", "added_tokens.json",
    "sentencepiece.bpe.model", "tekken.json", "supratok.json", "tokenizer.gguf",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class NewToken:
    """A new token: the base's ids that it replaces, and its count when it was learnt."""

    id: int
    text: str
    parts: list[int]
    count: int


@dataclass(frozen=True)
class Extension:
    """The tokens added to a base, and their effect on held-out text."""

    base: str
    base_vocab_size: int
    tokens: list[NewToken]
    report: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def first_new_id(self) -> int:
        return self.tokens[0].id

    @property
    def vocab_size(self) -> int:
        """One more than the last id."""
        return self.tokens[-1].id + 1

    def expand(self, ids: Iterable[int]) -> list[int]:
        """Replace each new id by its base ids: you get the base's encoding, for any text."""
        parts = self._parts
        return [old for id in ids for old in parts.get(id, (id,))]

    @functools.cached_property
    def _parts(self) -> dict[int, list[int]]:
        return {token.id: token.parts for token in self.tokens}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Extension:
        """From the folder that `extend` wrote, or its supratok_extension.json."""
        path = Path(path)
        file = path / FILE if path.is_dir() else path
        try:
            values = parse_object(read_file(file))
            check_shape(values, _SHAPE)
        except ValueError as error:
            raise ValueError(f"{file}: not written by `supratok extend` ({error})") from error
        tokens = [NewToken(*row) for row in values["tokens"]]
        names = ("base", "base_vocab_size", "report", "versions")
        return cls(tokens=tokens, **{name: values[name] for name in names})

    def to_json(self) -> str:
        head = {
            "base": self.base,
            "base_vocab_size": self.base_vocab_size,
            "first_new_id": self.first_new_id,
            "report": self.report,
            "versions": self.versions,
        }
        rows = ",\n".join(json.dumps(_row(token), ensure_ascii=False) for token in self.tokens)
        return (
            f'{json.dumps(head, ensure_ascii=False, indent=1)[:-2]},\n "tokens": [\n{rows}\n]}}\n'
        )


_SHAPE = {
    "base": str,
    "base_vocab_size": IDS,
    "report": {str: Any},
    "versions": {str: str},
    "tokens": [(IDS, str, [IDS], int)],
}


def _row(token: NewToken) -> list[Any]:
    return [token.id, token.text, token.parts, token.count]


def check_folder(out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ValueError(f"{out}: exists and is not an empty folder; name a new or empty one")
    refuse_unwritable(out, str(out))


def stale_files(base: Base) -> list[str]:
    """The base's files to leave out: they would disagree with the new tokenizer.json."""
    return [name for name in _STALE if base.folder and (base.folder / name).exists()]


def write(out: Path, base: Base, document: Document, extension: Extension) -> None:
    """Write the folder, whole or not at all."""
    check_folder(out)
    tokenizer = package("tokenizers", "extend").Tokenizer.from_str(json.dumps(document))
    config = json.dumps(config_of(base), ensure_ascii=False, indent=2) + "\n"
    texts = {"tokenizer.json": tokenizer.to_str(pretty=True), FILE: extension.to_json()}
    try:
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as safe:
            folder = Path(safe, "folder")
            folder.mkdir()
            for name, text in (texts | {_CONFIG: config}).items():
                (folder / name).write_text(text, encoding="utf-8")
            for kept in _kept(base):
                shutil.copy(kept, folder)
            sync_folder(folder)
            if out.exists():
                out.rmdir()
            folder.rename(out)
    except OSError as error:  # it names a temporary file, or none
        why = f"{error.strerror or error}; nothing was written"
        raise OSError(error.errno, why, str(out)) from error


def _kept(base: Base) -> list[Path]:
    return (
        [base.folder / name for name in _KEPT if (base.folder / name).exists()]
        if base.folder
        else []
    )


def config_of(base: Base) -> dict[str, Any]:
    """The base's config, but with the class that opens a tokenizer.json unchanged. Other classes
    (GPT2Tokenizer, LlamaTokenizer) build another pre-tokenizer, and custom code may do anything."""
    file = base.folder / _CONFIG if base.folder else None
    config: dict[str, Any] = {}
    if file and file.exists():
        with naming(file):
            config = parse_object(read_file(file))
    for name in ("auto_map", "vocab_file", "merges_file", "tokenizer_file", "slow_tokenizer_class"):
        config.pop(name, None)
    return config | {"tokenizer_class": "PreTrainedTokenizerFast"}
