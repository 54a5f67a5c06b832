"""A `.tiktoken` file, run by `tiktoken`: one line a token, in base64, with its rank.

The file does not say which pattern cuts the text before merging. The vocabularies published in
this format differ in size, so the number of ranks tells which of three patterns belongs to it.
"""

from __future__ import annotations

import base64
import re

from ..common.packages import package
from ..tokenizer import usable_threads
from ..tokenizer.inputs import IDS, LONGEST_TOKEN
from .patterns import CL100K, GPT2, O200K
from .runtime import Runtime, offsets_of, readable

_PATTERNS = ((190_000, "o200k", O200K), (90_000, "cl100k", CL100K), (0, "gpt2", GPT2))


def is_tiktoken(data: bytes) -> bool:
    """Whether the first line is a token in base64, a space and a rank."""
    return re.match(rb"[A-Za-z0-9+/]+=* \d+\r?(\n|$)", data) is not None


class Tiktoken(Runtime):
    program = "tiktoken"

    def __init__(self, name: str, data: bytes) -> None:
        ranks = _ranks(name, data)
        _, split, pattern = next(row for row in _PATTERNS if len(ranks) >= row[0])
        self.name = f"{name} ({split} split)"
        self.vocab_size = len(ranks)
        self._encoding = package("tiktoken", "compare").Encoding(
            self.name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
        )

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self._encoding.encode_ordinary(text)
        return ids

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        ids = self.encode(text)
        return ids, offsets_of(self._encoding.decode_tokens_bytes(ids))

    def decode(self, ids: list[int]) -> str:
        return str(self._encoding.decode(ids))

    def token_strings(self, text: str) -> list[str]:
        return list(map(self.token_text, self.encode(text)))

    def encode_batch(self, texts: list[str], threads: int | None = None) -> list[list[int]]:
        ids: list[list[int]] = self._encoding.encode_ordinary_batch(
            texts, num_threads=usable_threads(threads)
        )
        return ids

    def token_text(self, id: int) -> str:
        try:
            return readable(self._encoding.decode_single_token_bytes(id))
        except KeyError:
            return ""


def _row(line: bytes) -> tuple[bytes, int]:
    found = re.fullmatch(rb"([A-Za-z0-9+/]+=*) (\d{1,9})", line)
    token = base64.b64decode(found[1], validate=True) if found else b""
    if not found or int(found[2]) not in IDS or not 0 < len(token) <= LONGEST_TOKEN:
        raise ValueError("no such row")
    return token, int(found[2])


def _ranks(name: str, data: bytes) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    seen = set[int]()
    for number, line in enumerate(data.splitlines(), 1):
        try:
            token, rank = _row(line)
        except ValueError as error:
            raise ValueError(
                f"{name}, line {number}: not a token in base64, a space and a rank; download the"
                " file again"
            ) from error
        if token in ranks or rank in seen:
            raise ValueError(f"{name}, line {number}: its token or its rank was there before")
        ranks[token] = rank
        seen.add(rank)
    missing = next((byte for byte in range(256) if bytes([byte]) not in ranks), None)
    if missing is not None:
        raise ValueError(f"{name}: the byte 0x{missing:02X} has no rank; download the whole file")
    return ranks
