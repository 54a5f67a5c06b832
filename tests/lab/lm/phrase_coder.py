"""Texts, a coder over a vocabulary that holds phrases, and the shape of tiny models."""

from __future__ import annotations

import pytest

import supratok
from supratok.formats.peer import open_any
from supratok.lab.lm.coder import Coder

TEXTS = [
    f"The cat sat on the mat in New York as well as in Paris, {number} times. " * 4
    for number in range(60)
]
TINY = {"layers": 2, "width": 32, "context": 16}


@pytest.fixture(scope="module")
def coder(tmp_path_factory: pytest.TempPathFactory) -> Coder:
    """Over a vocabulary that holds phrases."""
    path = tmp_path_factory.mktemp("lm") / "supratok.json"
    supratok.train(TEXTS, supratok.Recipe(vocab_size=400, screen=None)).save(path)
    return Coder(open_any(path))
