"""Pictures as SVG for any page: light and dark, no address of the network, nothing that runs.

What matplotlib draws has fixed colours. `themed` gives each element a class instead (`f1` fills
with the first colour, `s1` strokes with it), and `STYLE` says what the classes are in light and in
dark. `inline` makes a picture fit to stand within a page: only elements and properties that draw
are kept, whoever wrote it, and its ids get a prefix, so that two pictures do not share one.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as Tree
from collections.abc import Iterator

# By name: in light and in dark. Text may have each of them, on LIGHT and DARK: all pass 4.5 to 1,
# but for the lines of the grid, which say nothing.
LIGHT, DARK = "#ffffff", "#16181b"
COLOURS = {
    "ink": ("#1d2024", "#e6e8eb"),
    "muted": ("#565b63", "#a8aeb7"),
    "faint": ("#dcdfe3", "#363b42"),
    "1": ("#0b5cad", "#6cb2ff"),
    "2": ("#b3460b", "#ff9d5c"),
    "3": ("#1a7340", "#5fce8d"),
    "4": ("#7b3fa0", "#c99aef"),
    "5": ("#755a00", "#e0bf4a"),
    "6": ("#0a6f78", "#5ccfd6"),
    "7": ("#b0246b", "#ff8fc0"),
    "8": ("#6b4f3f", "#cdb09d"),
}
# What stands for a colour while a picture is drawn.
MARKS = {name: f"#0000{number:02x}" for number, name in enumerate(COLOURS, 1)}
PAPER_MARK = "#0000fe"  # the ground that the picture lies on
_NAMES = {mark: name for name, mark in MARKS.items()} | {PAPER_MARK: "ground"}

_ELEMENTS = {
    "svg", "g", "path", "text", "tspan", "rect", "circle", "ellipse", "line", "polyline",
    "polygon", "use", "defs", "clipPath", "title", "desc",
}  # fmt: skip
_ATTRIBUTES = {
    "id", "class", "style", "d", "x", "y", "width", "height", "cx", "cy", "r", "rx", "ry", "x1",
    "y1", "x2", "y2", "points", "transform", "viewBox", "clip-path", "href", "role",
    "aria-labelledby", "fill", "stroke", "stroke-width", "text-anchor", "font-size",
    "font-weight", "opacity",
}  # fmt: skip
_PROPERTIES = {
    "fill", "stroke", "fill-opacity", "stroke-opacity", "opacity", "stroke-width",
    "stroke-linejoin", "stroke-linecap", "stroke-dasharray", "stroke-dashoffset",
    "stroke-miterlimit", "font-size", "font-weight", "font-style", "text-anchor",
}  # fmt: skip


def _rules(side: int, ground: str) -> Iterator[str]:
    for name, pair in COLOURS.items():
        yield f".picture .f{name}{{fill:{pair[side]}}}.picture .s{name}{{stroke:{pair[side]}}}"
    yield f".picture .fground{{fill:{ground}}}.picture .sground{{stroke:{ground}}}"
    yield f".picture{{background:{ground}}}"  # or dark letters might come to lie on a dark page


STYLE = (
    ".picture text{font-family:system-ui,sans-serif;font-variant-numeric:tabular-nums}"
    + "".join(_rules(0, LIGHT))
    + "@media screen and (prefers-color-scheme:dark){"
    + "".join(_rules(1, DARK))
    + "}"
)


def themed(drawn: str, title: str, description: str) -> str:
    """A picture that matplotlib drew with the colours of MARKS, as a file of its own."""
    root = _clean(drawn)
    for element in root.iter():
        _to_classes(element)
    names = {"title": title, "desc": description}
    for place, (name, text) in enumerate(names.items()):
        child = Tree.Element(name, {"id": name})
        child.text = text
        root.insert(place, child)
    style = Tree.Element("style")
    style.text = STYLE
    root.insert(len(names), style)
    root.attrib = {
        "xmlns": "http://www.w3.org/2000/svg", "viewBox": root.get("viewBox", ""),
        "class": "picture", "role": "img", "aria-labelledby": " ".join(names),
    }  # fmt: skip
    return Tree.tostring(root, encoding="unicode") + "\n"


def inline(picture: str, prefix: str) -> str:
    """A picture as part of a page; its ids begin with the prefix."""
    root = _clean(picture)
    for element in root.iter():
        for name, value in element.attrib.items():
            if name == "id":
                value = prefix + value
            elif name == "aria-labelledby":
                value = " ".join(prefix + word for word in value.split())
            element.set(name, re.sub(r"^(url\()?#", rf"\g<0>{prefix}", value))
    return Tree.tostring(root, encoding="unicode", short_empty_elements=False)


def title_of(picture: str) -> str:
    """What a picture is called; nothing if it does not say."""
    found = _clean(picture).find("title")
    return "" if found is None else found.text or ""


def _clean(picture: str) -> Tree.Element:
    """The elements that draw, without namespaces, and of ids those that are referred to."""
    try:
        root = Tree.fromstring(picture)
    except Tree.ParseError as error:
        raise ValueError(f"not an SVG picture ({error})") from error
    if _bare(root.tag) != "svg":
        raise ValueError(f"not an SVG picture (it begins with {_bare(root.tag)!r})")
    _strip(root)
    used = {word for element in root.iter() for word in _references(element)}
    for element in root.iter():
        if element.get("id") not in used:
            element.attrib.pop("id", None)
    return root


def _strip(element: Tree.Element) -> None:
    element.tag, element.tail = _bare(element.tag), None
    if element.tag not in ("text", "tspan", "title", "desc"):
        element.text = None
    for child in list(element):
        if isinstance(child.tag, str) and _bare(child.tag) in _ELEMENTS:
            _strip(child)
        else:
            element.remove(child)
    kept = {_bare(name): value for name, value in element.attrib.items()}
    element.attrib = {
        name: " ".join(_style(value) if name == "style" else value.split())
        for name, value in kept.items()
        if name in _ATTRIBUTES and (name == "style" or _harmless(name, value))
    }


def _bare(name: object) -> str:
    return str(name).rpartition("}")[2]


def _harmless(name: str, value: str) -> bool:
    """An address is a place in the picture itself."""
    if name == "href":
        return bool(re.fullmatch(r"#[\w.-]+", value))
    if name == "id":
        return bool(re.fullmatch(r"[\w.-]+", value))
    if name == "class":
        return bool(re.fullmatch(r"(picture|[fs]\w+)( [fs]\w+)*", value))
    if name == "clip-path":
        return bool(re.fullmatch(r"url\(#[\w.-]+\)", value))
    return "\\" not in value and "url" not in value.lower()


def _style(value: str) -> Iterator[str]:
    """The declarations that draw, as words of a style attribute."""
    for part in value.split(";"):
        name, _, said = (word.strip() for word in part.partition(":"))
        if name in _PROPERTIES and re.fullmatch(r"[\w#%., -]+", said):
            yield f"{name}:{said};"


def _references(element: Tree.Element) -> Iterator[str]:
    for name in ("href", "clip-path"):
        yield from re.findall(r"#([\w.-]+)", element.get(name, ""))
    yield from element.get("aria-labelledby", "").split()


def _to_classes(element: Tree.Element) -> None:
    """Colours that stand for others become classes."""
    classes, kept = [], []
    for part in element.attrib.pop("style", "").split(";"):
        name, _, value = (word.strip() for word in part.partition(":"))
        if value in _NAMES:
            classes.append(f"{name[0]}{_NAMES[value]}")
        elif name:
            kept.append(f"{name}:{value}")
    if classes:
        element.set("class", " ".join(classes))
    if kept:
        element.set("style", ";".join(kept))
