"""The merges rule in two levels: words looked up whole, then phrases over their ids."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from supratok.common import _core
from supratok.reference import merges as reference_merges

# The alphabet has a zero byte, which is no padding, and letters of two and three bytes.
ALPHABET = "abcdef .\n\0é語"
FOREIGN = "🙂ж"


def joins(rng: random.Random, chars: str, words: int, phrases: int) -> list[str]:
    """Entries, each joined from two earlier ones: inside words, then of any two."""
    entries, wanted = list(chars), len(chars) + words
    for _ in range(20 * (words + phrases)):
        left, right = rng.choice(entries), rng.choice(entries[-2 * words :])
        text = left + right
        if len(entries) == wanted + phrases:
            break
        one_word = " " not in text[1:] and "\n" not in text
        if text not in entries and len(text.encode()) < 40 and (one_word or len(entries) >= wanted):
            entries.append(text)
    return entries


def reachable(entries: list[str]) -> list[str]:
    """Those that the rule makes, in an order that it can follow."""
    states = _core.Encoder.states_of(entries).tolist()
    kept = [entry for entry, state in zip(entries, states, strict=True) if state == 0]
    return kept if len(kept) == len(entries) else reachable(kept)


def encoder(entries: list[str]) -> _core.Encoder:
    return _core.Encoder(entries, [1] * len(entries), fewest=False, first_id=0)


def expected(text: str, entries: list[str]) -> list[int]:
    ranks = {entry: rank for rank, entry in enumerate(entries)}
    ids: list[int] = []
    for piece in reference_merges.encode_by_merges(text, ranks):
        ids += [256 + ranks[piece]] if piece in ranks else list(piece.encode())
    return ids


def texts(rng: random.Random, entries: list[str]) -> list[str]:
    """Words of the vocabulary, halves of them, noise, and one after the other: the encoder
    changes its way where the text is not made of words, after 64 bytes for a kilobyte."""
    words = "".join(rng.choice(entries) for _ in range(rng.randint(0, 60)))
    halves = "".join(rng.choice(entries)[rng.randint(0, 3) :] for _ in range(40))
    noise = "".join(rng.choices(ALPHABET + FOREIGN, k=rng.randint(0, 1500)))
    return [words, halves, noise, words + noise[:400] + halves, *(words[:n] for n in range(20))]


@pytest.mark.parametrize("seed", range(40))
def test_two_levels_are_the_rule(seed: int) -> None:
    rng = random.Random(seed)
    chars = ALPHABET[: rng.randint(2, len(ALPHABET))]
    entries = reachable(joins(rng, chars, rng.randint(0, 60), rng.randint(0, 60)))
    core = encoder(entries)
    for text in texts(rng, entries):
        for _ in range(2):  # the second time it remembers
            assert core.encode(text) == expected(text, entries)
        assert core.count(text) == len(expected(text, entries))


def test_parts_of_every_size_are_found() -> None:
    """A part is looked up by its bytes, up to 16 of them, or by its hash."""
    chars = "ab "
    entries = list(chars)
    for size in range(2, 40):
        entries.append("ab"[size % 2] + entries[-1] if size > 2 else "ab")
    entries = reachable(entries)
    core = encoder(entries)
    for entry in entries:
        for text in (entry, f"{entry} ", f" {entry}", f"{entry} {entry} {entry}"):
            assert core.encode(text) == expected(text, entries)


def test_zero_bytes_are_text() -> None:
    entries = ["\0", "a", "a\0", "a\0\0", "\0\0"]
    entries = reachable(entries)
    core = encoder(entries)
    for text in ("a", "a\0", "a\0\0", "a\0\0\0", "\0", "\0\0\0", "a" + "\0" * 20):
        assert core.encode(text) == expected(text, entries)


def test_a_long_row_of_phrases() -> None:
    """All tokens are neighbours inside a phrase: one row, longer than the short way takes."""
    entries = ["a", " ", " a", " a a", " a a a a", " a a a"]
    entries = reachable(entries)
    core = encoder(entries)
    for count in (1, 2, 3, 47, 48, 49, 50, 51, 500):
        assert core.encode(" a" * count) == expected(" a" * count, entries)


def test_encoders_do_not_share_what_they_remember() -> None:
    """Two vocabularies take turns in many threads; each thread remembers parts of both."""
    rng = random.Random(5)
    both = [reachable(joins(rng, "abcdef ", 20, 20)) for _ in range(2)]
    cores = [encoder(entries) for entries in both]
    some = ["".join(rng.choices("abcdef ", k=60)) for _ in range(50)]
    wanted = [[expected(text, entries) for entries in both] for text in some]

    def encode(_: int) -> list[list[list[int]]]:
        return [[core.encode(text) for core in cores] for text in some]

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(encode, range(8)):
            assert found == wanted
    for place, core in enumerate(cores):
        assert core.encode_batch(some * 20, 4, False) == [one[place] for one in wanted] * 20


def test_phrases_that_rank_first_keep_the_old_way() -> None:
    """Where almost all entries rank after a phrase, levels would not pay."""
    entries = ["a", "b", " ", "a b"]
    rng = random.Random(7)
    entries = reachable([*entries, *joins(rng, "ab ", 60, 0)[3:]])
    core = encoder(entries)
    for text in texts(rng, entries):
        assert core.encode(text) == expected(text, entries)
