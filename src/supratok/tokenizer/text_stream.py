"""`TextStream`: the ids of a text that comes piece by piece, as a chat or a transcript grows.

    stream, ids = tokenizer.encode_stream(), []
    for piece in ("in New", " York"):
        patch = stream.append(piece)         # Patch(keep=0, ...), then Patch(keep=1, ...)
        ids[patch.keep :] = patch.ids        # those of `encode` for all of the text so far

The core encodes plain text as it comes. Where special tokens are read, they end one text and begin
another, and the text of one may come in pieces: `<|im_`, `end|>`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .arguments import wrong_text, wrong_texts

if TYPE_CHECKING:
    from ..common import _core as core


class Patch(NamedTuple):
    """How the ids of a stream change: keep the first `keep` of them, then come `ids`."""

    keep: int
    ids: list[int]


class TextStream:
    """The ids of a text that comes piece by piece; `Tokenizer.encode_stream` makes one.

    >>> patch = stream.append("more text")      # doctest: +SKIP
    >>> ids[patch.keep:] = patch.ids            # doctest: +SKIP

    After each piece the ids are those that `encode` gives for all of the text. A stream belongs to
    one thread at a time.
    """

    def __init__(self, stream: core.TextStream[Patch]) -> None:
        self._stream = stream
        self._append: Callable[[str], Patch] = stream.append

    def append(self, text: str) -> Patch:
        """Add a piece of text. An error leaves the stream as it was."""
        try:
            return self._append(text)
        except (TypeError, UnicodeEncodeError) as error:
            raise wrong_text(text, error) from error

    def extend(self, pieces: Iterable[str]) -> Patch:
        """Add many pieces, and get one patch for all of them: several times faster than a patch
        after each, where nobody reads those in between."""
        pieces = list(pieces)
        try:
            return self._append("".join(pieces))
        except (TypeError, UnicodeEncodeError) as error:
            raise wrong_texts(pieces, error) from error

    @property
    def ids(self) -> list[int]:
        """The ids of the text so far, as a new list."""
        return self._stream.ids()

    @property
    def bytes(self) -> int:
        """The length of the text so far, in bytes of UTF-8."""
        return self._stream.bytes()


class SpecialStream(TextStream):
    """A stream that reads special tokens. The core's stream has the text behind the last special
    token that no more text can change; the ids before it are settled.

    A special token ends such a text, which is then encoded once more, without it. So all of the
    text is encoded twice at most, but for a text that ends in a special token with which a longer
    one begins: it is encoded again until that is decided."""

    def __init__(
        self,
        new_stream: Callable[[], core.TextStream[Patch]],
        encode: Callable[[str], list[int]],
        special: Iterable[str],
    ) -> None:
        super().__init__(new_stream())
        self._new_stream, self._encode = new_stream, encode
        self._special = Special(special)
        self._append = self._take
        self._settled: list[int] = []
        self._settled_bytes = 0
        self._pieces: list[str] = []  # the text behind them
        self._near = ""  # the end of that text which more text may make a special token

    @property
    def ids(self) -> list[int]:
        return self._settled + self._encode("".join(self._pieces))

    @property
    def bytes(self) -> int:
        return self._settled_bytes + sum(len(piece.encode()) for piece in self._pieces)

    def _take(self, text: str) -> Patch:
        if not isinstance(text, str):
            raise TypeError(type(text))
        text.encode()  # fails before anything changes
        near = self._near + text
        if self._special.within(near):
            return self._cut("".join((*self._pieces, text)))
        keep, ids = self._stream.append(text)
        self._pieces.append(text)
        self._near = self._special.end_of(near)
        return Patch(len(self._settled) + keep, ids)

    def _cut(self, text: str) -> Patch:
        """The text behind the settled ids now has a special token in it."""
        before, after = self._encode("".join(self._pieces)), self._encode(text)
        first, same = len(self._settled), _same(before, after)
        end = self._special.settled(text)
        settled, rest, stream = self._encode(text[:end]), text[end:], self._new_stream()
        stream.append(rest)
        self._settled += settled
        self._settled_bytes += len(text[:end].encode())
        self._pieces, self._stream = [rest], stream
        self._near = rest if self._special.within(rest) else self._special.end_of(rest)
        return Patch(first + same, after[same:])


class Special:
    """The special tokens in a text: the leftmost first, of those at one place the longest."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = sorted(texts, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, self._texts)))
        self._longest = len(self._texts[0])

    def within(self, text: str) -> bool:
        return self._pattern.search(text) is not None

    def end_of(self, text: str) -> str:
        """The end of a text in which a special token may have begun."""
        return text[max(0, len(text) - self._longest + 1) :]

    def settled(self, text: str) -> int:
        """The end of the last special token that stays one whatever text follows. With "<a>" and
        "<a><b>", the text "<a><" settles nothing."""
        first = max(0, len(text) - self._longest + 1)
        begun = [place for place in range(first, len(text)) if self._begins(text[place:])]
        end = 0
        for found in self._pattern.finditer(text):
            if any(end <= place <= found.start() for place in begun):
                break  # a longer one, or one that begins earlier, may yet come
            end = found.end()
        return end

    def _begins(self, text: str) -> bool:
        return any(one.startswith(text) and one != text for one in self._texts)


def _same(left: Sequence[int], right: Sequence[int]) -> int:
    """How many ids, from the first on, are the same in both."""
    pairs = enumerate(zip(left, right, strict=False))
    differing = itertools.dropwhile(lambda pair: pair[1][0] == pair[1][1], pairs)
    return next((place for place, _ in differing), min(len(left), len(right)))
