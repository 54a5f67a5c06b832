"""Draw the picture of the README: one sentence, split by plain BPE and by supratok.

    python tools/example_picture.py docs/pictures/example.svg

Both tokenizers are those of `make demo`: 16,000 tokens, trained on Python's own documentation.
"""

from __future__ import annotations

import sys
import sysconfig
from dataclasses import replace
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from supratok import Recipe, Tokenizer, train
from supratok.cli.demo import SENTENCE
from supratok.cli.demo_text import read
from supratok.common import _core

WIDTH = 78  # characters of a line
SIZE = 10.5  # of the font, in points
CELL = 0.63 * SIZE / 72  # the width of a character of this font, in inches
PHRASE, WORD, INK = "#ffd27a", "#e8ebee", "#16191d"


def lines_of(tokens: list[str]) -> list[list[tuple[int, str]]]:
    """The tokens in lines, each with its first column. The space in front of a token is part of
    its box."""
    lines: list[list[tuple[int, str]]] = [[]]
    column = 0
    for token in tokens:
        if column + len(token) > WIDTH:
            lines.append([])
            column = 0
        lines[-1].append((column, token))
        column += len(token)
    return lines


def draw(tokenizers: dict[str, Tokenizer], path: Path) -> None:
    split = {name: tokenizer.tokens(SENTENCE) for name, tokenizer in tokenizers.items()}
    rows = sum(len(lines_of(tokens)) + 1.7 for tokens in split.values())
    figure = Figure(figsize=(CELL * WIDTH, 0.28 * rows))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-0.5, WIDTH + 0.5), ylim=(rows, 0))
    axes.axis("off")
    y = 0.0
    for name, tokens in split.items():
        title = f"{name}: {len(tokens)} tokens"
        axes.text(0, y + 0.7, title, color=INK, fontsize=SIZE, fontweight="bold", va="center")
        y += 1.25
        for line in lines_of(tokens):
            for column, token in line:
                phrase = len(_core.split_words(token)) > 1
                box = FancyBboxPatch(
                    (column + 0.12, y + 0.12), len(token) - 0.24, 0.76,
                    boxstyle="round,pad=0,rounding_size=0.25", mutation_aspect=0.6,
                    facecolor=PHRASE if phrase else WORD,
                    edgecolor=INK if phrase else "#b9c0c7", linewidth=0.9 if phrase else 0.6,
                )  # fmt: skip
                axes.add_patch(box)
                axes.text(column + len(token) / 2, y + 0.53, token, color=INK, fontsize=SIZE,
                          family="DejaVu Sans Mono", ha="center", va="center")  # fmt: skip
            y += 1
        y += 0.45
    figure.savefig(path, facecolor="white", metadata={"Date": None})


def main(path: Path) -> None:
    matplotlib.rcParams["svg.hashsalt"] = "supratok"  # the same file each time
    prose = read(Path(sysconfig.get_paths()["stdlib"]))
    ours = Recipe(vocab_size=16_000)
    recipes = {"plain BPE": replace(ours, crossover=1.0), "supratok": ours}
    draw({name: train(prose.training, recipe) for name, recipe in recipes.items()}, path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
