"""For the reference: comments beside attributes are documentation, and examples are code.

    max_digits: int = 3  # in a row
    >>> tokenizer.tokens("in New York")      # doctest: +SKIP

`Recipe` and its parts say in comments what each option means and where its value comes from. This
extension of griffe, which reads the sources for mkdocstrings, takes the comment of the line, and
those of the lines before it. Lines of an example become a block of code; Markdown would take `>>>`
for three quotations. mkdocs.yml names this file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import griffe

COMMENT = re.compile(r"\s#\s(?P<words>.*)$")
EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)  # to the next blank line


class Comments(griffe.Extension):
    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = with_code(obj.docstring.value)

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        path, place = attr.filepath, attr.lineno
        if attr.docstring or attr.parent is None or not attr.parent.is_class or not place:
            return
        if isinstance(path, Path) and (words := comment(attr.lines_collection[path], place)):
            attr.docstring = griffe.Docstring(words, parent=attr)


def with_code(docstring: str) -> str:
    """Examples as blocks of code, without what is for doctest alone."""

    def block(found: re.Match[str]) -> str:
        return "```pycon\n" + re.sub(r" *# doctest: .*", "", found[0]) + "\n```"

    return EXAMPLE.sub(block, docstring)


def comment(lines: Sequence[str], number: int) -> str:
    r"""The comments before a line and at its end, as one text.

    >>> comment(["# Choice: off.", "a: int = 0  # in bits"], 2)
    'Choice: off. In bits.'
    """
    found = COMMENT.search(lines[number - 1])
    sentences = [found["words"]] if found else []
    before = number - 2
    while before >= 0 and lines[before].lstrip().startswith("# "):
        sentences.insert(0, lines[before].strip()[2:])
        before -= 1
    if len(sentences) > 1 and found:
        sentences[-2:] = [ended(sentences[-2]), sentences[-1]]
        sentences[-1] = sentences[-1][:1].upper() + sentences[-1][1:]
    words = " ".join(sentences)
    return ended(words[:1].upper() + words[1:]) if words else ""


def ended(words: str) -> str:
    return words if words.endswith((".", "!", "?", ":")) else f"{words}."
