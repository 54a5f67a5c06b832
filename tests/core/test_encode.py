"""The encoder equals the plain rule, on any vocabulary and text, and stays linear."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from supratok.common import _core
from supratok.reference import merges as reference_merges
from texts import tight_text

REACHABLE, UNREACHABLE, OUT_OF_ORDER = range(3)

# Vocabularies over two letters, a space and a newline: dense in overlaps.
entries = st.lists(st.text("ab \n", min_size=2, max_size=6), unique=True, max_size=25)


def encoder(tokens: list[str], *, fewest: bool = False, alphabet: str = "ab \n") -> _core.Encoder:
    texts = list(alphabet) + tokens
    return _core.Encoder(texts, [1] * len(texts), fewest=fewest, first_id=0)


def pieces(core: _core.Encoder, text: str) -> list[bytes]:
    return [core.decode([id]) for id in core.encode(text)]


def check_states(ranks: dict[str, int], states: list[int]) -> None:
    """An entry is unreachable if its text encodes to others. `Tokenizer` refuses a list with an
    entry whose parts rank after it, so the states behind such an entry mean nothing."""
    for entry, state in zip(ranks, states, strict=True):
        alone = reference_merges.encode_by_merges(entry, ranks) == [entry]
        assert (state == UNREACHABLE) == (not alone)
        if state == OUT_OF_ORDER:
            break


@settings(max_examples=500)
@given(entries, tight_text)
def test_merges_equals_the_reference(tokens: list[str], text: str) -> None:
    core = encoder(tokens)
    states = core.states().tolist()
    ranks = {entry: rank for rank, entry in enumerate(list("ab \n") + tokens)}
    check_states(ranks, states)
    if OUT_OF_ORDER not in states:
        expected = [piece.encode() for piece in reference_merges.encode_by_merges(text, ranks)]
        assert pieces(core, text) == expected
        assert core.count(text) == len(expected)


@settings(max_examples=500)
@given(st.lists(st.lists(st.text("ab \n", min_size=2, max_size=6), max_size=9)), tight_text)
@example([["aab"], ["aa", "ba", " aa", " aaba"]], "")
def test_ties_equal_the_reference(groups: list[list[str]], text: str) -> None:
    """Entries that share a rank, shorter ones first: the leftmost join wins, whatever its text."""
    ranks: dict[str, int] = {char: rank for rank, char in enumerate("ab \n")}
    tied: list[int] = []
    for group in groups:
        fresh = sorted(set(group) - set(ranks), key=lambda entry: (len(entry), entry))
        tied += range(len(ranks) + 1, len(ranks) + len(fresh))
        ranks |= dict.fromkeys(fresh, len(ranks))
    core = _core.Encoder(list(ranks), [1] * len(ranks), fewest=False, first_id=0, tied=tied)
    states = core.states().tolist()
    check_states(ranks, states)
    if OUT_OF_ORDER not in states:
        expected = [piece.encode() for piece in reference_merges.encode_by_merges(text, ranks)]
        assert pieces(core, text) == expected
        assert core.count(text) == len(expected)


def test_tied_runs_grow_from_the_left() -> None:
    """As the runs of spaces in SentencePiece models, which all have the same score: "aaaaaaa" is
    aaaa aaa, and not aa aa aa a, then aaaa aa a, and so on."""
    texts = ["a", "aa", "aaa", "aaaa"]
    tied = _core.Encoder(texts, [1] * 4, fewest=False, first_id=0, tied=[2, 3])
    assert pieces(tied, "a" * 7) == [b"aaaa", b"aaa"]
    assert pieces(encoder(texts[1:], alphabet="a"), "a" * 6) == [b"aaaa", b"aa"]
    for wrong in ([1], [0], [9]):
        with pytest.raises(ValueError, match="cannot be tied"):
            _core.Encoder(texts, [1] * 4, fewest=False, first_id=0, tied=wrong)


@given(entries, tight_text, st.booleans(), st.randoms())
def test_any_ids(tokens: list[str], text: str, fewest: bool, rng: random.Random) -> None:
    """With ids of their own, bytes and entries are found where they were put."""
    plain = encoder(tokens, fewest=fewest)
    ids = rng.sample(range(2000), 256 + 4 + len(tokens))
    texts = [*"ab \n", *tokens]
    core = _core.Encoder(texts, [1] * len(texts), fewest=fewest, first_id=0, ids=ids)
    text += "é"
    assert core.encode(text) == [ids[place] for place in plain.encode(text)]
    assert core.decode(core.encode(text)) == text.encode()
    assert core.encode_with_offsets(text)[1] == plain.encode_with_offsets(text)[1]
    assert core.usage([text], 1).nonzero()[0].tolist() == sorted(set(core.encode(text)))
    unknown = next(id for id in range(2001) if id not in ids)
    with pytest.raises(IndexError, match=f"no token has the id {unknown}"):
        core.decode([unknown])


def test_bad_ids_are_refused() -> None:
    for ids, message in (
        ([1, 2], "as many ids"),
        ([7] * 257, "the id 7 is given twice"),
        ([*range(256), 2**31 - 2], "the id 2147483646 is too large: at most 16777216"),
    ):
        with pytest.raises(ValueError, match=message):
            _core.Encoder(["a"], [1], fewest=False, first_id=0, ids=ids)


@settings(max_examples=500)
@given(entries, tight_text)
def test_fewest_equals_the_reference(tokens: list[str], text: str) -> None:
    core = encoder(tokens, fewest=True)
    expected = reference_merges.encode_by_fewest(text, set("ab \n") | set(tokens))
    assert pieces(core, text) == [piece.encode() for piece in expected]
    assert core.count(text) == len(expected)


# Tokens with characters outside the alphabet: é, which has two bytes, and 中, which has three.
outside = st.lists(st.text("abé中", min_size=2, max_size=4), unique=True, max_size=12)


def in_bytes(pieces: list[str], known: set[str]) -> list[bytes]:
    """The pieces, and each byte of a character that is not known."""
    alone = [[p.encode()] if p in known else [bytes([b]) for b in p.encode()] for p in pieces]
    return [piece for some in alone for piece in some]


@settings(max_examples=500)
@given(outside, st.text("abé中", max_size=12))
@example(["aé"], "aé")
@example(["éa", "abb"], "éabb")
def test_tokens_with_characters_outside_the_alphabet(tokens: list[str], text: str) -> None:
    """Under `fewest` each encodes to itself; under merges none does, and the core says so."""
    known = {"a", "b", *tokens}
    core = encoder(tokens, fewest=True, alphabet="ab")
    expected = in_bytes(reference_merges.encode_by_fewest(text, known), known)
    assert pieces(core, text) == expected
    assert core.count(text) == len(expected)
    assert [core.encode(token) for token in tokens] == [[258 + i] for i in range(len(tokens))]
    fewer = [reference_merges.encode_by_fewest(token, known - {token}) for token in tokens]
    lengths = [len(in_bytes(some, known - {t})) for some, t in zip(fewer, tokens, strict=True)]
    assert core.parts_without().tolist()[2:] == lengths
    merged = encoder(tokens, alphabet="ab")
    states, ranks = merged.states().tolist(), {t: i for i, t in enumerate(["a", "b", *tokens])}
    check_states(ranks, states)
    if OUT_OF_ORDER not in states:
        by_merges = reference_merges.encode_by_merges(text, ranks)
        assert pieces(merged, text) == in_bytes(by_merges, known)


def check_fewest(tokens: list[str], alphabet: str, text: str) -> None:
    core = encoder(tokens, fewest=True, alphabet=alphabet)
    known = {*alphabet, *tokens}
    expected = in_bytes(reference_merges.encode_by_fewest(text, known), known)
    assert pieces(core, text) == expected
    assert core.count(text) == len(expected)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.01, 0.2]), st.booleans())
def test_fewest_over_many_blocks(seed: int, unknown: float, complete: bool) -> None:
    """Long texts are encoded block by block, cut where no token crosses; some cuts are far apart,
    and with a character outside the alphabet, or a token with one, there are others."""
    rng = random.Random(seed)
    letters = "ab中"
    tokens = {"".join(rng.choices(letters, k=rng.randint(2, 7))) for _ in range(rng.randint(1, 40))}
    tokens |= {"ab" * rng.randint(2, 30)} if complete else {"aé" * rng.randint(1, 3)}
    words = [*tokens, *letters, "é", "\n"]
    weights = [1.0] * (len(words) - 2) + [unknown, unknown]
    text = "".join(rng.choices(words, weights, k=rng.randint(0, 700)))
    check_fewest(sorted(tokens), letters + "\n", text)


@pytest.mark.parametrize("longest", [2, 63, 64, 65, 255, 256, 257, 600])
@pytest.mark.parametrize("alphabet", ["a", "ab", "abc"])
def test_fewest_with_long_tokens(longest: int, alphabet: str) -> None:
    """A mask has room for 64 bytes, and a size for 255; without b the alphabet is incomplete, and
    without c a character is outside it."""
    tokens = ["a" * longest, "a" * (longest - 1) + "b", "b" + "a" * (longest // 2), "aa"]
    tokens = [token for token in dict.fromkeys(tokens) if len(token) > 1]
    rng = random.Random(longest)
    for size in (1, 62, 63, 64, 65, 511, 512, 513, 2000):
        text = "".join(rng.choices("abc", (200, 2, 1), k=size))
        check_fewest(tokens, alphabet, text)
        check_fewest(tokens, alphabet, "a" * size)


@pytest.mark.parametrize("tokens", [["ab", "bab"], ["ab", "é" * 40], ["ab", "bé"]])
def test_fewest_is_the_same_in_any_surroundings(tokens: list[str]) -> None:
    """No token crosses a newline, so lines can be encoded alone; here over many blocks, and longer
    than what is searched before a cut is looked for."""
    rng = random.Random(8)
    core = encoder(tokens, fewest=True)
    lines = ["".join(rng.choices("abé", (9, 9, 1), k=rng.randint(0, 3000))) for _ in range(40)]
    alone = [id for line in lines for id in core.encode(line + "\n")]
    assert core.encode("\n".join([*lines, ""])) == alone
    assert core.count("\n".join([*lines, ""])) == len(alone)


@given(entries)
def test_parts_without_equals_the_reference(tokens: list[str]) -> None:
    every = set("ab \n") | set(tokens)
    fast = encoder(tokens, fewest=True).parts_without().tolist()[4:]
    assert fast == [len(reference_merges.encode_by_fewest(t, every - {t})) for t in tokens]


def test_worked_example() -> None:
    """Checked by hand. Ranks: ab 0, bc 1, abc 2, cd 3.

    "abcd": lowest first is ab (0) -> ab c d; then abc (2) -> abc d; cd (3) is no longer there.
    "bcd":  bc (1) -> bc d; cd is no longer there.
    "acd":  cd (3) -> a cd.
    fewest "abcd": abc+d and ab+cd take two each; the longest last token wins: ab cd.
    """
    tokens = ["ab", "bc", "abc", "cd"]
    merges = encoder(tokens, alphabet="abcd")
    assert [b" ".join(pieces(merges, t)) for t in ("abcd", "bcd", "acd")] == [
        b"abc d", b"bc d", b"a cd",
    ]  # fmt: skip
    assert pieces(encoder(tokens, alphabet="abcd", fewest=True), "abcd") == [b"ab", b"cd"]


def test_leftmost_first_among_equals() -> None:
    assert pieces(encoder(["aa"]), "aaa") == [b"aa", b"a"]
    assert pieces(encoder(["aa"], fewest=True), "aaa") == [b"a", b"aa"]  # the longest last token


@pytest.mark.parametrize("fewest", [False, True])
@pytest.mark.parametrize(
    "unit", ["a", " ", "🙂", "ab", "aab", "".join(map(chr, range(256))), "日本語", "\n"]
)
def test_a_megabyte_of_anything(unit: str, fewest: bool) -> None:
    """Quadratic work would not come back from this: a megabyte has a trillion pairs of places."""
    tokens = ["aa", "aaaa", "a" * 8, "a" * 16, "ab", "aab", "aaba", "  ", "    ", "abab", "baab"]
    core = encoder(tokens, fewest=fewest)
    text = unit * (1_000_000 // len(unit.encode()) + 1)
    assert core.decode(core.encode(text)).decode() == text
    short = unit * (300 // len(unit))
    ranks = {entry: rank for rank, entry in enumerate(list("ab \n") + tokens)}
    plain = reference_merges.encode_by_fewest(short, set(ranks)) if fewest else \
        reference_merges.encode_by_merges(short, ranks)  # fmt: skip
    assert b"".join(pieces(core, short)) == "".join(plain).encode()
    known = [p.encode() for p in plain if p in ranks]
    assert [p for p in pieces(core, short) if p.decode("latin-1") in ranks] == known


def test_random_bytes_read_as_latin_1() -> None:
    data = random.Random(5).randbytes(1_000_000).decode("latin-1")
    for fewest in (False, True):
        core = encoder(["ab", "aa", "ba"], fewest=fewest)
        assert core.decode(core.encode(data)).decode() == data


def test_unknown_characters_become_their_bytes() -> None:
    core = encoder(["ab"])
    assert core.encode("abéab") == [256 + 4, 0xC3, 0xA9, 256 + 4]


def test_out_of_order_and_unreachable_entries_are_told_apart() -> None:
    # "ba" ranks first, so "aba" and "abab" can only be joined from the a before it: never "ab".
    assert encoder(["ba", "ab", "aab"]).states().tolist()[4:] == [0, 0, 0]
    assert encoder(["bab", "ab", "ba"]).states().tolist()[4] == OUT_OF_ORDER
    assert encoder(["ab", "ba", "bba", "aba"]).states().tolist()[4:] == [0, 0, 0, 0]
    assert encoder(["aaa"]).states().tolist()[4] == UNREACHABLE


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a", "a"], "twice"),
        (["a", ""], "empty"),
        (["a", "aa", "b"], "must rank before"),
        (["a", "a" * 4097], "a token of 4097 bytes: at most 4096"),
    ],
)
def test_bad_vocabularies_are_refused(texts: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _core.Encoder(texts, [1] * len(texts), fewest=False, first_id=0)


def test_a_long_token_is_as_good_as_any() -> None:
    core = encoder(["ab" * 2048], fewest=True)
    assert core.encode("ab" * 2048) == [260]


def test_weights_may_be_huge() -> None:
    texts = ["a", "b", "ab"]
    for weights in ([2**63 - 1] * 3, [-(2**63)] * 3):
        core = _core.Encoder(texts, weights, fewest=False, first_id=0)
        assert core.encode("ab") == [258]


def test_no_parts_of_an_entry_that_is_not_there() -> None:
    core = encoder(["ab"])
    assert core.parts(4) == (0, 1)
    for entry in (5, 10**9):
        with pytest.raises(IndexError):
            core.parts(entry)


def test_no_entries_at_all() -> None:
    core = _core.Encoder([], [], fewest=False, first_id=0)
    assert core.encode("hé") == list("hé".encode())


def test_bytes_nul_and_255_in_the_trie() -> None:
    core = _core.Encoder(["\0", "ÿ", "\0ÿ", "ÿ\0"], [1] * 4, fewest=False, first_id=0)
    assert core.encode("\0ÿ\0") == [256 + 2, 256 + 0]


def test_usage_counts_ids() -> None:
    core = encoder(["ab"])
    texts = ["abab", "aé"]
    expected = np.bincount([id for t in texts for id in core.encode(t)], minlength=261)
    assert core.usage(texts, 2).tolist() == expected.tolist()
