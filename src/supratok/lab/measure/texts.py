"""Read a test file, spell WikiText as people do, or take the first documents of a corpus."""

from __future__ import annotations

import itertools
import json
import os
import re
from pathlib import Path

import zstandard

from ...common.files import whole_file
from ...corpus import open_corpus


def read_text(path: str | os.PathLike[str]) -> str:
    """A test file as one text, with its own line ends."""
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


# WikiText-103 puts a space around every mark, and at both ends of a line.
_NATURAL = [
    (re.compile(r" @([-,.])@ "), r"\1"),
    (re.compile(r'(?<!\S)" ([^"\n]*) "(?!\S)'), r'"\1"'),
    (re.compile(r' ([,.;:!?%)\]}]|\.\.\.)(?=["\s]|$)'), r"\1"),
    (re.compile(r"(?<=[(\[{$£€]) "), ""),
    (re.compile(r" (n't|'(?:s|re|ve|ll|d|m))(?!\w)"), r"\1"),
    (re.compile(r"(?<=s) '(?= )"), "'"),
    (re.compile(r"^ | +$", re.MULTILINE), ""),
]


def natural_spelling(text: str) -> str:
    """A text of WikiText-103 as people write it: "it 's 1 @,@ 000 ( or so ) ." becomes "it's 1,000
    (or so).". Nearly: a mark's own place is gone from the file, so some guesses are wrong."""
    for pattern, instead in _NATURAL:
        text = pattern.sub(instead, text)
    return text


def write_first(corpus: Path, documents: int, out: Path) -> None:
    """Write the first documents of a corpus to a file, as packed JSON lines."""
    packer = zstandard.ZstdCompressor()
    with whole_file(out) as file, packer.stream_writer(file, closefd=False) as packed:
        for text in itertools.islice(open_corpus(corpus), documents):
            packed.write(json.dumps({"text": text}, ensure_ascii=False).encode() + b"\n")
