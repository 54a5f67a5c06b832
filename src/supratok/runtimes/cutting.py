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
        self._prefix = prefix
        self._ids = {token.content: id for token, id in tokens}
        self._special = {token.content for token, _ in tokens if token.special}
        self._first = {content[0] for content in self._ids}
        self._odd = _any_of(odd)
        stages = ([t.content for t, _ in tokens if t.normalized == late] for late in (False, True))
        self._stages = [pattern for some in stages if (pattern := _any_of(some))]

    def cut(self, text: str, special_as_text: bool) -> str | list[Part] | None:
        """The parts of a text, none of them empty; the text itself if no added token can be in it;
        None if `tokenizers` must cut it."""
        if not text:
            return None if self._prefix else []  # some versions put a space before nothing
        for char in self._first:
            if char in text:
                break
        else:
            return text
        if self._odd and self._odd.search(text):
            return None
        parts: list[Part] = [(text, None)]
        for pattern in self._stages:
            if pattern.search(text):
                parts = [part for one in parts for part in self._cut(pattern, one, special_as_text)]
        return text if len(parts) == 1 and parts[0][1] is None else parts

    def _cut(self, pattern: re.Pattern[str], part: Part, special_as_text: bool) -> Iterable[Part]:
        """A special token that counts as text hides the tokens that begin inside it."""
        text, id = part
        if id is not None:
            yield part
            return
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
