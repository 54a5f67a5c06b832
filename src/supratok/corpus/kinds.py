"""Which format a file has: by its suffix, by its first bytes, or as the caller says.

    kind("a.jsonl.gz")      ->   ("jsonl", ".gz")
    kind("a.unknown.xz")    ->   (None, ".xz")

`FORMATS` are what a caller may choose from. DOCUMENT says what a document is in each.
"""

from __future__ import annotations

import codecs
from pathlib import Path

from .faults import CorpusError

FORMATS = ("auto", "text", "lines", "code", "jsonl", "json", "parquet")

DOCUMENT = (
    "A document is a record of JSON or parquet; in a text file it ends at blank lines, and in"
    " source code it is the file"
)

# Choice: tables (.csv, .tsv) are text. They have no blank lines, so documents end at a line end.
_TEXT = ".txt .text .md .markdown .csv .tsv .log .srt .vtt"
_CODE = (
    ".py .pyi .c .h .cc .cpp .cxx .hpp .hh .cu .js .jsx .mjs .ts .tsx .vue .java .kt .scala .go"
    " .rs .rb .php .pl .pm .lua .r .jl .swift .m .mm .cs .fs .hs .ml .clj .ex .exs .erl .el .lisp"
    " .scm .f90 .f .pas .asm .s .v .sv .vhd .zig .nim .dart .sh .bash .zsh .fish .ps1 .bat .sql"
    " .html .htm .css .scss .less .xml .svg .tex .bib .rst .org .adoc .yaml .yml .toml .ini .cfg"
    " .conf .cmake .mk .proto .graphql .tf .gradle .diff .patch"
)
_FORMATS = {
    **dict.fromkeys(_TEXT.split(), "text"),
    **dict.fromkeys(_CODE.split(), "code"),
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
    ".json": "json",
    ".parquet": "parquet",
}
# In a folder, --format lines reads the text and the source files, and leaves the others out.
FAMILY = {
    **dict.fromkeys(("text", "lines", "code"), "text"),
    **dict.fromkeys(("jsonl", "json"), "json"),
    "parquet": "parquet",
}
_PACKINGS = (".gz", ".bz2", ".xz", ".zst")
KNOWN = (
    f"known are {_TEXT} .jsonl .ndjson .json .parquet and source code, each also with"
    f" {' '.join(_PACKINGS)} appended"
)

BOM = b"\xef\xbb\xbf"
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)


def kind(name: str | Path) -> tuple[str | None, str]:
    """The format and the packing by the suffix."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    packing = suffixes.pop() if suffixes and suffixes[-1] in _PACKINGS else ""
    return _FORMATS.get(suffixes[-1]) if suffixes else None, packing


def check_format(form: str) -> str:
    if form not in FORMATS:
        raise CorpusError(f"format={form!r}: not one of {', '.join(FORMATS)}")
    return form


def is_wide(head: bytes) -> bool:
    """Whether a file begins as UTF-16 or UTF-32 do, or as no text does: with a NUL in it."""
    return head.startswith(_WIDE) or b"\0" in head


def looks_like_text(head: bytes) -> bool:
    """Whether a file begins with UTF-8; the last character may be cut."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return not is_wide(head)
