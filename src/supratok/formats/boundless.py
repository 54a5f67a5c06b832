"""The file of a BoundlessBPE baseline, and its encoder. `lab.baselines.boundless` trains it.

    {"format": "boundless-bpe", "tokenizer": a tokenizer.json, "supermerges": [[left, right], ...]}

Merges inside words come first. Then neighbouring words that are each a single token join by the
supermerges, the earliest learnt first:

    "in| New| York"  →  "in| New York"  →  "in New York"
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..common.packages import package
from ..common.shapes import check_shape
from .huggingface.document import byte_of_letter, bytes_of_letters, crate_errors
from .runtime import offsets_of, readable

FORMAT = "boundless-bpe"


class Boundless:
    def __init__(self, name: str, document: dict[str, Any]) -> None:
        self.name = name
        check_shape(document, {"tokenizer": {str: Any}, "supermerges": [(str, str)]})
        tokenizers = package("tokenizers", "compare")
        with crate_errors(name):
            self._tokenizer = tokenizers.Tokenizer.from_str(json.dumps(document["tokenizer"]))
        ids: dict[str, int] = self._tokenizer.get_vocab()
        if sorted(ids.values()) != list(range(len(ids))):
            raise ValueError("its ids are not consecutive; train the baseline again")
        if not byte_of_letter().keys() >= set("".join(ids)):
            raise ValueError("its tokens are not spelt as bytes; train the baseline again")
        self._merges: dict[tuple[int, int], tuple[int, int]] = {}  # rank and token of a pair
        for rank, (left, right) in enumerate(document["supermerges"]):
            if left not in ids or right not in ids:
                raise ValueError(f"supermerges[{rank}] joins a token that it does not have")
            token = ids.setdefault(left + right, len(ids))
            self._merges[ids[left], ids[right]] = (rank, token)
        self._pairs = list(self._merges)
        self._texts = sorted(ids, key=ids.__getitem__)

    @property
    def vocab_size(self) -> int:
        return len(self._texts)

    def encode(self, text: str) -> list[int]:
        return [id for run in self._runs(text) for id in self._merged(run)]

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        ids = self.encode(text)
        return ids, offsets_of(bytes_of_letters(self._texts[id]) for id in ids)

    def decode(self, ids: list[int]) -> str:
        return bytes_of_letters("".join(self._texts[id] for id in ids)).decode(errors="replace")

    def token_strings(self, text: str) -> list[str]:
        return [readable(bytes_of_letters(self._texts[id])) for id in self.encode(text)]

    def _runs(self, text: str) -> Iterator[list[int]]:
        """Neighbouring words that are single tokens; each token of other words alone."""
        with crate_errors(self.name):
            found = self._tokenizer.encode(text, add_special_tokens=False)
        words = [None, *found.word_ids, None]
        run: list[int] = []
        for id, before, word, after in zip(found.ids, words, words[1:], words[2:], strict=False):
            if word not in (before, after):
                run.append(id)
                continue
            if run:
                yield run
                run = []
            yield [id]
        yield run

    def _merged(self, run: list[int]) -> list[int]:
        """Apply the earliest learnt supermerge that fits, until none does."""
        while len(run) > 1:
            fits = filter(None, map(self._merges.get, zip(run, run[1:], strict=False)))
            rank, token = min(fits, default=(None, 0))
            if rank is None:
                break
            pair = self._pairs[rank]
            place = 0
            while place < len(run) - 1:
                if (run[place], run[place + 1]) == pair:
                    run[place : place + 2] = [token]
                place += 1
        return run
