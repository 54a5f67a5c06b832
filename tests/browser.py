"""A browser for tests of pages: Debian's chromium by Playwright.

def test_a_page(page_of: PageOf) -> None:
    shown = page_of("<!DOCTYPE html>...", dark=True, width=380)
    assert faults(shown) == [] and shown.evaluate(OVER) <= 0
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

# How many pixels the page is wider than the window.
OVER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class PageOf(Protocol):
    """Shows HTML in a window, without network."""

    def __call__(self, html: str, *, dark: bool = False, width: int = 1280) -> Any: ...


def find_chromium() -> str | None:
    """What SUPRATOK_CHROMIUM names, or a chromium on the path."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("SUPRATOK_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    found = find_chromium()
    if found is None:
        pytest.skip("no browser; `make browser` installs one")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page_of(chromium: Any, tmp_path: Path) -> Iterator[PageOf]:
    opened: list[Any] = []

    def show(html: str, *, dark: bool = False, width: int = 1280) -> Any:
        path = tmp_path / f"shown-{len(opened)}.html"
        path.write_text(html, encoding="utf-8")
        scheme = "dark" if dark else "light"
        window = {"width": width, "height": 900}
        page = chromium.new_page(viewport=window, color_scheme=scheme, offline=True)
        opened.append(page)
        page.goto(path.as_uri())
        return page

    yield show
    for page in opened:
        page.close()


def faults(page: Any) -> list[str]:
    """What axe-core finds that keeps people from using a page."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = axe.Axe().run(page).response["violations"]
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]
