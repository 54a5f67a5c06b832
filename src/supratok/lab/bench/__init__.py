"""`supratok bench`: compare tokenizers on your own corpus."""

from .bench import (
    HELD_OUT,
    OURS,
    Bench,
    Entry,
    NotHeldOut,
    Row,
    compared,
    entries,
    held_out,
    some,
)

__all__ = [
    "HELD_OUT",
    "OURS",
    "Bench",
    "Entry",
    "NotHeldOut",
    "Row",
    "compared",
    "entries",
    "held_out",
    "some",
]
