"""Text that is safe to show in one line of a terminal, a table or a picture."""

from __future__ import annotations


def visible(text: str) -> str:
    r"""Write every character that does not print as an escape: a newline becomes \n.

    So a token can neither move a cursor, end a line nor turn the direction of the text after it.
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
