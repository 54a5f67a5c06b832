"""Which files a path, a folder, a glob or an address names; which of them are left out, and why.

A folder is read with all that is below it, except hidden files and folders (".git") and files that
hold no known format. Links are followed, each real folder and each real file once.
"""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from .faults import CorpusError, refuse
from .kinds import FAMILY, FORMATS, KNOWN, kind, looks_like_text
from .readers import read_head
from .remote import Url, find_urls, is_url
from .sources import File

LeftOut: TypeAlias = dict[str, list[str]]  # by reason, the names of files and folders

HIDDEN = "hidden"
UNKNOWN = "of unknown format"
OTHER = "of another format"
SPECIAL = "no regular file"
LINKED = "read already through a link"


def find_files(name: str, form: str, left_out: LeftOut) -> list[File]:
    """The files that a path, a folder or a glob names, sorted; adds to those left out."""
    if os.path.isdir(name):
        found = _distinct(_below(Path(name), left_out), left_out)
        files = _known(found, form, left_out)
    elif os.path.lexists(name):
        return [_explicit(Path(name), form)]
    elif is_url(name):
        hidden: list[str] = []
        urls = find_urls(name, hidden)
        if isinstance(urls, Url):
            return [_explicit(urls, form)]
        if hidden:
            left_out.setdefault(HIDDEN, []).extend(hidden)
        files = _known(urls, form, left_out)
    else:
        matches = list(expand(name))
        if not matches:
            raise _missing(name)
        within = (path for match in matches for path in _at_or_below(match, left_out))
        files = _known(_distinct(within, left_out), form, left_out)
    if not files:
        why = describe(left_out)
        raise CorpusError(
            f"{name}: no file of a known format there{f' ({why})' if why else ''}; {KNOWN}; name"
            " the format of others with --format / format="
        )
    return files


def _missing(name: str) -> CorpusError:
    what = "no file matches" if glob.has_magic(name) else "no such file or folder"
    return CorpusError(f"{name!r}: {what}; check the spelling and the folder it starts from")


# --- Formats -----------------------------------------------------------------------------------


def _explicit(path: Path | Url, form: str) -> File:
    """A file that the caller names: in the format that he says, or that its beginning shows."""
    if isinstance(path, Path) and path.exists() and not path.is_file():
        raise CorpusError(f"{path}: not a regular file; pipe it in and read '-'")
    found, packing = kind(path if isinstance(path, Path) else path.plain)
    if form != "auto":
        return File(path, form, packing)
    if found is None:
        if not looks_like_text(_head(path, packing)):
            raise CorpusError(
                f"{path}: unknown suffix, and its beginning is no UTF-8 text; say what it holds"
                f" with --format / format= (one of {', '.join(FORMATS[1:])}), or convert it"
            )
        found = "text"
    return File(path, found, packing)


def _known(paths: Sequence[Path | Url], form: str, left_out: LeftOut) -> list[File]:
    """Those of a known format; with a format given, those that may have it."""
    files = []
    for path in paths:
        found, packing = kind(path if isinstance(path, Path) else path.plain)
        if isinstance(path, Path) and path.exists() and not path.is_file():
            left_out.setdefault(SPECIAL, []).append(str(path))
        elif form == "auto" and found:
            files.append(File(path, found, packing))
        elif form == "auto" or (not found and not looks_like_text(_head(path, packing))):
            left_out.setdefault(UNKNOWN, []).append(str(path))
        elif found and FAMILY[found] != FAMILY[form]:
            left_out.setdefault(OTHER, []).append(str(path))
        else:
            files.append(File(path, form, packing))
    return files


def _head(path: Path | Url, packing: str) -> bytes:
    try:
        return read_head(path, packing)
    except OSError as error:
        refuse(error, path)


# --- Folders and globs -------------------------------------------------------------------------


def _at_or_below(path: Path, left_out: LeftOut) -> Iterator[Path]:
    return _below(path, left_out) if path.is_dir() else iter([path])


def _below(folder: Path, left_out: LeftOut) -> Iterator[Path]:
    """All files below a folder that are not hidden."""
    for inner in _folders(folder, left_out):
        for entry in _entries(inner):
            if entry.is_dir():
                continue
            if entry.name.startswith("."):
                left_out.setdefault(HIDDEN, []).append(entry.path)
            else:
                yield Path(entry.path)


def _folders(folder: Path, left_out: LeftOut | None = None) -> Iterator[Path]:
    """A folder and all below it that are not hidden: links after all others, and each real folder
    once, so that a loop of links ends."""
    waiting, links = [folder], list[Path]()
    seen: set[tuple[int, int]] = set()
    while waiting or links:
        inner = waiting.pop() if waiting else links.pop(0)
        facts = inner.stat()
        if (facts.st_dev, facts.st_ino) in seen:
            if left_out is not None:
                left_out.setdefault(LINKED, []).append(str(inner))
            continue
        seen.add((facts.st_dev, facts.st_ino))
        yield inner
        for entry in _entries(inner):
            if not entry.is_dir():
                continue
            if not entry.name.startswith("."):
                (links if entry.is_symlink() else waiting).append(Path(entry.path))
            elif left_out is not None:
                left_out.setdefault(HIDDEN, []).append(entry.path)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        refuse(error, folder)


def _distinct(paths: Iterator[Path], left_out: LeftOut) -> list[Path]:
    """Sorted, each real file once, and under its own name if that is among them."""
    folders: dict[Path, str] = {}
    real: dict[str, Path] = {}
    for path in sorted(set(paths), key=lambda path: (path.is_symlink(), path.parts)):
        folder = folders.setdefault(path.parent, "") or os.path.realpath(path.parent)
        folders[path.parent] = folder
        name = os.path.realpath(path) if path.is_symlink() else os.path.join(folder, path.name)
        if real.setdefault(name, path) is not path:
            left_out.setdefault(LINKED, []).append(str(path))
    return sorted(real.values(), key=lambda path: path.parts)


def expand(pattern: str) -> Iterator[Path]:
    """What a glob matches: as `glob.glob`, with "**" for any folders, but no folder twice."""
    if not glob.has_magic(pattern) or "\0" in pattern:
        return iter(())
    path = Path(pattern)
    start = Path(path.anchor)
    return _expand(start, path.parts[1:] if path.anchor else path.parts, set())


def _expand(
    folder: Path, parts: tuple[str, ...], seen: set[tuple[int, int, int]]
) -> Iterator[Path]:
    if not parts:
        if os.path.lexists(folder):
            yield folder
        return
    first, rest = parts[0], parts[1:]
    if not glob.has_magic(first):
        yield from _expand(folder / first, rest, seen)
    elif folder.is_dir():
        facts = folder.stat()
        place = (facts.st_dev, facts.st_ino, len(parts))
        if place in seen:
            return
        seen.add(place)
        if first == "**":
            for inner in _folders(folder) if rest else [folder]:
                yield from _expand(inner, rest, seen)
        else:
            for entry in _entries(folder):
                hidden = entry.name.startswith(".") and not first.startswith(".")
                if not hidden and fnmatch.fnmatchcase(entry.name, first):
                    yield from _expand(Path(entry.path), rest, seen)


# --- For people --------------------------------------------------------------------------------


def describe(left_out: LeftOut, skipped: dict[str, int] | None = None) -> str:
    """What is left out of a corpus, in one line; empty if nothing is."""
    parts = []
    for reason, names in sorted(left_out.items()):
        some = ", ".join(Path(name).name for name in names[:3]) + ", ..." * (len(names) > 3)
        parts.append(f"{len(names):,} {reason}" + (f" ({some})" if reason != HIDDEN else ""))
    for reason, count in sorted((skipped or {}).items()):
        parts.append(f"{count:,} {'record' if count == 1 else 'records'}: {reason}")
    return f"left out: {', '.join(parts)}" if parts else ""
