"""A document, and the state of one reading of a corpus, which all readers share."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from .faults import CorpusError, Fault, is_text


class Document(NamedTuple):
    """A text and, if its record names it, its language."""

    text: str
    lang: str | None = None


@dataclass
class Reading:
    """One reading of a corpus: its options, and how much it has read and skipped so far."""

    text_key: str
    lang_key: str
    skip_bad: bool
    bytes_read: int = 0
    line: bytes | None = None  # the line of JSON that holds the latest document
    skipped: Counter[str] = field(default_factory=Counter)

    def bad(self, place: str, fault: Fault, count: int = 1) -> None:
        """Count a bad record, or stop at it."""
        if not self.skip_bad:
            raise CorpusError(
                f"{place}: {fault.message}, or pass --skip-bad / skip_bad=True"
                " to leave such records out and count them"
            ) from fault
        self.skipped[fault.reason] += count


def language(value: object) -> str | None:
    """The language that a record names, if it is a string."""
    return value if is_text(value) and value else None


def decoded(data: bytes) -> str | UnicodeDecodeError:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return error
