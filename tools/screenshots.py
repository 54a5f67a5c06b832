"""Screenshots of the playground and of the page that stands alone.

    python tools/screenshots.py build/screenshots
    python tools/screenshots.py build/screenshots --docs docs/pictures     # also the best, small

It trains the tokenizers of `make demo` on Python's own documentation, starts the playground, and
looks at it with headless Chromium. Needs `.[dev]` and a browser: `make browser` installs one.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from supratok import Recipe, train
from supratok.cli.demo import SENTENCE
from supratok.cli.demo_text import read

WIDE, NARROW = (1360, 900), (380, 800)
LOADED = "() => document.querySelector('.count output')?.textContent !== '–'"
DOCS = {  # the best of them, for docs/play.md
    "text-light": "play.png",
    "text-dark": "play-dark.png",
    "vocabulary-light": "play-vocabulary.png",
    "training-light": "play-training.png",
    "show-light": "show.png",
}


def chromium() -> str:
    """The browser: SUPRATOK_CHROMIUM, or the first that is installed."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("SUPRATOK_CHROMIUM") or next(filter(None, map(shutil.which, names)), "")
    if not found:
        raise SystemExit("no browser; `make browser` installs one")
    return found


def make_tokenizers(folder: Path) -> list[Path]:
    """Ours under both rules, and plain BPE; kept from one call to the next."""
    ours = Recipe(vocab_size=16_000)
    recipes = {
        "ours-merges.json": ours,
        "ours-fewest.json": replace(ours, segmentation="fewest"),
        "plain-bpe.json": replace(ours, crossover=1.0),
    }
    paths = [folder / name for name in recipes]
    if not all(path.exists() for path in paths):
        prose = read(Path(sysconfig.get_paths()["stdlib"]))
        for path, recipe in zip(paths, recipes.values(), strict=True):
            train(prose.training, recipe).save(path)
    return paths


@contextlib.contextmanager
def playground(paths: list[Path]) -> Iterator[str]:
    """The address of a running playground."""
    command = [sys.executable, "-m", "supratok", "play", *map(str, paths), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout
            found = re.search(r"http://\S+", running.stdout.readline())
            assert found, "the playground did not start"
            yield found[0]
        finally:
            running.terminate()


def shoot(browser: Any, address: str, page_file: Path, folder: Path) -> list[Path]:
    made: list[Path] = []
    for scheme in ("light", "dark"):
        for size, suffix in ((WIDE, ""), (NARROW, "-narrow")):
            context = browser.new_context(
                viewport={"width": size[0], "height": size[1]},
                color_scheme=scheme,
                device_scale_factor=1,
                reduced_motion="reduce",
            )
            page = context.new_page()
            for name, prepare in VIEWS.items():
                prepare(page, address, page_file)
                made.append(folder / f"{name}-{scheme}{suffix}.png")
                page.screenshot(path=made[-1], full_page=True)
            context.close()
    return made


def _text(page: Any, address: str, _: Path) -> None:
    page.goto(f"{address}#text")
    page.fill("#source", f"{SENTENCE}\n\nThis is the same as the end of the")  # 214 characters
    page.wait_for_function(LOADED)
    page.get_by_text("214 characters, 214 bytes").wait_for()
    page.wait_for_function("() => document.querySelectorAll('.cut li').length > 2")
    page.locator(".card").first.locator(".k", has_text="list of").first.click()
    page.wait_for_selector("#detail .tree")


def _vocabulary(page: Any, address: str, _: Path) -> None:
    page.goto(f"{address}#vocabulary")
    page.reload()
    page.get_by_label("Search").fill("file")
    page.get_by_label("Phrases only").check()
    page.wait_for_function("() => /of 16,000/.test(document.querySelector('#found').textContent)")
    page.wait_for_function("() => document.querySelectorAll('#rows tr').length > 5")


def _training(page: Any, address: str, _: Path) -> None:
    page.goto(f"{address}#training")
    page.reload()
    page.wait_for_selector("#view-training .headline")


def _show(page: Any, _: str, page_file: Path) -> None:
    page.goto(page_file.as_uri())
    page.locator(".card").first.locator(".k", has_text="list of").first.click()
    page.wait_for_selector("#detail .tree")


VIEWS = {"text": _text, "vocabulary": _vocabulary, "training": _training, "show": _show}


def small(source: Path, target: Path, height: int = 900) -> None:
    """The upper part, in 256 colours: below 150 kB."""
    image_of = __import__("PIL.Image", fromlist=["Image"])
    with image_of.open(source) as picture:
        cut = picture.convert("RGB").crop((0, 0, picture.width, min(picture.height, height)))
        buffer = io.BytesIO()
        cut.quantize(256, dither=0).save(buffer, "PNG", optimize=True)
    if len(buffer.getvalue()) > 150_000:
        raise SystemExit(f"{target}: {len(buffer.getvalue()):,} bytes, more than 150 kB")
    target.write_bytes(buffer.getvalue())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write the screenshots")
    parser.add_argument("--docs", type=Path, help="also write the best of them here, small")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    paths = make_tokenizers(args.folder)
    page_file = args.folder.resolve() / "show.html"
    command = [sys.executable, "-m", "supratok", "show", *map(str, paths)]
    subprocess.run([*command, "--text", SENTENCE, "--html", page_file], check=True)
    from playwright.sync_api import sync_playwright

    with playground(paths) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        made = shoot(browser, address, page_file, args.folder)
        browser.close()
    print(*made, sep="\n")
    if args.docs:
        for name, target in DOCS.items():
            small(args.folder / f"{name}.png", args.docs / target)


if __name__ == "__main__":
    main()
