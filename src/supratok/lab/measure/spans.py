"""Every string of a text that could be a token, and the places where it occurs.

    text = Text.of(["ab ab ab"])
    spans = find_spans(text, least=2)
    spans.strings                            # "ab", " ab", "b ab", ... that are worth more than 2

`bound` needs them: it bounds what any vocabulary of such strings can do. A string is a number here.
Strings are found length by length: one of length n is a pair of one of length n - 1 and a
character, and is no more frequent. Occurrences stand in the order of the text, nine bytes for each,
so that tens of megabytes of text fit into memory, and reading them all touches it in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...common import _core
from ...learn.words import Kind
from ...recipe import Boundaries

LONGEST = 64  # characters of a string: `Boundaries.max_bytes`
_BLOCK = 1 << 18  # occurrences: what the caches of a processor hold
_SEPARATOR = 0  # between texts; characters are numbered from 1

Integers = NDArray[np.int64]
Places = NDArray[np.int32]
Marks = NDArray[np.bool_]


@dataclass(frozen=True)
class Text:
    """Texts as one row of characters, each text followed by a separator.

    `reach` has, for each place, the end of the longest string that may begin there; `copies` how
    often the text of this place occurs (words: their count); `open_end` the places that may be the
    last of a string, as a string of words does not end with the space before the next."""

    characters: Places
    reach: Places
    copies: Integers
    open_end: Marks

    @classmethod
    def of(cls, texts: Sequence[str] | Mapping[str, int]) -> Text:
        """Any string inside a text may be a token. A mapping counts equal texts."""
        characters, copies = _joined(texts)
        reach = np.minimum(_next(characters == _SEPARATOR), np.arange(len(characters)) + LONGEST)
        return cls(characters, reach.astype(np.int32), copies, np.ones(len(characters), bool))

    @classmethod
    def within(cls, texts: Sequence[str] | Mapping[str, int], rules: Boundaries) -> Text:
        """Only the strings that `rules` allow, of ASCII text. Rules that narrow the default
        (`whole_words`, `cross_sentence` and such) are ignored, so for them there are too many
        strings, which a bound may have: it stays below."""
        characters, copies = _joined(texts)
        if (characters > 128).any():
            raise ValueError("the text is not ASCII: the rules of other scripts are not known here")
        reach = _reach(characters, rules).astype(np.int32)
        return cls(characters, reach, copies, _open_end(characters))

    @property
    def size(self) -> int:
        """The number of characters, copies included."""
        return int(self.copies.sum())


def _joined(texts: Sequence[str] | Mapping[str, int]) -> tuple[Places, Integers]:
    joined = "".join(f"{text}\n" for text in texts)
    characters = np.frombuffer(joined.encode("utf-32-le"), np.uint32).astype(np.int32) + 1
    lengths = np.array([len(text) for text in texts], np.int64)
    counts = list(texts.values()) if isinstance(texts, Mapping) else [1] * len(lengths)
    copies = np.repeat(np.array(counts, np.int64), lengths + 1)
    ends = np.cumsum(lengths + 1) - 1
    characters[ends], copies[ends] = _SEPARATOR, 0
    return characters, copies


# --- Rules


def _next(marks: Marks) -> Integers:
    """For each place the first marked one from there on; the length of the row if there is none."""
    places = np.where(marks, np.arange(len(marks)), len(marks))
    return np.asarray(np.minimum.accumulate(places[::-1])[::-1])


def _shifted(row: NDArray[np.generic], by: int, fill: object) -> NDArray[np.generic]:
    """The row as seen one place earlier (`by` 1) or later (-1)."""
    found = np.full_like(row, fill)
    if by > 0:
        found[1:] = row[:-1]
    else:
        found[:-1] = row[1:]
    return found


_NONE = 9  # the kind of a separator
_KINDS = np.array([_NONE, *(_core.char_class(chr(code))[0] for code in range(128))])


def _kinds(characters: Places) -> tuple[Integers, Marks, Marks]:
    """The kind of each character; which are text; which are the space before a word."""
    kinds = _KINDS[characters]
    kinds[kinds == Kind.NEWLINE] = Kind.SPACE
    text = kinds <= Kind.NUMBER
    leading = (characters == ord(" ") + 1) & _shifted(text, -1, False).astype(bool)
    return kinds, text, leading


def _open_end(characters: Places) -> Marks:
    """Whether a string of words may end behind a character; see also `find_spans`."""
    return ~_kinds(characters)[2]


def _reach(characters: Places, rules: Boundaries) -> Integers:
    kinds, text, leading = _kinds(characters)
    here = np.arange(len(kinds))
    # A stretch of words: text, and single spaces before it. Other kinds stay among themselves.
    words = text | leading
    changed = words != _shifted(words, 1, False)
    changed |= ~words & (kinds != _shifted(kinds, 1, _NONE))
    breaks = _shifted(_next(changed | (kinds == _NONE)), -1, len(kinds)).astype(np.int64)
    # Whitespace may take the space before the word that follows.
    spaces = (kinds == Kind.SPACE) & ~leading
    breaks = np.where(spaces, _next(kinds != Kind.SPACE), breaks)
    reach = np.minimum(breaks, here + min(LONGEST, rules.max_bytes))
    reach = np.minimum(reach, _word_limit(kinds, text, rules.max_words))
    reach = np.minimum(reach, _digit_limit(kinds == Kind.NUMBER, rules.max_digits))
    return np.where(kinds == _NONE, here, reach)


def _word_limit(kinds: Integers, text: Marks, most: int) -> Integers:
    """Where the word begins that would be one too many. Words are rows of letters or of digits."""
    spoken = text & (kinds != Kind.PUNCTUATION)
    first = spoken & (kinds != _shifted(kinds, 1, _NONE))
    begins = np.append(np.flatnonzero(first), np.full(most + 1, len(kinds)))
    before = np.cumsum(first) - first
    room = most - (spoken & ~first)  # a string that begins inside a word has a part of it
    return np.asarray(begins[np.minimum(before + room, len(begins) - 1)])


def _digit_limit(digits: Marks, most: int) -> Integers:
    """Where the digit stands that would be one too many in a row."""
    here = np.arange(len(digits))
    ends = _next(~digits)
    first = digits & ~_shifted(digits, 1, False).astype(bool)
    long = _next(first & (ends - here > most)) + most
    inside = np.where(digits & (ends - here > most), here + most, len(digits))
    return np.minimum(long, inside)


# --- Occurrences


@dataclass(frozen=True)
class Spans:
    """The occurrences of strings, in the order of the text: `string` has the number of each
    occurrence's string. `least` and `times`: see `find_spans`."""

    text: Text
    least: int
    times: int
    number: int  # how many different strings there are
    starts: Places
    lengths: NDArray[np.uint8]
    string: Places

    @property
    def ends(self) -> Integers:
        return self.starts.astype(np.int64) + self.lengths

    @property
    def strings(self) -> list[str]:
        """The strings, in order of their numbers."""
        _, firsts = np.unique(self.string, return_index=True)
        codes = self.text.characters - 1
        return [
            "".join(map(chr, codes[start:end].tolist()))
            for start, end in zip(
                self.starts[firsts].tolist(), self.ends[firsts].tolist(), strict=True
            )
        ]

    def blocks(self) -> Iterator[slice]:
        """Parts of the occurrences, so that what is computed from them needs little memory. Each
        has more occurrences than there are strings, so that a sum for each string is cheap."""
        size = max(_BLOCK, 2 * self.number)
        return (slice(first, first + size) for first in range(0, len(self.starts), size))

    def kept(self, strings: Marks) -> Spans:
        """The marked strings alone, numbered anew."""
        kept, number = strings[self.string], np.cumsum(strings, dtype=np.int32) - 1
        return replace(
            self, number=int(strings.sum()), starts=self.starts[kept], lengths=self.lengths[kept],
            string=number[self.string[kept]],
        )  # fmt: skip


def find_spans(text: Text, least: int, times: int = 2) -> Spans:
    """All strings of two or more characters that occur so many `times` (1 or 2) and could save more
    than `least` tokens: c occurrences of n characters save at most c * (n - 1)."""
    places = np.flatnonzero(text.reach > np.arange(len(text.reach)) + 1)
    known = text.characters[places].astype(np.int64)
    found: list[_Level] = []
    numbers = 0
    for length in range(2, LONGEST + 1):
        inside = text.reach[places] >= places + length
        places, known = places[inside], known[inside]
        if not len(places):
            break
        longer = known * (int(text.characters.max()) + 1) + text.characters[places + length - 1]
        _, same = np.unique(longer, return_inverse=True)
        count = np.bincount(same, text.copies[places])[same].astype(np.int64)
        worth = (count * (length - 1) > least) & (count >= times) & _may_end(text, places, length)
        if worth.any():
            _, string = np.unique(same[worth], return_inverse=True)
            found.append(
                (places[worth].astype(np.int32), length, string.astype(np.int32) + numbers)
            )
            numbers += int(string.max()) + 1
        alive = (count >= times) & (count * (LONGEST - 1) > least)
        places, known = places[alive], same[alive]
    return Spans(text, least, times, numbers, *_ordered(found))


# Strings of one length: where they occur, the length, their numbers.
_Level = tuple[Places, int, Places]


def _may_end(text: Text, places: Integers, length: int) -> Marks:
    """A string of words does not end with the space before the next one; whitespace may."""
    whitespace = text.open_end[places] & _blank(text.characters[places])
    return np.asarray(text.open_end[places + length - 1] | whitespace)


def _blank(characters: Places) -> Marks:
    return np.isin(characters, [ord(char) + 1 for char in " \n\v\f\r"])


def _ordered(
    found: list[_Level],
) -> tuple[Places, NDArray[np.uint8], Places]:
    """By place; at the same place the shorter string first."""
    starts = np.concatenate([np.zeros(0, np.int32), *(level[0] for level in found)])
    lengths = [np.zeros(0, np.uint8), *(np.full(len(at), n, np.uint8) for at, n, _ in found)]
    strings = np.concatenate([np.zeros(0, np.int32), *(level[2] for level in found)])
    order = np.argsort(starts, kind="stable")
    return starts[order], np.concatenate(lengths)[order], strings[order]
