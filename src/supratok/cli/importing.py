"""`supratok import`: convert a tokenizer of Hugging Face or SentencePiece; every id stays.

supratok import llama/tokenizer.model --out llama.json
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..tokenizer import Tokenizer
from ..tokenizer.inputs import naming, read_file
from .common import OUT, check_writable, output_name

NOTES = (
    "A .model needs the extra export; `supratok doctor` says what is missing. A tokenizer.json"
    " needs nothing; if the package tokenizers is installed, import tries the result in it."
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(interrupted="interrupted, nothing was written")
    add = command.add_argument
    add(
        "path",
        type=Path,
        metavar="PATH",
        help="a tokenizer.json or a SentencePiece .model (also .zst), or a folder with one",
    )
    add("--out", type=Path, required=True, metavar="PATH", help=OUT)


def run(args: argparse.Namespace) -> None:
    check_writable(args.out, [args.path])
    tokenizer = _read(args.path)
    tokenizer.save(args.out)
    print(f"{output_name(args.out)}: {tokenizer.vocab_size:,} ids, all unchanged", file=sys.stderr)
    for difference in tokenizer.report["imported"]["differences"]:
        print(f"different from the original: {difference}", file=sys.stderr)


def _read(path: Path) -> Tokenizer:
    """Like Hugging Face, prefers tokenizer.json in a folder with both files."""
    if path.is_dir():
        is_json = (path / "tokenizer.json").exists() or not (path / "tokenizer.model").exists()
    else:
        with naming(path):
            is_json = read_file(path).lstrip()[:1] == b"{"
    return Tokenizer.from_huggingface(path) if is_json else Tokenizer.from_sentencepiece(path)
