"""Find Turkish and Finnish documents, by the language their record names or by their letters.

    language_of(None, "Kitapların hepsi için ayrıca bir açıklama yazıldı ...")   ->   "tr"
    language_of("de", "...")   ->   None: the record names another language

Training has special rules for these two languages only.
"""

from __future__ import annotations

import re

# ISO 639-1 and 639-3; a region or a script after the code does not matter.
_CODES = {"tr": "tr", "tur": "tr", "fi": "fi", "fin": "fi"}

_HEAD = 4_000  # characters to examine
_FEWEST = 200  # characters: a shorter text needs as many of the letters as one of this length

# Choice: shares that separate 8,000 documents of each of 16 languages (docs/log.md).
# Turkish: the dotless ı is every 20th letter; Azerbaijani has it too, but has many ə.
_TURKISH = {"ı": 0.010, "ığş": 0.022}
# Finnish: ä is every 28th letter. Finnish has the letters below in loans and names only; Estonian
# (õ ü), Swedish (å), German (ü ß z), Slovak (ž š č) and others use them often.
_FINNISH = {"ä": 0.010}
_FOREIGN = "åõüßčšžáíýzcqwxbfğışæøéèêł"
_MOST_FOREIGN = 0.045
# Endings of cases and verbs, in words of five letters or more.
_FINNISH_ENDING = re.compile(
    r"\w{2}(?:s[st][aä]|l[lt][aä]|lle|ksi|tt[aä]|(?:aa|ää|ee|ii|oo|uu|yy)n|nen|[ieju]en|v[aä]t|n[uy]t"
    r"|mme|isi|k[oö]|kin|mpi|t[uy])\b"
)
_LONG_WORD = re.compile(r"\w{5,}")
_ENDINGS = 0.22  # the least share of the long words


def language_of(lang: str | None, text: str) -> str | None:
    """The language ("tr", "fi" or None) by the record if it names one, else by the text."""
    if lang is None:
        return find_language(text)
    return _CODES.get(re.split("[-_]", lang.strip().lower(), maxsplit=1)[0])


def find_language(text: str) -> str | None:
    """The language ("tr", "fi" or None) by the letters and the endings at the start of a text."""
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
    """Whether each group of letters makes up at least its share of the text."""
    least = max(len(head), _FEWEST)
    return all(sum(map(head.count, some)) >= share * least for some, share in shares.items())


def _looks_finnish(head: str) -> bool:
    if sum(map(head.count, _FOREIGN)) > _MOST_FOREIGN * len(head):
        return False
    words = len(_LONG_WORD.findall(head))
    return len(_FINNISH_ENDING.findall(head)) >= _ENDINGS * max(words, 8)
