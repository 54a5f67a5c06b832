"""Added tokens, which `tokenizers` cuts out of each text before its model sees the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

# A stretch of text without an id, or an added token with its id.
Part = tuple[str, int | None]


class Cutter:
    """Cuts as `tokenizers` does: at each place the longest token; first those that are looked for
    in the raw text, then those for the normalized one.

    Tokens that depend on their neighbours (lstrip, rstrip, single_word) are left to `tokenizers`
    itself, and so are normalized ones where a normalizer puts a space first."""

    def __init__(self, added: Mapping[int, Any], prefix: bool) -> None:
        tokens = [(token, id) for id, token in added.items() if token.content]
        odd = {
            token.content
            for token, _ in tokens
            if token.lstrip or token.rstrip or token.single_word or (prefix and token.normalized)
        }
        self._ids = {token.content: id for token, id in tokens}
        self._special = {token.content for token, _ in tokens if token.special}
        self._first = {content[0] for content in self._ids}
        self._odd = _any_of(odd)
        stages = ([t.content for t, _ in tokens if t.normalized == late] for late in (False, True))
        self._stages = [pattern for some in stages if (pattern := _any_of(some))]

    def cut(self, text: str, special_as_text: bool) -> list[Part] | None:
        """The parts of a text, none of them empty; None if `tokenizers` must cut it."""
        if not any(char in text for char in self._first):
            return [(text, None)] if text else []
        if self._odd and self._odd.search(text):
            return None
        parts: list[Part] = [(text, None)] if text else []
        for pattern in self._stages:
            parts = [
                part
                for stretch, id in parts
                for part in ([(stretch, id)] if id is not None else
                             self._cut(pattern, stretch, special_as_text))
            ]  # fmt: skip
        return parts

    def _cut(self, pattern: re.Pattern[str], text: str, special_as_text: bool) -> Iterable[Part]:
        """A special token that counts as text hides the tokens that begin inside it."""
        place = 0
        for match in pattern.finditer(text):
            if special_as_text and match[0] in self._special:
                continue
            if place < match.start():
                yield text[place : match.start()], None
            yield match[0], self._ids[match[0]]
            place = match.end()
        if place < len(text):
            yield text[place:], None


def _any_of(texts: Iterable[str]) -> re.Pattern[str] | None:
    longest_first = sorted(texts, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first))) if longest_first else None
