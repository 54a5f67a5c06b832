"""Lines of JSON in the core: exactly what Python's json makes of them, or left to Python."""

from __future__ import annotations

import hashlib
import json
import random

import pytest

from supratok.common import _core
from supratok.corpus.faults import is_text

ALL = 2**64 - 1


def plain_digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def test_digest_is_that_of_hashlib() -> None:
    noise = random.Random(1)
    sizes = [*range(301), 1023, 1024, 1025, 65_536, 1_000_003]
    for size in sizes:
        for characters in ("abc \n\0", "aé日😀"):
            text = "".join(noise.choices(characters, k=size))
            assert _core.digest(text) == plain_digest(text)


def sift(
    data: bytes, key: str = "text", longest: int = 1 << 20
) -> tuple[list[str], list[tuple[int, bytes]]]:
    """The texts that the core finds, and the odd lines with their numbers."""
    sieve = _core.Sieve(key, longest, ALL)  # holds out every text, so that it comes back
    _core.WordTable(4).count([_core.Lines(sieve, 0, 1, [data])], 1)
    sieve.wait()
    documents, held_out, characters, odd, texts = sieve.take()
    assert documents == held_out == len(texts) and characters == 0
    assert all(code == plain_digest(text) for text, code in texts)
    return [text for text, _ in texts], [(number, line) for _, number, line in odd]


def plain(line: bytes, key: str = "text") -> str | None:
    """The text of a line by Python's json; None if there is none."""
    try:
        text = json.JSONDecoder().decode(line.decode())[key]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return text if is_text(text) else None


PLAIN = [
    b'{"text": "a"}',
    b' {"id": 7, "text" : "a b" , "more": [1, {"text": "no"}, [], {}, ""]}\r',
    b'{"a": -0.5e+10, "b": true, "c": false, "d": null, "e": 0, "f": 1E5, "text": "x"}',
    b'{"text": "\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u65e5\\ud83d\\ude00\\u0000 \x7f"}',
    '{"titel é": "ü", "text": "çé 日本 😀 \U0010ffff"}'.encode(),
    b'{"text": ""}',
    b'{"text":"' + b"x" * 100 + b'\\n"}',
]
ODD = [
    b"{}",
    b"[]",
    b'"text"',
    b"null",
    b'{"text": 1}',
    b'{"text": null}',
    b'{"body": "a"}',
    b'{"text": "a", "text": "b"}',
    b'{"te\\u0078t": "a"}',
    b'{"te\\u0078t": "a", "text": "b"}',
    b'{"text": "a"} x',
    b'{"text": "a"',
    b'{"text": "a',
    b'{"text": "a",}',
    b'{"text" "a"}',
    b'{"text": "a" "b": 1}',
    b'{"text": "a", "n": NaN}',
    b'{"text": "a", "n": -Infinity}',
    b'{"text": "a", "n": 01}',
    b'{"text": "a", "n": 1.}',
    b'{"text": "a", "n": .5}',
    b'{"text": "a", "n": +1}',
    b'{"text": "a", "n": -}',
    b'{"text": "a", "n": 1e}',
    b'{"text": "a", "n": truth}',
    b'{"text": "a", "n": tru}',
    b'{"text": "a", "n": [1,]}',
    b'{"text": "a", "n": [,1]}',
    b'{"text": "a", "n": {"a"}}',
    b'{"text": "a", "n": ' + b"9" * 5000 + b"}",
    b'{"text": "a", "n": ' + b"[" * 100 + b"]" * 100 + b"}",
    b'{"text": "a", "n": ' + b"[" * 100_000 + b"}",
    b'{"text": "a\tb"}',
    b'{"text": "a\0b"}',
    b'{"text": "a\\x"}',
    b'{"text": "a\\u12g4"}',
    b'{"text": "a\\u12"}',
    b'{"text": "\\ud800"}',
    b'{"text": "\\ud800\\ud800"}',
    b'{"text": "\\ud800x"}',
    b'{"text": "\\udc00"}',
    b'{"text": "a", "b": "\\udc00"}',
    b'{"text": "\xff"}',
    b'{"text": "\xc3"}',
    b'{"text": "\xc0\x80"}',
    b'{"text": "\xe0\x80\x80"}',
    b'{"text": "\xed\xa0\x80"}',
    b'{"text": "\xf0\x80\x80\x80"}',
    b'{"text": "\xf4\x90\x80\x80"}',
    b'{"text": "\xe6\x97',
    b'\xef\xbb\xbf{"text": "a"}',
    b"\xa0",
    b'\x0b{"text": "a"}',
]


@pytest.mark.parametrize("line", PLAIN)
def test_plain_lines_are_read(line: bytes) -> None:
    text = plain(line)
    assert text is not None and sift(line) == sift(line + b"\n") == ([text] if text else [], [])


@pytest.mark.parametrize("line", ODD)
def test_odd_lines_go_back(line: bytes) -> None:
    around = b'{"text": "before"}\n', b'\n{"text": "after \\n"}'
    found = sift(around[0] + line + around[1])
    assert found == (["before", "after \n"], [(2, line + b"\n")])
    assert sift(line) == ([], [(1, line)])


def test_blank_lines_and_long_lines() -> None:
    assert sift(b"\n \t\r\n\x0b\x0c\n\n") == ([], [])
    line = b'{"text": "a"}'
    for longest, texts in ((len(line), ["a"]), (len(line) - 1, [])):
        assert sift(line, longest=longest)[0] == texts
    assert sift(line + b"\r", longest=len(line))[1] == [(1, line + b"\r")]


def test_keys_of_any_kind() -> None:
    for key in ("", "é", "日本", "a b"):
        data = json.dumps({"text": "no", key: "yes"}, ensure_ascii=False).encode()
        assert sift(data, key) == (["yes"], [])
    for key in ('"', "\\", "\n", "é"):  # written with an escape
        data = json.dumps({key: "yes"}).encode()
        assert sift(data, key) == ([], [(1, data)])


def test_lines_are_counted_once() -> None:
    sieve = _core.Sieve("text", 99)
    lines = _core.Lines(sieve, 0, 1, [b'{"text": "one', b' two"}\n{"text":"one"}'])
    table = _core.WordTable(4)
    table.count([lines], 2)
    words, counts = table.rows()
    assert dict(zip(words, counts.tolist(), strict=True)) == {"one": 2, " two": 1}
    assert sieve.take() == (2, 0, 10, [], [])
    with pytest.raises(ValueError, match="counted already"):
        table.count([lines], 2)


def mutated(line: bytes, noise: random.Random) -> bytes:
    """A line with a few bytes changed, left out, put in or repeated."""
    data = bytearray(line)
    pieces = [b'"', b"\\", b"\\u", b"\\ud83d", b"\\udc00", b"{", b"}", b"[", b"]", b",", b":", b"1"]
    pieces += [b"-", b".", b"e", b"true", b"null", b"text", b'"text":', b" ", b"\r", b"\t", b"\0"]
    pieces += [
        b"\xc3",
        b"\xa9",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x98\x80",
        b"\xff",
        b"NaN",
        b'{"a":"b"}',
    ]
    for _ in range(noise.randint(0, 3)):
        at = noise.randint(0, len(data))
        end = min(len(data), at + noise.choice((0, 0, 1, 2, 9)))
        data[at:end] = noise.choice((b"", bytes(data[at:end]) * 2, noise.choice(pieces)))
    return bytes(data).replace(b"\n", b" ")


def check_mutations(seed: int, count: int) -> None:
    """A text that the core finds is the one that json finds; a line that json refuses is odd."""
    noise = random.Random(seed)
    lines = [mutated(noise.choice(PLAIN + ODD[:30]), noise) for _ in range(count)]
    for line in lines:
        texts, odd = sift(line)
        if odd:
            assert (texts, odd) == ([], [(1, line)])
        elif line.strip():
            text = plain(line)
            assert text is not None and texts == ([text] if text else [])
        else:
            assert texts == []
    texts, odd = sift(b"\n".join(lines))  # the same beside one another
    alone = [sift(line) for line in lines]
    assert texts == [text for found, _ in alone for text in found]
    assert [number for number, _ in odd] == [n for n, (_, bad) in enumerate(alone, 1) if bad]


def test_mutated_lines() -> None:
    check_mutations(0, 3_000)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_more_mutated_lines(seed: int) -> None:
    check_mutations(seed, 10_000)
