"""Progress in a notebook is one block, whatever happens.

A stand-in for IPython counts the blocks; a real kernel is not among the packages of the tests.
"""

from __future__ import annotations

import sys
import time
import types
from typing import Any

import pytest

from supratok import Recipe, train
from supratok.common.bars import Bars
from supratok.common.notebook import NotebookProgress, in_notebook
from supratok.common.progress import make_progress


class Notebook:
    """The displays of a notebook: one list of drawings for each block."""

    def __init__(self) -> None:
        self.blocks: list[list[Any]] = []

    def display(self, drawn: Any, display_id: bool = False) -> Any:
        assert display_id is True
        block = [drawn]
        self.blocks.append(block)
        return types.SimpleNamespace(update=block.append)

    def html(self) -> str:
        source = self.blocks[0][-1]._repr_html_()
        assert isinstance(source, str)
        return source


def pretend(monkeypatch: pytest.MonkeyPatch, shell: object) -> Notebook:
    notebook = Notebook()
    ipython, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    vars(ipython).update(get_ipython=lambda: shell)
    vars(display).update(display=notebook.display)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return notebook


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    return pretend(monkeypatch, types.SimpleNamespace(kernel=object()))


def test_training_draws_one_block(notebook: Notebook, capsys: pytest.CaptureFixture[str]) -> None:
    train(["in New York as well as in New York"] * 90, Recipe(vocab_size=290))
    assert len(notebook.blocks) == 1
    source = notebook.html()
    for phase in ("words", "traditional (merges inside words)", "multiword (phrases)"):
        assert phase in source
    assert source.count("<tr>") == source.count("<progress max='1' value='1.000'>") > 3
    assert capsys.readouterr() == ("", "")


def test_it_is_drawn_a_few_times_a_second(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with NotebookProgress() as shown:
        shown.start("merges", total=1000, unit="merges")
        for done in range(1000):
            now[0] += 0.001
            shown.at(done)
        assert 5 <= len(notebook.blocks[0]) <= 8
        assert "about 0." in notebook.html() and "s left" in notebook.html()
    assert len(notebook.blocks) == 1


def test_what_is_shown_is_text(notebook: Notebook) -> None:
    shown = NotebookProgress()
    shown.start("<b>words</b>")
    shown.note("<script>")
    shown.at(3)
    assert "<b>" not in notebook.html() and "<script>" not in notebook.html()
    assert "<progress max='1'></progress>" in notebook.html()  # of unknown length
    shown.end(**{"<i>": 1234})
    assert "&lt;i&gt; 1,234" in notebook.html()
    assert repr(notebook.blocks[0][-1]) == "<b>words</b>: 0.0 s; <i> 1,234"


def test_only_a_kernel_is_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not in_notebook()
    pretend(monkeypatch, None)
    assert not in_notebook()
    pretend(monkeypatch, types.SimpleNamespace())  # IPython in a terminal
    assert not in_notebook()
    assert isinstance(make_progress(True), Bars)
    pretend(monkeypatch, types.SimpleNamespace(kernel=object()))
    assert isinstance(make_progress(True), NotebookProgress)
