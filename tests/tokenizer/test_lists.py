"""Ids as lists and arrays, in both directions, whatever sequence holds them."""

from __future__ import annotations

import gc
import random
import re
from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import supratok
from supratok import Recipe, Tokenizer
from supratok.common import _core
from texts import HOSTILE, corpus, prose

IDS = [270, 7, 0, 300, 299, 2]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    recipe = Recipe(vocab_size=600, special_tokens=("<s>", "</s>", "<p>"))
    return supratok.train(prose(8, 300) + corpus(8, 100), recipe, progress=False)


class Tensor:
    """Like that of PyTorch: it says its numbers only as a list."""

    def __init__(self, ids: list[int]) -> None:
        self.ids = ids

    def tolist(self) -> list[int]:
        return self.ids


SEQUENCES: dict[str, Any] = {
    "tuple": tuple(IDS),
    "array": array("q", IDS),
    "int16": np.array(IDS, np.int16),
    "uint16": np.array(IDS, np.uint16),
    "int32": np.array(IDS, np.int32),
    "uint32": np.array(IDS, np.uint32),
    "int64": np.array(IDS, np.int64),
    "uint64": np.array(IDS, np.uint64),
    "swapped bytes": np.array(IDS, ">i8"),
    "every second": np.array([id for id in IDS for _ in "ab"])[::2],
    "backwards": np.array(IDS[::-1])[::-1],
    "numbers of NumPy": [np.int32(id) for id in IDS],
    "tensor": Tensor(IDS),
    "range": range(260, 270),
}


@pytest.mark.parametrize("ids", SEQUENCES.values(), ids=SEQUENCES)
def test_any_sequence_decodes(tokenizer: Tokenizer, ids: Any) -> None:
    plain = [int(id) for id in (ids.tolist() if hasattr(ids, "tolist") else ids)]
    for skip in (False, True):
        expected = tokenizer.decode(plain, skip_special_tokens=skip)
        assert tokenizer.decode(ids, skip_special_tokens=skip) == expected
        assert tokenizer.decode_bytes(ids, skip_special_tokens=skip) == expected.encode()
        assert tokenizer.decode_batch([ids, [], ids], skip_special_tokens=skip) == [
            expected, "", expected,
        ]  # fmt: skip


def test_batches_of_any_kind_decode(tokenizer: Tokenizer) -> None:
    expected = [tokenizer.decode(IDS)] * 3
    assert tokenizer.decode_batch(np.array([IDS] * 3)) == expected
    assert tokenizer.decode_batch(iter([IDS, tuple(IDS), np.array(IDS)])) == expected
    assert tokenizer.decode_batch(iter([iter(IDS)])) == expected[:1]  # type: ignore[arg-type]
    assert tokenizer.decode_batch([]) == []


@pytest.mark.parametrize("wrong", [-1, 600, 1 << 31, 1 << 32, 1 << 63, 1 << 80, -(1 << 80)])
def test_an_unknown_id_is_named(tokenizer: Tokenizer, wrong: int) -> None:
    said = re.escape(f"no token has the id {wrong}; ids go from 0 to 599")
    forms: list[Any] = [[5, wrong], (5, wrong), iter([5, wrong])]
    if -(1 << 63) <= wrong < 1 << 63:
        forms.append(np.array([5, wrong]))
    for ids in forms:
        with pytest.raises(ValueError, match=said):
            tokenizer.decode_batch([[6], ids])


def test_a_list_that_changes_while_it_is_read(tokenizer: Tokenizer) -> None:
    ids: list[Any] = []

    class Greedy:
        def __index__(self) -> int:
            ids.clear()
            return 270

    ids += [Greedy(), 271, 272]
    assert tokenizer.decode(ids) == tokenizer.decode([270])


def test_special_tokens_are_cut_at_each_place_the_longest(tokenizer: Tokenizer) -> None:
    special = tokenizer.with_special_tokens(["<s><s>", "é", "€uro", "€"])
    rng = random.Random(4)
    pattern = re.compile(
        "(" + "|".join(map(re.escape, sorted(special.special_tokens, key=len)[::-1])) + ")"
    )
    pieces = [*special.special_tokens, "<s", "a", " the", "\u00c3", "€u", "\n", "日本"]
    texts = ["".join(rng.choices(pieces, k=rng.randrange(12))) for _ in range(2000)]
    expected = [
        [
            id
            for part in pattern.split(text)
            for id in (
                [special.special_tokens[part]]
                if part in special.special_tokens
                else special.encode(part)
            )
        ]
        for text in texts
    ]
    assert special.encode_batch(texts, 2, allow_special=True) == expected
    arrays = special.encode_batch(texts, 2, allow_special=True, numpy=True)
    assert [ids.tolist() for ids in arrays] == expected
    for text, ids in zip(texts, expected, strict=True):
        assert special.encode(text, allow_special=True) == ids
        assert special.decode(ids) == text


def test_large_ids_in_lists() -> None:
    """Small ids are ints that all lists share; large ones are new."""
    for first in (0, 255, 65_535, (1 << 20) - 300, 1 << 23):
        core = _core.Encoder(["a", "b", "ab"], [1, 1, 1], fewest=False, first_id=first)
        assert core.encode("ab€b") == [first + 258, *(first + b for b in "€".encode()), first + 257]


@pytest.fixture
def collecting() -> Iterator[list[int]]:
    """The generations of the collections that took place."""
    seen: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            seen.append(info["generation"])

    gc.callbacks.append(note)
    yield seen
    gc.callbacks.remove(note)
    gc.enable()


@pytest.mark.parametrize("enabled", [True, False])
def test_a_batch_leaves_the_collector_as_it_was(
    tokenizer: Tokenizer, enabled: bool, collecting: list[int]
) -> None:
    texts = ["in New York"] * 50_000
    gc.enable() if enabled else gc.disable()
    gc.collect()
    collecting.clear()
    batch = tokenizer.encode_batch(texts)
    assert gc.isenabled() == enabled
    assert len(collecting) <= 5  # 50,000 lists are reason for 70
    assert all(map(gc.is_tracked, batch))  # a list that later holds itself is still found
    with pytest.raises(TypeError, match="item 1 of texts"):
        tokenizer.encode_batch(["a", None])  # type: ignore[list-item]
    assert gc.isenabled() == enabled


def test_text_by_text_does_not_wake_the_collector(
    tokenizer: Tokenizer, collecting: list[int]
) -> None:
    gc.collect()
    collecting.clear()
    all_ids = [tokenizer.encode("in New York") for _ in range(50_000)]
    assert gc.isenabled() and len(collecting) <= 5
    assert all(map(gc.is_tracked, all_ids))
    made = [{0: place} for place in range(1000)]  # other objects do
    assert collecting and len(made) == 1000


@pytest.mark.parametrize("text", HOSTILE)
def test_lists_and_arrays_agree(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    found = tokenizer.encode(text, numpy=True)
    assert found.dtype == np.int64 and found.flags.writeable and found.flags.owndata
    assert found.tolist() == ids
    assert all(type(id) is int for id in ids)
