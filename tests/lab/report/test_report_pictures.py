"""Pictures: the same each time, each tokenizer with its own look, and colours that can be read."""

from __future__ import annotations

import re
import xml.etree.ElementTree as Tree

import numpy as np
import pytest
from numpy.typing import NDArray
from report_examples import SVG, drawings, example

from supratok.lab.baselines import BASELINES
from supratok.lab.report import style
from supratok.lab.report.page import Section, page
from supratok.pages import look
from supratok.recipe import PRESETS


@pytest.mark.parametrize("name", ["sweep", "bars", "languages", "trade"])
def test_pictures(name: str) -> None:
    draw = drawings()[name]
    picture = draw()
    assert picture == draw()
    root = Tree.fromstring(picture)
    assert root.findtext(f"{SVG}title") == "A title & more"
    assert "alert(1)" in root.findtext(".//{*}description", "")
    names = ["href", "{http://www.w3.org/1999/xlink}href"]
    links = [element.get(name, "#") for element in root.iter() for name in names]
    assert all(link.startswith("#") for link in links) and not re.search(r"url\((?!#)", picture)
    words = [element.text for element in root.iter(f"{SVG}text")]
    assert any("<script>" in (word or "") for word in words)  # text stays text


def test_a_tokenizer_looks_the_same_in_every_picture() -> None:
    """And unlike any other: by its marker and dashes too, for black and white."""
    assert {*PRESETS, *BASELINES} == set(look.TOKENIZERS)
    every = style.styles(look.TOKENIZERS)
    assert style.styles(["other", "SuperBPE"])["SuperBPE"] == every["SuperBPE"]
    looks = [str((look["color"], look["marker"])) for look in every.values()]
    uncoloured = [str((look["marker"], look["linestyle"])) for look in every.values()]
    assert len(set(looks)) == len(set(uncoloured)) == len(every)
    mixed = style.styles(["validation", "dense", "test", "the paper"], paper=["the paper"])
    assert len({str(look) for look in mixed.values()}) == 4
    assert mixed["the paper"]["markerfacecolor"] == look.GROUND


def test_pictures_have_the_letters_too() -> None:
    assert style.labels(["dense 50,000", "my.json", "paper", "SuperBPE"], paper=["paper"]) == {
        "dense 50,000": "A dense 50,000", "my.json": "my.json", "paper": "paper",
        "SuperBPE": "D SuperBPE",
    }  # fmt: skip
    twice = ["dense 50,000", "dense 100,000"]
    assert list(style.labels(twice).values()) == twice
    assert style.styles(["dense 50,000"])["dense 50,000"] == style.styles(["dense"])["dense"]
    from supratok.lab.report import pictures

    series = {"dense": {1: 1.0, 2: 2.0}, "SuperBPE": {1: 1.0, 2: 1.5}}
    points = {name: (found[1], found[2]) for name, found in series.items()}
    items = {"English": {name: found[2] for name, found in series.items()}}
    for picture in (
        pictures.sweep(series, title="t"),
        pictures.trade(points, title="t", x="x", y="y"),
        pictures.languages(items, title="t"),
        pictures.bars(items, title="t"),
    ):
        words = {element.text for element in Tree.fromstring(picture).iter(f"{SVG}text")}
        assert {"A dense", "D SuperBPE"} <= words


def test_what_a_person_has_set_does_not_change_pictures() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    draw = drawings()["bars"]
    with matplotlib.rc_context({"axes.grid": True, "lines.linewidth": 9, "font.size": 30}):
        changed = draw()
    assert changed == draw()


def test_drawing_nothing_is_an_error() -> None:
    from supratok.lab.report import pictures

    with pytest.raises(ValueError, match="no figures to draw"):
        pictures.bars({"x": {}}, title="Nothing")


def channels(colour: str) -> NDArray[np.float64]:
    return np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255


def in_the_dark(light: NDArray[np.float64]) -> NDArray[np.float64]:
    """As the page says: invert(1) hue-rotate(180deg), and screen on the ground. The matrix is that
    of the CSS filter effects."""
    matrix = [[-0.574, 1.430, 0.144], [0.426, 0.430, 0.144], [0.426, 1.430, -0.856]]
    turned = np.clip(matrix @ (1 - light), 0, 1)
    return np.asarray(1 - (1 - turned) * (1 - channels("#16181b")))


def contrast(*colours: NDArray[np.float64]) -> float:
    linear = [np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) for c in colours]
    low, high = sorted(float(parts @ [0.2126, 0.7152, 0.0722]) for parts in linear)
    return (high + 0.05) / (low + 0.05)


def test_contrast() -> None:
    white = channels(look.GROUND)
    for light in map(channels, (*look.COLOURS, look.INK, look.MUTED)):
        assert contrast(light, white) >= 4.5
        assert contrast(in_the_dark(light), in_the_dark(white)) >= 4.5
    text = page([Section(example(), [])])
    for said in re.findall(r":root \{(.*?)\}", text, re.S):
        tones = {name: channels(tone) for name, tone in re.findall(r"--(\w+): (#\w+);", said)}
        for ink in ("ink", "muted", "link"):
            for ground in ("ground", "tint", "paper"):
                assert contrast(tones[ink], tones[ground]) >= 4.5, (ink, ground)
    assert re.findall(r"--ground: (#\w+);", text) == [look.GROUND, "#16181b"]
