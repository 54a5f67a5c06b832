"""The plan of a run: all that decides the bytes of its shards.

Two runs with equal plans write equal shards, so that one may continue what the other began. If the
plans differ, `changes` says in words where.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..common.reserved import END_NAMES
from ..corpus import CorpusError, open_corpus
from ..corpus.kinds import kind
from ..corpus.remote import is_url
from ..tokenizer import Tokenizer

FORMAT, VERSION = "supratok-shards", 1

# Of a plan in a file; see common/shapes.py.
PLAN = {
    "format": str,
    "version": int,
    "output_format": str,
    "dtype": str,
    "tokenizer": {"sha256": str, "vocab_size": int},
    "eos?": {"token": str, "id": int},
    "shard_tokens": int,
    "by_file": bool,
    "reading": {str: Any},
    "corpus?": [{"file": str, "bytes": int, "modified": int}],
    "groups": [str],
}

_WORDS = {
    "output_format": "the format",
    "dtype": "the type of the ids",
    "eos": "the token that ends documents",
    "shard_tokens": "the size of a shard",
    "by_file": "whether files are kept apart",
    "groups": "the names of the shards",
}


# --- The tokenizer -----------------------------------------------------------------------------


def fingerprint(tokenizer: Tokenizer) -> str:
    """A SHA-256 of all that decides the ids of a text; not of counts, nor of the report."""
    layout = tokenizer.layout.to_dict() if tokenizer.layout else None
    parts = [
        tokenizer.texts,
        tokenizer.recipe.segmentation,
        list(tokenizer.special_tokens.items()),
        layout,
    ]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()


def end_token(tokenizer: Tokenizer, eos: str | bool) -> dict[str, Any] | None:
    """The special token that ends each document: this one, with True the one that the tokenizer has
    under a usual name, with False none."""
    if eos is False:
        return None
    special = tokenizer.special_tokens
    names = END_NAMES if eos is True else [eos]
    found = next((name for name in names if name in special), None)
    if found is not None:
        return {"token": found, "id": special[found]}
    has = f"it has {', '.join(special)}" if special else "it has none"
    if eos is not True:
        raise ValueError(
            f"eos={eos!r}: the tokenizer has no such special token ({has}); name one of those, or"
            f" add it with `supratok export TOKENIZER FOLDER --eos '{eos}'` and pass the folder"
        )
    raise ValueError(
        f"the tokenizer has no special token that ends documents ({has}): name one with --eos /"
        " eos=, pass --no-eos / eos=False, or add one with `supratok export TOKENIZER FOLDER --eos"
        " '</s>'` and pass the folder"
    )


# --- The corpus --------------------------------------------------------------------------------


def stamps(files: Sequence[str]) -> list[dict[str, Any]] | None:
    """What shows that a file has changed: its size and the time of its last change, or of a file at
    an address its size alone. None if not all of the corpus is files, which can be read again."""
    return list(map(_stamp, files)) if files and "-" not in files else None


def _stamp(file: str) -> dict[str, Any]:
    if is_url(file):
        with open_corpus(file) as corpus:
            return {"file": file, "bytes": corpus.bytes_total or 0, "modified": 0}
    facts = Path(file).stat()
    return {"file": file, "bytes": facts.st_size, "modified": facts.st_mtime_ns}


def group_names(files: Sequence[str], by_file: bool) -> list[str]:
    """What the names of shards begin with: "shard", or the name of each file without its suffixes,
    after its number if two are alike."""
    if not by_file:
        return ["shard"]
    if not files or "-" in files:
        raise CorpusError("by_file needs files; standard input and texts have no names")
    names = [_stem(name) for name in files]
    # Not only exact equals: some file systems do not tell capitals from small letters.
    if max(Counter(map(str.casefold, names)).values()) > 1:
        names = [f"{number:05}-{name}" for number, name in enumerate(names)]
    return names


def _stem(file: str) -> str:
    """corpus/a.b.jsonl.zst -> a.b; not hidden, and of a length that any file system has."""
    name = Path(re.split("[?#]", file)[0] if is_url(file) else file).name
    _, packing = kind(name)
    return Path(name[: len(name) - len(packing)]).stem.lstrip(".")[:100] or "file"


# --- Differences -------------------------------------------------------------------------------


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What differs between two plans, in words; empty if nothing does."""
    return list(_changes(old, new))


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    if old["tokenizer"] != new["tokenizer"]:
        before, now = old["tokenizer"], new["tokenizer"]
        yield (
            f"the tokenizer has other tokens (SHA-256 {now['sha256'][:8]}..., and was"
            f" {before['sha256'][:8]}...)"
        )
    yield from _changed_corpus(old.get("corpus"), new.get("corpus"))
    for name, words in _WORDS.items():
        if old.get(name) != new.get(name) and not (name == "groups" and _corpus_differs(old, new)):
            yield f"{words} is {_shown(new.get(name))}, and was {_shown(old.get(name))}"
    before, now = old["reading"], new["reading"]
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            yield f"the option {name} is {now.get(name)!r}, and was {before.get(name)!r}"


def _corpus_differs(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    return next(_changed_corpus(old.get("corpus"), new.get("corpus")), None) is not None


def _changed_corpus(
    old: list[dict[str, Any]] | None, new: list[dict[str, Any]] | None
) -> Iterator[str]:
    """The first file that differs, by its own name: a folder may be reached by many paths."""
    if old is None or new is None:
        yield "the corpus is not all files, so that nobody can say whether it is the same"
        return
    if len(old) != len(new):
        yield f"the corpus has {len(new):,} files, and had {len(old):,}"
        return
    for number, (before, now) in enumerate(zip(old, new, strict=True), 1):
        name = Path(now["file"]).name
        if Path(before["file"]).name != name:
            yield f"file {number:,} is {name}, and was {Path(before['file']).name}"
        elif before["bytes"] != now["bytes"]:
            yield f"{name} has {now['bytes']:,} bytes, and had {before['bytes']:,}"
        elif before["modified"] != now["modified"]:
            yield f"{name} was changed since"
        else:
            continue
        return


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return repr(value.get("token"))
    return f"{value:,}" if type(value) is int else repr(value)
