"""Long texts: encoded in parts, read from a str in pieces, written straight to an array."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest

from run_scripts import script
from supratok.common import _core

PART = 1 << 15  # bytes that are encoded together where there is a border
WIDTHS = {"ASCII": "x", "Latin-1": "é", "two bytes": "語", "four bytes": "🙂"}
RULES = ("merges", "fewest")


def vocabulary(number: int, rule: str) -> tuple[_core.Encoder, object, list[str]]:
    """A made-up encoder, the plain rule, and pieces for texts."""
    made_up, rng = script("made_up"), random.Random(number)
    made = made_up.settled(made_up.made_vocabulary(rng, number), rule, rng)
    core = _core.Encoder(**made.arguments(fewest=rule == "fewest"))
    return core, script("ids").Plain(made), [*made.ranks(), *made.foreign]


def expected(plain: object, rule: str, text: str) -> list[int]:
    ids: list[int] = plain.numbered(getattr(plain, rule)(text))  # type: ignore[attr-defined]
    return ids


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("number", range(12))
def test_parts_are_encoded_as_if_together(number: int, rule: str) -> None:
    core, plain, pieces = vocabulary(number, rule)
    rng = random.Random(number)
    text = "".join(rng.choices(pieces, k=2 * PART))[: 2 * PART]
    for long in (text, text[:PART] + "\n" + text[PART:]):
        wanted = expected(plain, rule, long)
        assert core.encode(long) == wanted
        assert core.encode_array(long).tolist() == wanted
        assert core.encode_batch([long], 1, False) == [wanted]
        assert core.count(long) == len(wanted)


@pytest.mark.parametrize("char", WIDTHS.values(), ids=list(WIDTHS))
@pytest.mark.parametrize("rule", RULES)
def test_every_width_of_str(char: str, rule: str) -> None:
    """A batch reads the UTF-8 that a str keeps, `encode` its characters."""
    entries = ["a", "b", " ", "é", "語", "ab", " ab", "ab ab", "語語", "aa", "aaaa"]
    core = _core.Encoder(entries, [1] * len(entries), fewest=rule == "fewest", first_id=7)
    rng = random.Random(3)
    for size in (1 << 14, (1 << 14) + 1, PART, 3 * PART + 5):
        some = rng.choices(["a", "b", " ab", "ab ab\n", "aaaa", char, "zzzz" * 8], k=size)
        text = "".join(some)[: size - 1] + char
        assert len(text) == size
        ids = core.encode(text)
        assert [ids] == core.encode_batch([text], 1, False)
        assert ids == core.encode_array(text).tolist()
        assert core.decode(ids) == text.encode()


def test_more_ids_than_foreseen() -> None:
    """An array of so many ids is made only for texts that need it: it grows on the way."""
    core = _core.Encoder(["a"], [1], fewest=False, first_id=0)
    text = "🙂" * (1 << 22) + "b" * (1 << 20)
    found = core.encode_array(text)
    assert found.dtype == np.int64 and found.base is None
    assert found.tobytes() == np.frombuffer(text.encode(), np.uint8).astype(np.int64).tobytes()


@pytest.mark.parametrize("place", [0, 20_000, 99_999])
def test_a_lone_surrogate_has_pythons_error(place: int) -> None:
    core = _core.Encoder(["a"], [1], fewest=False, first_id=0)
    text = "a" * place + "\udc80" + "a" * (99_999 - place)
    for encode in (core.encode, core.encode_array):
        with pytest.raises(UnicodeEncodeError, match="surrogates not allowed"):
            encode(text)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="that wheel does not look into a str")
def test_a_str_keeps_no_second_copy() -> None:
    """`sys.getsizeof` counts the UTF-8 that a str keeps."""
    core = _core.Encoder(["a"], [1], fewest=False, first_id=0)
    text = "語" * 100_000
    before = sys.getsizeof(text)
    core.encode(text)
    core.encode_array(text)
    assert sys.getsizeof(text) == before
