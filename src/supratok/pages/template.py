"""Templates of pages: one set-up of Jinja2 for all rooms.

    template(look.asset("inspect.html"), "play").render(title="my.json")

All text is escaped, and what does not print is written as an escape: a token may hold markup, a
line end or a turn of direction. A template may import the parts that all pages share:
`{% import "parts.html" as parts %}`, and write the style sheets of `look.py`:
`{{ style_sheet("sheet") }}`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..common.packages import package
from ..common.text import visible
from . import look


@functools.cache
def template(text: str, extra: str) -> Any:
    """The template with this text; `extra` has Jinja2, should it be missing."""
    return environment(extra).from_string(text)


@functools.cache
def environment(extra: str) -> Any:
    """Jinja2 for pages whose text is written with `visible`."""
    made = new_environment(
        extra,
        look.asset,
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    markup = package("markupsafe", extra).Markup  # the style sheets are ours: nothing to escape
    made.globals |= {
        "look": look,
        "style_sheet": lambda *more: markup(look.style_sheet(*more)),
    }
    return made


def new_environment(extra: str, load: Callable[[str], str], **more: Any) -> Any:
    """Jinja2 as all pages need it: text is escaped, and lines of commands leave no blank lines."""
    jinja2 = package("jinja2", extra)
    return jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(load),
        **more,
    )
