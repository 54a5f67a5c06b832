"""What a token is made of, as a small tree.

    tree = Tree(card)
    tree.parts(id)      # the ids of " New" and " York"
    tree.around([id])   # the facts of the token, of its parts, of theirs, ...

Under `merges` a token has two parts, the same in any text. Under `fewest`, and in the tokenizers
of other programs, nothing says how a token came about: there its parts are the fewest other tokens
that spell it, of equals those with the longest last one, which is what `fewest` would write if the
token were not there.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from .card import Card

_LONGEST = 200  # characters of a token whose spelling is looked for


class Tree:
    """The parts of the tokens of one tokenizer."""

    def __init__(self, card: Card) -> None:
        self.card = card

    @property
    def joined(self) -> bool:
        """Whether parts are joined by the rule `merges`, and not only spell the token."""
        return self.card.ours is not None and bool(self._merges)

    def parts(self, id: int) -> tuple[int, ...]:
        """The ids of the parts; none for a token that has none."""
        text = self.card.text(id)
        if self.joined:
            return tuple(self._ids[part] for part in self._merges.get(text, ()))
        if self.card.born(id) in ("special", "byte", "always", "spare") or text not in self._ids:
            return ()
        return tuple(self._ids[part] for part in fewest_parts(text, self._ids))

    def around(self, ids: Iterable[int]) -> dict[int, dict[str, Any]]:
        """The facts of these tokens and of all that they are made of, each once."""
        found: dict[int, dict[str, Any]] = {}
        waiting = list(ids)
        while waiting:
            id = waiting.pop()
            if id not in found:
                parts = self.parts(id)
                found[id] = self.card.facts(id) | {"parts": list(parts)}
                waiting.extend(parts)
        return found

    @functools.cached_property
    def _merges(self) -> dict[str, tuple[str, str]]:
        pairs = self.card.ours.merges() if self.card.ours else []
        return {left + right: (left, right) for left, right in pairs}

    @functools.cached_property
    def _ids(self) -> dict[str, int]:
        if self.card.ours is not None:
            return self.card.ours.get_vocab()
        texts = ((self.card.text(id), id) for id in range(self.card.vocab_size))
        return {text: id for text, id in texts if text and not text.startswith("##")}


def fewest_parts(text: str, known: Mapping[str, int]) -> tuple[str, ...]:
    """The fewest known texts, other than the text itself, that spell it; none if none do.

    >>> fewest_parts("abc", {"a": 0, "ab": 1, "c": 2, "bc": 3, "abc": 4})
    ('a', 'bc')
    """
    size = len(text)
    if not 1 < size <= _LONGEST:
        return ()
    counts = [0] + [size + 1] * size  # the fewest parts up to each place
    froms = [0] * (size + 1)
    for end in range(1, size + 1):
        for start in range(end):
            fits = counts[start] < counts[end] - 1 and end - start < size
            if fits and text[start:end] in known:
                counts[end], froms[end] = counts[start] + 1, start
    if counts[size] > size:
        return ()
    parts, end = list[str](), size
    while end:
        parts.append(text[froms[end] : end])
        end = froms[end]
    return tuple(reversed(parts))
