"""What a `tokenizer.json` does to a text before its model sees it, as far as it can be imported.

Our rules change no text and cut none, so a normalizer may only write spaces as U+2581 or put one
space first, and a pre-tokenizer may only cut where no token crosses the cut.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ...tokenizer import Tokenizer
from ..assemble import LITERAL_SPACE, NOT_IMPORTED, SPACE_FIRST, Vocabulary
from ..listing import SPACE, swap_spaces
from .document import Document, steps_of


@dataclass
class Steps:
    """The effect of all steps together."""

    replaces: bool = False  # spaces become U+2581
    prefix: bool = False  # a space before the text
    cuts_words: bool = False  # before each space
    isolated: set[str] = field(default_factory=set)  # characters cut out on their own

    def text(self, piece: str) -> str:
        """The text of a piece of the vocabulary."""
        return swap_spaces(piece) if self.replaces else piece


def read_steps(vocab: Vocabulary, document: Document) -> Steps:
    """The steps of a document; notes in `vocab` the prefix and the differences they cause."""
    found = Steps()
    for step in steps_of(document.get("normalizer"), "normalizers"):
        _normalizer(vocab, step, found)
    for step in steps_of(document.get("pre_tokenizer")):
        _pre_tokenizer(vocab, step, found)
    vocab.prefix = found.prefix
    if found.replaces:
        vocab.differences.append(LITERAL_SPACE)
    return found


def _normalizer(vocab: Vocabulary, step: Document, found: Steps) -> None:
    kind = step["type"]
    if (
        kind == "Replace"
        and step.get("pattern") == {"String": " "}
        and step.get("content") == SPACE
    ):
        found.replaces = True
    elif kind == "Prepend" and step.get("prepend") in (SPACE, " ") and not found.prefix:
        found.prefix = True
    else:
        raise vocab.refuse(
            f"it changes text before encoding (normalizer {kind}), so decoding does not return the"
            " text",
            NOT_IMPORTED,
        )


def _pre_tokenizer(vocab: Vocabulary, step: Document, found: Steps) -> None:
    kind, pattern = step["type"], step.get("pattern") or {}
    if kind == "Metaspace" and step.get("replacement") == SPACE and not found.prefix:
        _metaspace(vocab, step, found)
    elif kind == "Split" and pattern.get("String") == " " and found.replaces:
        pass  # the normalizer has replaced all spaces
    elif kind == "Split" and step.get("behavior") == "Isolated" and _characters(pattern):
        found.isolated |= _characters(pattern)
    else:
        raise vocab.refuse(
            f"it cuts text by a pattern before encoding (pre-tokenizer {kind}), and supratok's"
            " rules have none",
            NOT_IMPORTED,
        )


def _metaspace(vocab: Vocabulary, step: Document, found: Steps) -> None:
    adds = step.get("prepend_scheme", "always" if step.get("add_prefix_space", True) else "never")
    if adds != "never":
        found.prefix = True
        vocab.differences.append(SPACE_FIRST)
    found.replaces = True
    found.cuts_words |= step.get("split") is not False


def _characters(pattern: Document) -> set[str]:
    """The characters that a pattern matches: one, or several with bars between them."""
    if text := pattern.get("String"):
        return set(text) if len(text) == 1 else set()
    one = r"(?:\\[^0-9A-Za-z]|[^\\.^$*+?{}\[\]()|])"
    if not re.fullmatch(rf"{one}(?:\|{one})*", pattern.get("Regex") or "", re.DOTALL):
        return set()
    return {char[-1] for char in re.findall(one, pattern["Regex"], re.DOTALL)}


def refuse_cuts(vocab: Vocabulary, tokenizer: Tokenizer, found: Steps) -> None:
    """A cut changes nothing unless a token crosses it."""
    for text in tokenizer.texts:
        if found.cuts_words and " " in text[1:]:
            raise vocab.refuse(
                f"it cuts text before each space (Metaspace with split), so it never makes its"
                f" token {text!r}",
                "set split to false if it was trained so, or use it with `supratok compare`",
            )
        if not found.isolated.isdisjoint(text):
            raise vocab.refuse(
                "it cuts out characters before encoding (pre-tokenizer Split), and its token"
                f" {text!r} holds one",
                NOT_IMPORTED,
            )
