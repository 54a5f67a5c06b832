"""`supratok import`: a tokenizer of Hugging Face or SentencePiece as a file of ours, with its ids.

supratok import llama/tokenizer.model --out llama.json
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..tokenizer import Tokenizer
from .common import check_writable


def add_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("path", type=Path, metavar="PATH", help="a folder, a tokenizer.json or a .model")
    add("--out", type=Path, required=True, metavar="PATH", help="the file to write")


def _import(args: argparse.Namespace) -> None:
    check_writable(args.out)
    tokenizer = _read(args.path)
    tokenizer.save(args.out)
    print(f"{args.out}: {tokenizer.vocab_size:,} ids as they were", file=sys.stderr)
    for difference in tokenizer.report["imported"]["differences"]:
        print(f"different from the original: {difference}", file=sys.stderr)


def _read(path: Path) -> Tokenizer:
    """A folder with both files is read as Hugging Face does."""
    if path.is_dir():
        whole = (path / "tokenizer.json").exists() or not (path / "tokenizer.model").exists()
    else:
        whole = path.read_bytes()[:1] == b"{" or path.suffixes[-2:] == [".json", ".zst"]
    return Tokenizer.from_huggingface(path) if whole else Tokenizer.from_sentencepiece(path)
