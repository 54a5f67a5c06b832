"""Text of any size: a corpus repeated, with other words in each copy, so that tables keep growing.

    python runs/large_text.py --bytes 5000000000 --out build/large

In copy k a quarter of the word types, chosen by hash, have their letters replaced: vowels by
vowels, consonants by consonants. So a copy has new words, new neighbours of old words, and about
the same statistics. The same corpus and size give the same files, of about 250 MB of text each.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import zstandard

from rows import ENGLISH, located
from supratok.corpus import open_corpus

FILE = 250_000_000  # bytes of text in a file
_WORD = re.compile(r"[A-Za-z]{4,}")
_VOWELS, _CONSONANTS = "aeiou", "bcdfghjklmnpqrstvwxyz"


def letters_of(copy: int) -> dict[int, str]:
    """The letters of a copy: rows of vowels and of consonants, each turned by its number."""
    changed: dict[str, str] = {}
    for row in (_VOWELS, _CONSONANTS):
        turn = 1 + copy % (len(row) - 1)
        for case in (row, row.upper()):
            changed |= dict(zip(case, case[turn:] + case[:turn], strict=True))
    return str.maketrans(changed)


def variant(text: str, copy: int) -> str:
    """The text as copy number `copy` has it; copy 0 is the text itself."""
    return text if copy == 0 else _WORD.sub(_changer(copy), text)


@functools.cache
def _changer(copy: int):  # type: ignore[no-untyped-def]
    letters, known = letters_of(copy), dict[str, str]()

    def change(match: re.Match[str]) -> str:
        word = match[0]
        found = known.get(word)
        if found is None:
            code = hashlib.blake2b(f"{copy} {word.lower()}".encode(), digest_size=1).digest()[0]
            found = known[word] = word.translate(letters) if code < 64 else word
        return found

    return change


def texts(corpus: Path, size: int) -> Iterator[str]:
    """Copies of the corpus, one after the other, until `size` bytes."""
    left, copy = size, 0
    while True:
        with open_corpus(corpus) as documents:
            for text in documents:
                changed = variant(text, copy)
                yield changed
                left -= len(changed.encode())
                if left <= 0:
                    return
        copy += 1


def write(corpus: Path, size: int, folder: Path) -> list[Path]:
    """The files, `text-000.jsonl.zst` and so on; those that are there stay."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"text-{n:03}.jsonl.zst" for n in range(-(-size // FILE))]
    if all(path.exists() for path in paths):
        return paths
    source = texts(corpus, size)
    for path in paths:
        part, room = path.with_suffix(".part"), FILE
        with part.open("wb") as file, zstandard.ZstdCompressor(1).stream_writer(file) as out:
            for text in source:
                out.write(json.dumps({"text": text}, ensure_ascii=False).encode() + b"\n")
                room -= len(text.encode())
                if room <= 0:
                    break
        part.replace(path)
    return paths


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a corpus of any size.")
    parser.add_argument("--corpus", type=Path, help="the text to vary (default: English)")
    parser.add_argument("--bytes", type=int, required=True, help="of text, in all")
    parser.add_argument("--out", type=Path, required=True, help="folder for the files")
    args = parser.parse_args()
    for path in write(located(args.corpus, ENGLISH), args.bytes, args.out):
        print(path)


if __name__ == "__main__":
    main()
