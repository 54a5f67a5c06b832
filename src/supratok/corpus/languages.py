"""Which documents are Turkish or Finnish: their records say so, or their first letters show it.

    language_of(None, "Kitapların hepsi için ayrıca bir açıklama yazıldı ...")   ->   "tr"
    language_of("de", "...")   ->   None: what a record says is not doubted

Only these two are told apart from all others, because only they have rules of their own.
"""

from __future__ import annotations

import re

# What records call them: ISO 639-1 and 639-3; a region or a script after it does not matter.
_CODES = {"tr": "tr", "tur": "tr", "fi": "fi", "fin": "fi"}

_HEAD = 4_000  # characters looked at
_FEWEST = 200  # characters: a shorter text must show as much as one of this length

# Choice: the shares below were set on 8,000 documents of each of 16 languages (docs/log.md).
# Turkish: the dotless ı is every 20th letter; Azerbaijani has it too, but is full of ə.
_TURKISH = {"ı": 0.010, "ığş": 0.022}
# Finnish: ä is every 28th letter; the letters below are in loans and names only. They are what
# Estonian (õ ü), Swedish (å), German (ü ß z), Slovak (ž š č) and others cannot do without.
_FINNISH = {"ä": 0.010}
_FOREIGN = "åõüßčšžáíýzcqwxbfğışæøéèêł"
_MOST_FOREIGN = 0.045
# Cases and verb endings, on words of five letters and more.
_FINNISH_ENDING = re.compile(
    r"\w{2}(?:s[st][aä]|l[lt][aä]|lle|ksi|tt[aä]|(?:aa|ää|ee|ii|oo|uu|yy)n|nen|[ieju]en|v[aä]t|n[uy]t"
    r"|mme|isi|k[oö]|kin|mpi|t[uy])\b"
)
_LONG_WORD = re.compile(r"\w{5,}")
_ENDINGS = 0.22  # the share of the long words


def language_of(lang: str | None, text: str) -> str | None:
    """The language by the record, if it names one, and by the text otherwise; None: another."""
    if lang is None:
        return find_language(text)
    return _CODES.get(re.split("[-_]", lang.strip().lower(), maxsplit=1)[0])


def find_language(text: str) -> str | None:
    """Turkish, Finnish, or None, by the letters and the endings at the start of a text."""
    head = text[:_HEAD]
    if head.isascii():
        return None
    head = head.lower()
    if _has(head, _TURKISH) and head.count("ə") * 200 < len(head):
        return "tr"
    if _has(head, _FINNISH) and _looks_finnish(head):
        return "fi"
    return None


def _has(head: str, shares: dict[str, float]) -> bool:
    """Whether some letters together make up at least their share of the text."""
    least = max(len(head), _FEWEST)
    return all(sum(map(head.count, some)) >= share * least for some, share in shares.items())


def _looks_finnish(head: str) -> bool:
    if sum(map(head.count, _FOREIGN)) > _MOST_FOREIGN * len(head):
        return False
    words = len(_LONG_WORD.findall(head))
    return len(_FINNISH_ENDING.findall(head)) >= _ENDINGS * max(words, 8)
