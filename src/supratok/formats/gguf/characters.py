"""Bytes for llama.cpp's tokenizer "t5", which has none.

That tokenizer takes the best path over tokens, and one unknown token for every character that no
token has, which loses the text. But first it rewrites the text by a map of characters
(`precompiled_charsmap`), which maps the longest sequence of *bytes* that it knows. So we write a
map that keeps every character of the alphabet and turns every other byte into a private character,
and we spell the tokens of the bytes with these. With é outside the alphabet:

    "é"  →  bytes C3 A9  →  U+E0C3 U+E0A9  →  the tokens <0xC3> <0xA9>

A private character in the text is itself outside the alphabet, so it becomes its bytes: no two
texts become the same. Decoding has no such map: llama.cpp prints the text of a token, so a model
that generates the byte C3 prints U+E0C3.
"""

from __future__ import annotations

import itertools
import struct

from ...common.reserved import byte_name
from ..listing import Kind, Listing, swap_spaces

BLOCK = 256  # units that one byte distinguishes, and private characters for all bytes


def byte_spellings(listing: Listing) -> dict[str, str]:
    """The spelling of the tokens of bytes that are not spelt <0x41>: an ASCII character outside the
    alphabet as itself, a byte above ASCII as a private character."""
    alphabet = _alphabet(listing)
    start = _private_block(alphabet)
    ascii_ones = {
        byte_name(byte): swap_spaces(chr(byte))
        for byte in range(1, 0x80)
        if chr(byte) not in alphabet
    }
    return ascii_ones | {byte_name(byte): chr(start + byte) for byte in range(0x80, 0x100)}


def character_map(listing: Listing) -> bytes:
    """The map, in SentencePiece's layout: the size of a double array, the array, and the texts that
    its values point at, each ended by a NUL."""
    alphabet = _alphabet(listing)
    start = _private_block(alphabet)
    mapping = {bytes([byte]): chr(start + byte).encode() for byte in range(0x80, 0x100)}
    mapping |= {text.encode(): text.encode() for text in alphabet if ord(text) >= 0x80}
    texts = bytearray()
    places = {}
    for key, value in sorted(mapping.items()):
        places[key] = len(texts)
        texts += value + b"\0"
    units = _double_array(places)
    return struct.pack(f"<I{len(units)}I", 4 * len(units), *units) + bytes(texts)


def _alphabet(listing: Listing) -> set[str]:
    return {row.text for row in listing.rows if row.kind is Kind.NORMAL and len(row.text) == 1}


def _private_block(alphabet: set[str]) -> int:
    """The first aligned block of 256 private characters that the alphabet does not use."""
    for start in itertools.chain(range(0xE000, 0xF800, BLOCK), range(0xF0000, 0xFFF00, BLOCK)):
        if not any(start <= ord(text) < start + BLOCK for text in alphabet):
            return start
    raise ValueError(
        "the alphabet uses every block of private characters, so none is free for bytes; train on"
        " text without private characters"
    )


def _double_array(places: dict[bytes, int]) -> list[int]:
    """A trie in one array, in the layout of Darts-clone. A node at index i with base b has its
    child by byte c at b ^ c, where the unit names c; its value, if it has one, is at b. A unit
    holds i ^ b from bit 10 on, and in bit 8 whether there is a value.

    Invariant: no two nodes share a base, so no node finds another's children."""
    children: dict[bytes, list[int]] = {key: [] for key in [b"", *places]}
    for prefix in sorted({key[:end] for key in places for end in range(1, len(key) + 1)}):
        children.setdefault(prefix[:-1], []).append(prefix[-1])
    base = _bases({at: bytes_ + [0] * (at in places) for at, bytes_ in children.items()})
    units = [0] * ((max(base.values()) // BLOCK + 1) * BLOCK)
    for prefix in children:
        at = base[prefix[:-1]] ^ prefix[-1] if prefix else 0
        units[at] = (at ^ base[prefix]) << 10 | (prefix in places) << 8 | (prefix or b"\0")[-1]
    for key, place in places.items():
        units[base[key]] = 1 << 31 | place
    return units


def _bases(wanted: dict[bytes, list[int]]) -> dict[bytes, int]:
    """The first base of each node that has free places for its children and its value; nodes with
    most children first. Among nodes with one child, the search goes on where the last ended."""
    base: dict[bytes, int] = {}
    taken, used, first = {0}, {0}, 1
    for prefix, bytes_ in sorted(wanted.items(), key=lambda item: (-len(item[1]), item[0])):
        at = first
        while at in used or any(at ^ byte in taken for byte in bytes_):
            at += 1
        base[prefix] = at
        used.add(at)
        taken.update(at ^ byte for byte in bytes_)
        if len(bytes_) == 1:
            first = at
    return base
