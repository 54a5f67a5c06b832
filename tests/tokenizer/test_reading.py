"""A file that `save` wrote is read fast, any other form of it slowly; both say the same."""

from __future__ import annotations

import hashlib
import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

from supratok import Recipe, Token, Tokenizer
from supratok.tokenizer.file import read_document, read_written
from supratok.tokenizer.ids import Layout

ODD = [
    '"',
    "\\",
    "\n",
    "\r",
    "\t",
    "\b",
    "\f",
    "\0",
    "\x1f",
    "\x7f",
    "\u2028",
    "é",
    "日",
    "🐈",
    "/",
]
ALPHABET = [*ODD, *"abc ,[]01u"]


def made(layout: bool = False) -> Tokenizer:
    tokens = [Token(char, place, "alphabet") for place, char in enumerate(ALPHABET)]
    tokens += [Token(a + b, 1 << 52, "multiword") for a in ODD for b in ("a", '"', "\\")]
    tokens += [Token("ab" * 40, 0, "imported"), Token("a, ", 10, "refined")]
    size = len(tokens)
    ids = Layout((0,), tuple(range(1, 257)), tuple(range(300, 300 + size)), (), {"\n\n": 290}, {})
    recipe = Recipe(vocab_size=1000, segmentation="fewest", special_tokens=("<s>",))
    return Tokenizer(tokens, recipe, {"a": [1.5, {"b": "é"}]}, ids if layout else None)


@pytest.fixture(params=[False, True], ids=["version 1", "version 2"])
def written(request: pytest.FixtureRequest, tmp_path: Path) -> bytes:
    made(request.param).save(tmp_path / "t.json")
    return (tmp_path / "t.json").read_bytes()


def checksum(document: dict[str, Any]) -> str:
    kept = {
        name: document[name] for name in document if name not in ("format", "version", "sha256")
    }
    canonical = json.dumps(kept, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def test_both_ways_read_the_same(written: bytes) -> None:
    fast = read_written(written)
    assert fast is not None and fast == read_document(written)
    assert json.loads(written)["sha256"] == checksum(json.loads(written))


@pytest.mark.parametrize(
    "form",
    [
        {"indent": 1},
        {"ensure_ascii": False},
        {"ensure_ascii": True, "separators": (",", ":")},
        {"ensure_ascii": False, "sort_keys": True, "indent": 4},
    ],
)
def test_other_forms_of_a_file_load(written: bytes, form: dict[str, Any], tmp_path: Path) -> None:
    data = json.dumps(json.loads(written), **form).encode()
    assert read_written(data) is None
    (tmp_path / "t.json").write_bytes(data)
    again = Tokenizer.load(tmp_path / "t.json")
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == written


def test_damage_is_found_both_ways(written: bytes, tmp_path: Path) -> None:
    """Whatever the fast way accepts, the slow way accepts too, and reads the same."""
    rng = random.Random(6)
    path = tmp_path / "t.json"
    whole = read_document(written)
    for _ in range(3000):
        place = rng.randrange(len(written))
        some = rng.choice(
            [b"", b" ", b"0", b"-", b'"', b"\\", b",", b"\n", b"]", b"\xff", b"\\u0061"]
        )
        data = written[:place] + some + written[place + rng.randrange(3) :]
        try:
            found = read_written(data)
        except ValueError:
            found = None
        assert found is None or found == whole == read_document(data)
    path.write_bytes(data := written.replace(b'"multiword"', b'"nonsense"', 1))
    with pytest.raises(ValueError, match="checksum does not match"):
        Tokenizer.load(path)
    path.write_bytes(data[:-3])
    with pytest.raises(ValueError, match="not JSON"):
        Tokenizer.load(path)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (["a", 1, "multiword"], r"tokens\[15\] and tokens\[\d+\] are the same"),
        (["", 1, "multiword"], r"tokens\[\d+\] is empty"),
        (["a" * 5000, 1, "multiword"], r"more than 4,096 bytes"),
        (["aa", 1, "nonsense"], "'nonsense', which is no pass"),
        (["aa", -1, "multiword"], "whole number from 0"),
        (["aa", 1 << 53, "multiword"], "whole number from 0"),
        (["aa", 1.5, "multiword"], "whole number from 0"),
        (["aa", True, "multiword"], "whole number from 0"),
        (["aa", 1, "multiword", 1], "a list of 3"),
        (["aa", "1", "multiword"], "whole number from 0"),
        ([1, 1, "multiword"], "a string"),
    ],
)
def test_rows_that_a_stranger_wrote_with_a_right_checksum(
    written: bytes, row: list[Any], said: str, tmp_path: Path
) -> None:
    document = json.loads(written)
    document["tokens"].append(row)
    before, line = json.loads(written)["sha256"], json.dumps(row)
    data = written.replace(b"\n]}\n", f",\n{line}\n]}}\n".encode())
    data = data.replace(before.encode(), checksum(document).encode())
    assert json.loads(data)["tokens"] == document["tokens"]
    (tmp_path / "t.json").write_bytes(data)
    with pytest.raises(ValueError, match=said):
        Tokenizer.load(tmp_path / "t.json")


def test_a_pickle_is_not_much_larger_than_its_texts() -> None:
    tokenizer = made(layout=True)
    data = pickle.dumps(tokenizer)
    again = pickle.loads(data)
    assert again.vocabulary == tokenizer.vocabulary
    assert (again.recipe, again.report, again.layout) == (
        tokenizer.recipe, tokenizer.report, tokenizer.layout,
    )  # fmt: skip
    text = "".join(ALPHABET) + "\n\n<s>"
    for special in (False, True):
        ids = tokenizer.encode(text, allow_special=special)
        assert again.encode(text, allow_special=special) == ids
        assert again.decode(ids) == text
