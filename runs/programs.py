"""Encoders of others, and ours: how each loads a vocabulary and gives ids.

Runs in the environment of the program, which may lack this supratok: standard library only.

    PYTHON programs.py '{"program": "tokenizers", "vocabulary": FOLDER, "text": FILE, ...}'

A vocabulary is a folder of `Tokenizer.export`, or a file `.tiktoken` or `.json` of others. Prints
the seconds of one core for the first call after loading, in JSON, and writes the ids to `out`.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from array import array
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

Encode = Callable[[str], Any]
Change = Callable[[list[int]], list[int]]


class Missing(Exception):
    """The program cannot run this vocabulary."""


def hugging_face(vocabulary: Path) -> str:
    """The path of a `tokenizer.json`."""
    if vocabulary.suffix == ".tiktoken":
        raise Missing("reads no .tiktoken file")
    return str(vocabulary / "tokenizer.json" if vocabulary.is_dir() else vocabulary)


# --- Ours


def arrays(vocabulary: Path) -> Encode:
    importlib.import_module("numpy")  # which the first call would do
    tokenizer = _ours(vocabulary)
    return lambda text: tokenizer.encode(text, numpy=True)


def lists(vocabulary: Path) -> Encode:
    encode: Encode = _ours(vocabulary).encode
    return encode


def _ours(vocabulary: Path) -> Any:
    from supratok import Tokenizer

    if vocabulary.is_dir():
        return Tokenizer.load(vocabulary)
    if vocabulary.suffix == ".tiktoken":
        raise Missing("a pattern cuts text before merging, and supratok's rules have none")
    return Tokenizer.from_huggingface(hugging_face(vocabulary))


# --- Others


def tokenizers(vocabulary: Path) -> Encode:
    program = importlib.import_module("tokenizers").Tokenizer.from_file(hugging_face(vocabulary))
    return lambda text: program.encode(text, add_special_tokens=False).ids


def sentencepiece(vocabulary: Path) -> Encode:
    if not vocabulary.is_dir():
        raise Missing("reads its own files only")
    processor = importlib.import_module("sentencepiece").SentencePieceProcessor
    encode: Encode = processor(model_file=str(vocabulary / "tokenizer.model")).encode
    return encode


def fastokens(vocabulary: Path) -> Encode:
    kinds = importlib.import_module("fastokens").Tokenizer
    if vocabulary.suffix == ".tiktoken":
        program = kinds.from_tiktoken(str(vocabulary), encoding=vocabulary.stem)
    else:
        program = kinds.from_file(hugging_face(vocabulary))
    return lambda text: program.encode(text).ids


def gigatoken(vocabulary: Path) -> Encode:
    kinds = importlib.import_module("gigatoken").Tokenizer
    if vocabulary.suffix == ".tiktoken":
        encode: Encode = kinds.from_tiktoken(str(vocabulary)).encode
    else:
        encode = kinds(hugging_face(vocabulary)).encode
    return encode


def gigatoken_lists(vocabulary: Path) -> Encode:
    encode = gigatoken(vocabulary)
    return lambda text: encode(text).tolist()


def kitoken(vocabulary: Path) -> Encode:
    kinds = importlib.import_module("kitoken").Kitoken
    if vocabulary.suffix == ".tiktoken":
        encode: Encode = kinds.from_tiktoken_file(str(vocabulary)).encode
    else:
        encode = kinds.from_tokenizers_file(hugging_face(vocabulary)).encode
    return encode


def tokie(vocabulary: Path) -> Encode:
    program = importlib.import_module("tokie").Tokenizer.from_json(hugging_face(vocabulary))
    return lambda text: program.encode(text, add_special_tokens=False).ids


def splintr(vocabulary: Path) -> Encode:
    package = importlib.import_module("splintr")
    if vocabulary.suffix == ".tiktoken":
        program = package.Tokenizer.from_pretrained(vocabulary.stem)
    else:
        program = package.from_json(hugging_face(vocabulary))
    encode: Encode = program.encode_ordinary
    return encode


def iree(vocabulary: Path) -> Encode:
    kinds = importlib.import_module("iree.tokenizer").Tokenizer
    if vocabulary.suffix == ".tiktoken":
        encode: Encode = kinds.from_tiktoken(str(vocabulary), vocabulary.stem).encode
    else:
        encode = kinds.from_file(hugging_face(vocabulary)).encode
    return encode


def bpe_openai(vocabulary: Path) -> Encode:
    encode: Encode = importlib.import_module("bpe_openai").get_encoding(openai(vocabulary)).encode
    return encode


def rs_bpe(vocabulary: Path) -> Encode:
    encode: Encode = getattr(importlib.import_module("rs_bpe").openai, openai(vocabulary))().encode
    return encode


def openai(vocabulary: Path) -> str:
    """The name of a vocabulary that a program brings along."""
    if vocabulary.suffix != ".tiktoken":
        raise Missing("has its own vocabularies only")
    return vocabulary.stem


def tiktoken(vocabulary: Path) -> Encode:
    """It joins bytes, so each longer character gets its beginnings as tokens before all others;
    `from_ranks` makes our ids of what comes out."""
    package = importlib.import_module("tiktoken")
    if vocabulary.suffix == ".tiktoken":
        ranks = importlib.import_module("tiktoken.load").load_tiktoken_bpe(str(vocabulary))
        public: Any = importlib.import_module("tiktoken_ext.openai_public")
        public.load_tiktoken_bpe = lambda *given, **named: {}  # it would download the ranks
        pattern = getattr(public, vocabulary.stem)()["pat_str"]
    else:
        ranks, pattern = byte_ranks(vocabulary)[0], r"(?s:.+)"
    encoding = package.Encoding("", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    encode: Encode = encoding.encode_ordinary
    return encode


def byte_ranks(vocabulary: Path) -> tuple[dict[bytes, int], list[list[int]]]:
    """The ranks of bytes, of the beginnings of characters, of characters and of tokens; our ids
    of each."""
    model = json.loads(Path(hugging_face(vocabulary)).read_text(encoding="utf-8"))["model"]
    if model["type"] != "BPE" or not model["byte_fallback"]:
        raise Missing("has the rule of merges only, over bytes")
    ids: dict[str, int] = model["vocab"]
    of_byte = [[ids[f"<0x{byte:02X}>"]] for byte in range(256)]
    found = {bytes([byte]): of_byte[byte] for byte in range(256)}
    chars = [name for name in ids if len(name) == 1]
    for text in map(str.encode, chars):
        for size in range(2, len(text)):
            found[text[:size]] = [id for byte in text[:size] for id in of_byte[byte]]
    found |= {name.encode(): [ids[name]] for name in [*chars, *map("".join, model["merges"])]}
    return {text: rank for rank, text in enumerate(found)}, list(found.values())


def from_ranks(vocabulary: Path) -> Change:
    ids = byte_ranks(vocabulary)[1]
    return lambda ranks: [id for rank in ranks for id in ids[rank]]


PROGRAMS: dict[str, tuple[str, Callable[[Path], Encode]]] = {
    "supratok, arrays": ("supratok", arrays),
    "supratok": ("supratok", lists),
    "tokenizers": ("tokenizers", tokenizers),
    "sentencepiece": ("sentencepiece", sentencepiece),
    "tiktoken": ("tiktoken", tiktoken),
    "fastokens": ("fastokens", fastokens),
    "gigatoken, arrays": ("gigatoken", gigatoken),
    "gigatoken": ("gigatoken", gigatoken_lists),
    "kitoken": ("kitoken", kitoken),
    "splintr": ("splintr-rs", splintr),
    "iree-tokenizer": ("iree-tokenizer", iree),
    "tokie": ("tokie", tokie),
    "bpe-openai": ("bpe-openai", bpe_openai),
    "rs-bpe": ("rs_bpe", rs_bpe),
}


# --- Measuring


def measure(program: str, vocabulary: str, text: str, by_line: bool, out: str) -> dict[str, Any]:
    """On one core: version, seconds to load and to encode for the first time; or why not."""
    package, load = PROGRAMS[program]
    whole = Path(text).read_bytes().decode()
    texts = whole.split("\n") if by_line else [whole]
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    began = perf_counter()
    try:
        version = metadata.version(package) if package != "supratok" else ""
        encode = load(Path(vocabulary))
    except (Exception, SystemExit) as error:  # whatever a program throws
        return {"refused": in_a_line(error)}
    loaded, started = perf_counter(), process_time()
    try:
        ids = [encode(text) for text in texts]
    except Exception as error:
        return {"failed": in_a_line(error)}
    ended = process_time()
    change = (
        list
        if program != "tiktoken" or vocabulary.endswith(".tiktoken")
        else from_ranks(Path(vocabulary))
    )
    write_ids(Path(out), (change(list(some)) for some in ids))
    return {"version": version, "load": loaded - began, "seconds": ended - started}


def in_a_line(error: BaseException) -> str:
    return f"{error}".strip().splitlines()[0] if str(error) else repr(error)


def write_ids(path: Path, each: Iterable[list[int]]) -> None:
    """All ids in a row, as 32-bit numbers."""
    with path.open("wb") as file:
        for ids in each:
            array("I", ids).tofile(file)


if __name__ == "__main__":
    answer = os.dup(1)
    os.dup2(2, 1)  # some programs print while they work
    os.write(answer, json.dumps(measure(**json.loads(sys.argv[1]))).encode())
