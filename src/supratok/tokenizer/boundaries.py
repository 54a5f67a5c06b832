"""Exact at the ends of texts: which ids a continuation may change, and which may come next.

Tokens cross words, so the last ids of a prompt depend on what follows:

    tokenizer.encode("in New")           # in| New
    tokenizer.encode("in New York")      # in| New York

`AtBoundaries` is the part of a `Tokenizer` that answers what follows from it; docs/boundaries.md
tells the whole story, core/boundaries.hpp has the algorithms and their proofs.
"""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from ..common import _core as core
from .arguments import list_of_ids, wrong_text
from .text_stream import Patch, SpecialStream, TextStream
from .vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ids = Sequence[int] | NDArray[np.integer[Any]]
    Coder = core.Encoder | core.Cutting

Answer = TypeVar("Answer")


class Stable(NamedTuple):
    """The ids that no continuation of a text changes, as many as there are, and the text behind
    them."""

    ids: list[int]
    rest: str


class Cover(NamedTuple):
    """One way in which a text goes on: after these ids the next token begins with `rest`, the end
    of the text, and is longer. If `rest` is empty, a token ends where the text ends."""

    ids: list[int]
    rest: str


class Pair(NamedTuple):
    """The ids of two texts joined; `at`: the first id that touches the second, len(ids) if none
    does; `inside`: whether that id also touches the first."""

    ids: list[int]
    at: int
    inside: bool


class AtBoundaries(Vocabulary):
    """What a `Tokenizer` knows about the ends of texts. Everything is exact, for both rules.

    Special tokens end one text and begin another: ids are canonical if each stretch between special
    tokens is. A tokenizer that puts a space before each text, or cuts texts out first (`layout`,
    of some imported ones) has no methods that look beyond a text's end; they raise a ValueError.
    """

    _core: core.Encoder
    _coder: Coder
    _special_coder: Coder

    # --- Texts that go on

    def stable(self, text: str, *, allow_special: bool = False) -> Stable:
        """The ids that no continuation of the text can change, as many as possible, and the text
        behind them.

        >>> tokenizer.stable("in New")      # doctest: +SKIP
        Stable(ids=[288], rest=' New')
        """
        head, (ids, rest) = self._behind_special(text, allow_special, self._ends.stable)
        return Stable(head + ids, rest)

    def covers(self, text: str, *, allow_special: bool = False) -> list[Cover]:
        """All ways in which the text may go on. Every continuation falls in exactly one of them.
        The first has an empty rest, and the ids of `encode`; then by growing rest.

        With `allow_special`, special tokens written in the text become their ids. What follows is
        ordinary text: it does not complete the text of a special token."""
        head, covers = self._behind_special(text, allow_special, self._ends.covers)
        return [Cover(head + ids, rest) for ids, rest in covers]

    def may_come(self, cover: Cover | tuple[Ids, str]) -> NDArray[np.int64]:
        """The ids that may be the next one of a cover, in order: they begin with its rest, are
        longer, and may follow its ids. With an empty rest, every id that may follow: also each
        byte that begins a character outside the alphabet."""
        ids, rest = cover
        if not isinstance(rest, str):
            raise wrong_text(rest, TypeError())
        return self._ask(lambda ids: self._ends.may_come(ids, rest), ids)

    def encode_pair(self, a: str, b: str, *, allow_special: bool = False) -> Pair:
        """The ids of a + b, and where b begins in them: for scoring b after a."""
        coder = self._special_coder if allow_special else self._coder
        try:
            ids, offsets = coder.encode_with_offsets(a + b)
        except (TypeError, UnicodeEncodeError) as error:
            wrong = next((text for text in (a, b) if not isinstance(text, str)), f"{a}{b}")
            raise wrong_text(wrong, error) from error
        at = bisect.bisect_right(offsets, len(a), key=lambda span: span[1])
        return Pair(ids, at, at < len(ids) and offsets[at][0] < len(a))

    def encode_stream(self, *, allow_special: bool = False) -> TextStream:
        """Encode a text as it comes: `append` takes a piece and returns a `Patch`. With
        `allow_special`, special tokens written in the text become their ids, also those whose text
        comes in several pieces; text of strangers needs a stream without it.

        >>> stream = tokenizer.encode_stream()      # doctest: +SKIP
        >>> stream.append("in New"), stream.append(" York")      # doctest: +SKIP
        (Patch(keep=0, ids=[288, 291]), Patch(keep=1, ids=[295]))
        """
        new_stream = functools.partial(core.TextStream, self._ends, Patch)
        if allow_special and self.special_tokens:
            return SpecialStream(new_stream, self._special_coder.encode, self.special_tokens)
        return TextStream(new_stream())

    def split(self, text: str, max_tokens: int = 512) -> list[str]:
        """Cut a text into pieces of at most `max_tokens` tokens, each as long as possible. Each
        piece has exactly its part of the ids of the text."""
        if self._ids.prefix:
            raise ValueError(_UNSUPPORTED.format("split", "puts a space before each text"))
        if max_tokens < 1:
            raise ValueError(f"max_tokens={max_tokens}: must be at least 1")
        try:
            _, offsets = self._coder.encode_with_offsets(text)
        except (TypeError, UnicodeEncodeError) as error:
            raise wrong_text(text, error) from error
        pieces, first = list[str](), 0
        while first < len(offsets):
            end = min(first + max_tokens, len(offsets))
            while end < len(offsets) and end > first and offsets[end][0] < offsets[end - 1][1]:
                end -= 1  # inside a character
            start = offsets[first][0]
            if end == first:
                raise ValueError(
                    f"max_tokens={max_tokens}: the character {text[start]!r} alone takes"
                    f" {len(text[start].encode())} tokens"
                )
            pieces.append(text[start : offsets[end - 1][1]])
            first = end
        return pieces

    # --- Ids that go on

    def is_canonical(self, ids: Ids) -> bool:
        """Whether the ids are what `encode` gives for their text, byte for byte, without encoding
        it again. Special tokens end one text and begin another."""
        return self.canonical_prefix(ids) == len(ids)

    def canonical_prefix(self, ids: Ids) -> int:
        """How many of the ids, at most, are canonical together, from the first on: where a
        sequence left what `encode` gives. The bytes of a character count when it is whole."""
        return self._ask(self._ends.canonical_prefix, ids)

    @overload
    def may_follow(self, left: int, right: int) -> bool: ...
    @overload
    def may_follow(self, left: int, right: Ids) -> NDArray[np.bool]: ...
    def may_follow(self, left: int, right: int | Ids) -> bool | NDArray[np.bool]:
        """Whether [left, right] is canonical; of several right ids, an array.

        Under `merges` a sequence is canonical if each two neighbours are, but for bytes, which
        must be whole characters. Under `fewest` this is necessary and not enough."""
        if not isinstance(right, Iterable):
            return self.is_canonical([left, right])
        (before,) = list_of_ids([left])
        if before not in self._names.texts:
            raise self._unknown(before)
        return self._ask(lambda ids: self._ends.may_follow(before, ids), right).view(bool)

    def next_mask(self, ids: Ids) -> NDArray[np.bool]:
        """By id, whether it may come next: so that ids + [id] is canonical, or with more bytes of
        a character becomes so. Special tokens always may.

        Ids that are not canonical count from the last place where they left what `encode` gives,
        as if a text began there."""
        return self._ask(self._ends.next_mask, ids).view(bool)

    # --- What they share

    @functools.cached_property
    def _ends(self) -> core.Boundaries:
        """Made when it is first needed, and never pickled."""
        for unsupported, why in (
            (self._ids.prefix, "puts a space before each text"),
            (self._ids.always, "cuts some texts out first"),
        ):
            if unsupported:
                raise ValueError(_UNSUPPORTED.format("what may follow a text", why))
        unused = list(self._ids.spare.values())
        return core.Boundaries(self._core, list(self._ids.special), unused)

    def _behind_special(
        self, text: str, allow_special: bool, answer: Callable[[str], Answer]
    ) -> tuple[list[int], Answer]:
        """The ids up to the last special token written in a text, and what the core answers about
        the text behind it."""
        try:
            if not (allow_special and self.special_tokens):
                return [], answer(text)
            names = sorted(self.special_tokens, key=len, reverse=True)
            ends = [found.end() for found in re.finditer("|".join(map(re.escape, names)), text)]
            end = ends[-1] if ends else 0
            return self._special_coder.encode(text[:end]), answer(text[end:])
        except (TypeError, UnicodeEncodeError) as error:
            raise wrong_text(text, error) from error

    def _ask(self, answer: Callable[[Any], Answer], ids: Any) -> Answer:
        """What the core answers about ids; it takes lists and arrays."""
        try:
            return answer(ids)
        except (TypeError, LookupError, OverflowError):
            ids = list_of_ids(ids)
        try:
            return answer(ids)
        except (LookupError, OverflowError) as error:
            known = self._names.texts
            raise self._unknown(next(id for id in ids if id not in known)) from error


_UNSUPPORTED = (
    "{} is not supported for a tokenizer that {} (see its layout); encode the whole text instead"
)
