"""What a patch after each character costs, beside `encode` of the same text, in C++ alone.

    python benches/stream.py balanced.json dense.json
    python benches/stream.py balanced.json --before ../older/core     # two cores in turn

It compiles stream.cpp with a core, and gives it a tokenizer and the first documents of a corpus.
All documents are encoded, then all are fed to streams; both are timed in portions. A figure is the
median over the portions of all turns, followed by the 10th and the 90th percentile. It ends with
status 1 if ids differ.
"""

from __future__ import annotations

import argparse
import os
import shlex
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from supratok import Tokenizer
from supratok.corpus import open_corpus

HERE = Path(__file__).parent
CORPUS = "train/en100k.jsonl.zst"
SMALL = 20_000  # bytes: the last portion is left out if it is smaller and another is there


@dataclass(frozen=True)
class Portion:
    bytes: int
    encode: int  # nanoseconds, as the next
    stream: int


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="A stream by characters beside encode, in C++.")
    add = parser.add_argument
    add("tokenizers", type=Path, nargs="+", metavar="TOKENIZER", help="a file of supratok")
    add("--corpus", type=Path, metavar="FILE", help=f"default: {CORPUS} below SUPRATOK_DATA")
    add("--lines", type=int, default=200_000, metavar="N", help="of text, at least (200,000)")
    add("--turns", type=int, default=3, metavar="N", help="of each core (3)")
    add("--before", type=Path, metavar="CORE", help="the folder core/ of another commit")
    args = parser.parse_args(arguments)
    corpus = args.corpus or Path(os.environ.get("SUPRATOK_DATA") or ".", CORPUS)
    if not corpus.exists():
        sys.exit(f"{corpus}: not found; set SUPRATOK_DATA, or pass --corpus FILE")
    cores = {"this": HERE.parent / "core"} | ({"before": args.before} if args.before else {})
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        programs = {name: build(core, folder / name) for name, core in cores.items()}
        lines = pack_documents(corpus, folder / "documents", args.lines)
        print(f"{corpus}: {lines:,} lines; {args.turns} turns")
        for path in args.tokenizers:
            pack_vocabulary(Tokenizer.load(path), folder / "vocabulary")
            found: dict[str, list[Portion]] = {name: [] for name in programs}
            for _ in range(args.turns):
                for name, program in programs.items():
                    found[name] += measure(program, folder / "vocabulary", folder / "documents")
            for name, portions in found.items():
                print(f"{path}, {name} core: {figures(portions)}")


def build(core: Path, out: Path) -> Path:
    sources = [HERE / "stream.cpp", core / "encode.cpp", core / "text.cpp"]
    compiler = shlex.split(os.environ.get("CXX") or "c++")
    options = ["-O3", "-std=c++20", f"-I{core}", "-lpthread", "-o", str(out)]
    subprocess.run([*compiler, *map(str, sources), *options], check=True)
    return out


def pack_vocabulary(tokenizer: Tokenizer, out: Path) -> None:
    """As stream.cpp reads it: whether the rule is `fewest`, then each token's weight and text."""
    with out.open("wb") as file:
        file.write(struct.pack("<Q", tokenizer.recipe.segmentation == "fewest"))
        for weight, text in zip(tokenizer._weights(), tokenizer._texts, strict=True):
            file.write(struct.pack("<Q", weight) + _sized(text))


def pack_documents(corpus: Path, out: Path, wanted: int) -> int:
    """Write whole documents until there are as many lines as wanted; return how many."""
    lines = 0
    with out.open("wb") as file:
        for text in open_corpus(corpus):
            file.write(_sized(text))
            lines += text.count("\n") + 1
            if lines >= wanted:
                break
    return lines


def _sized(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def measure(program: Path, vocabulary: Path, documents: Path) -> list[Portion]:
    done = subprocess.run([program, vocabulary, documents], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{program.name} core: exit status {done.returncode}")
    portions = [Portion(*map(int, line.split())) for line in done.stdout.splitlines()]
    return [one for one in portions if one.bytes >= SMALL] or portions


def figures(portions: list[Portion]) -> str:
    ratios = [one.stream / one.encode for one in portions]
    low, ratio, high = np.quantile(ratios, [0.1, 0.5, 0.9])
    encode = np.median([one.encode / one.bytes for one in portions])
    stream = np.median([one.stream / one.bytes for one in portions])
    return (
        f"{ratio:.2f} times encode ({low:.2f} to {high:.2f}, {len(portions)} portions);"
        f" encode {encode:.1f}, stream {stream:.1f} ns a byte"
    )


if __name__ == "__main__":
    main()
