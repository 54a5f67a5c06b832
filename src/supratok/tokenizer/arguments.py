"""Check what callers pass: an error names the argument and what came instead."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable
from typing import Any


def wrong_text(text: object, error: Exception) -> Exception:
    """The core says only that a text is none; this says why, and what to do."""
    if isinstance(text, str):
        return wrong_texts([text], error)
    remedy = ""
    if isinstance(text, bytes):
        remedy = "; call .decode() on it first"
    elif isinstance(text, (list, tuple)):
        remedy = "; encode_batch takes several texts"
    return TypeError(f"text must be a str, not {_kind(text)}{remedy}")


def list_of_texts(texts: Iterable[str], name: str) -> list[str]:
    """The texts as a list. The core checks the items, at no cost: see `wrong_texts`."""
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        raise TypeError(
            f"{name} takes a list of texts, not {_kind(texts)}; use encode for one text"
        )
    return list(texts)


def wrong_texts(texts: list[str], error: Exception) -> Exception:
    """The same of several texts: this says also which."""
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            return TypeError(f"item {place} of texts must be a str, not {_kind(text)}")
        if found := re.search("[\ud800-\udfff]", text):
            return ValueError(
                f"the text has a lone surrogate ({found[0]!r} at character {found.start()}),"
                " which is half a character and no Unicode text; repair it, for instance with"
                " text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')"
            )
    return error


def list_of_ids(ids: Any) -> list[int]:
    """The ids of a sequence, a NumPy array or a tensor, as a list of int."""
    try:
        return list(map(operator.index, ids.tolist() if hasattr(ids, "tolist") else ids))
    except TypeError:
        pass
    if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
        raise TypeError(f"ids must be a sequence of whole numbers, not {_kind(ids)}")
    wrong = next(id for id in ids if not hasattr(id, "__index__") or getattr(id, "ndim", 0) > 0)
    remedy = "; decode_batch takes several sequences" if isinstance(wrong, Iterable) else ""
    raise TypeError(f"ids must be whole numbers, not {_kind(wrong)}{remedy}")


def _kind(value: object) -> str:
    """For a message: "int (5)", "list (['a', 'b'])"."""
    if value is None:
        return "None"
    shown = repr(value)
    return f"{type(value).__name__} ({shown if len(shown) <= 40 else shown[:37] + '...'})"
